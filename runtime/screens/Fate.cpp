// From the sampler's record, whole or as a trace keeps it, to one candidate.
#include "runtime/screens/Fate.h"
#include "runtime/sampling/Dist.h"
#include "runtime/screens/Cells.h"

#include "llvm/ADT/STLExtras.h"

namespace vetro::screens {

llvm::Expected<Fates> Fates::of(Recording &recording, size_t token) {
  Fates fates;
  const Json &sampled = recording.document()["tokens"][token]["sampled"];
  fates.drawn = sampled["id"];
  fates.model = recording.model();
  if (fates.model) {
    auto stages = recording.sampleAgain(token);
    if (!stages)
      return stages.takeError();
    for (SampleRecord::Stage &s : *stages)
      fates.stages.push_back({s.name, s.active, s.out, std::move(s.top)});
    return fates;
  }
  for (const Json &s : sampled["stages"]) {
    Stage stage{s["name"], s["active"], s["out"], {}};
    for (const Json &c : s["top"]) {
      stage.listed.push_back({c["id"], c["logit"], c["p"]});
      if (llvm::none_of(fates.pieces, [&](const auto &known) { return known.first == c["id"]; }))
        fates.pieces.emplace_back(c["id"].get<int32_t>(), c["piece"].get<std::string>());
    }
    fates.stages.push_back(std::move(stage));
  }
  return fates;
}

std::string Fates::pieceOf(int32_t id) const {
  if (model)
    return model->tokenizer().token(id).str();
  auto found = llvm::find_if(pieces, [&](const auto &known) { return known.first == id; });
  return found == pieces.end() ? std::to_string(id) : found->second;
}

std::vector<int32_t> Fates::idsOf(llvm::StringRef piece) const {
  std::vector<int32_t> exact, near;
  auto look = [&](int32_t id, llvm::StringRef spelled) {
    if (spelled == piece)
      exact.push_back(id);
    else if (spelled.ltrim("\xc4\xa0\xe2\x96\x81") == piece.trim())
      near.push_back(id);
  };
  if (model && !stages.empty())
    for (const Candidate &c : stages.front().listed)
      look(c.id, model->tokenizer().token(c.id));
  for (const auto &[id, spelled] : pieces)
    look(id, spelled);
  return exact.empty() ? near : exact;
}

Fate Fates::operator[](int32_t id) const {
  Fate fate;
  fate.id = id, fate.piece = pieceOf(id);
  uint64_t in = 0;
  for (size_t i = 0; i < stages.size(); in = stages[i].out, ++i) {
    const Stage &stage = stages[i];
    if (!stage.active)
      continue;
    auto found = llvm::find_if(stage.listed, [&](const Candidate &c) { return c.id == id; });
    bool last = i + 1 == stages.size();
    if (found != stage.listed.end()) {
      if (!last) // there it is alone
        fate.p = found->p, fate.rank = uint64_t(found - stage.listed.begin()) + 1;
      continue;
    }
    fate.stage = i, fate.stageName = stage.name, fate.in = i ? in : stage.out, fate.out = stage.out;
    // Where all that it kept are listed, it was dropped.
    fate.end = stage.out != stage.listed.size() ? Fate::Unlisted
               : stage.name == Dist::name       ? Fate::Stayed
                                                : Fate::Dropped;
    return fate;
  }
  fate.end = id == drawn ? Fate::Drawn : Fate::Stayed;
  fate.stage = stages.empty() ? 0 : stages.size() - 1;
  return fate;
}

std::string Fate::words() const {
  std::string name = shown(piece), at = "p " + numberText(p);
  switch (end) {
  case Drawn:
    return name + ": was drawn (" + at + ")";
  case Stayed:
    return name + ": stayed to the end, and the draw took another (" + at + ")";
  case Dropped:
    return name + ": dropped by " + stageName + " at " + at + ", number " + std::to_string(rank) +
           " of " + std::to_string(in) + "; it kept " + std::to_string(out);
  case Unlisted:
    return name + ": is behind the candidates that the trace lists after " + stageName +
           "; open it with --model";
  }
  llvm_unreachable("four ends");
}

llvm::Expected<Why> whyNot(Recording &recording, size_t token, llvm::StringRef piece) {
  if (!recording.document()["tokens"][token].contains("sampled"))
    return Why{"nothing was drawn after this token"};
  if (piece.trim().empty())
    return Why{"name a piece, such as dog"};
  auto fates = Fates::of(recording, token);
  if (!fates)
    return fates.takeError();
  std::vector<int32_t> ids = fates->idsOf(piece);
  if (ids.empty())
    return Why{recording.model() ? "no piece of the vocabulary is written " + shown(piece)
                                 : shown(piece) + " is not among the candidates that the trace "
                                                  "lists; open it with --model"};
  Fate fate = (*fates)[ids.front()];
  return Why{fate.words(), fate.stage};
}

} // namespace vetro::screens
