// The logit lens and the sampler's funnel.
#include "runtime/page/Views.h"
#include "runtime/screens/Fate.h"
#include "runtime/screens/Lens.h"

namespace vetro::page {

using screens::fact;
using screens::number;

Answer lensView(Viewer &viewer, const Request &request) {
  auto token = request.number("token", viewer.document()["tokens"].size());
  if (!token)
    return token.takeError();
  if (!viewer.recording().model())
    return llvm::createStringError(
        "the logit lens runs the model: open the trace with --model MODEL");
  auto lens = screens::lensOf(viewer.recording(), *token);
  if (!lens)
    return lens.takeError();
  Json layers = Json::array();
  for (const screens::LensLayer &layer : *lens) {
    screens::Cell piece = screens::text(layer.piece);
    piece.data = {{layer.name, "lens.top1", layer.top1}};
    Json json = {{"name", layer.name},
                 {"piece", toJson(piece)},
                 {"p", toJson(number(layer.name, "lens.p", layer.p))}};
    if (layer.drawnRank > 0) {
      json["rank"] = toJson(number(layer.name, "lens.rank", double(layer.drawnRank)));
      json["drawnP"] = toJson(number(layer.name, "lens.drawn.p", layer.drawnP));
    }
    layers.push_back(std::move(json));
  }
  return Json{{"token", *token}, {"layers", layers}};
}

/// A stage: its counts, and its likeliest candidates.
static Json stageJson(const Json &d, const std::string &at) {
  const Json &stage = d[Json::json_pointer(at)];
  Json top = Json::array();
  for (size_t i = 0; i < stage["top"].size(); ++i) {
    std::string here = at + "/top/" + std::to_string(i);
    top.push_back({{"piece", toJson(fact(d, here + "/piece"))},
                   {"id", toJson(fact(d, here + "/id"))},
                   {"logit", toJson(fact(d, here + "/logit"))},
                   {"p", toJson(fact(d, here + "/p"))}});
  }
  return {{"name", toJson(fact(d, at + "/name"))},
          {"active", stage["active"]},
          {"in", toJson(fact(d, at + "/in"))},
          {"out", toJson(fact(d, at + "/out"))},
          {"removed", toJson(screens::shareFact(d, at + "/mass_removed"))},
          {"entropy", toJson(fact(d, at + "/entropy_bits"))},
          {"top", top}};
}

/// The token asked for, after which something was drawn.
static llvm::Expected<size_t> drawnAfter(Viewer &viewer, const Request &request) {
  const Json &tokens = viewer.document()["tokens"];
  auto token = request.number("token", tokens.size());
  if (token && !tokens[*token].contains("sampled"))
    return llvm::createStringError("nothing was drawn after token %zu: of the prompt only the last "
                                   "token's logits are asked for",
                                   *token);
  return token;
}

Answer whyView(Viewer &viewer, const Request &request) {
  auto token = drawnAfter(viewer, request);
  if (!token)
    return token.takeError();
  auto why = screens::whyNot(viewer.recording(), *token, request.text("piece"));
  if (!why)
    return why.takeError();
  return Json{{"why", why->words}};
}

Answer funnelView(Viewer &viewer, const Request &request) {
  const Json &d = viewer.document();
  auto token = drawnAfter(viewer, request);
  if (!token)
    return token.takeError();
  std::string at = screens::pointer("tokens", *token, "sampled");
  const Json &sampled = d[Json::json_pointer(at)];
  auto fate = screens::Fates::of(viewer.recording(), *token);
  if (!fate)
    return fate.takeError();
  Json stages = Json::array(), fates = Json::array();
  for (size_t i = 0; i < sampled["stages"].size(); ++i)
    stages.push_back(stageJson(d, at + "/stages/" + std::to_string(i)));
  for (const Json &candidate :
       sampled["stages"].empty() ? Json::array() : sampled["stages"][0]["top"])
    fates.push_back({{"id", candidate["id"]},
                     {"piece", candidate["piece"]},
                     {"why", (*fate)[candidate["id"]].words()}});
  return Json{{"chain", toJson(fact(d, "/sampler/chain"))},
              {"drawn", toJson(fact(d, at + "/id"))},
              {"draw", toJson(fact(d, at + "/draw"))},
              {"rng", toJson(fact(d, at + "/rng"))},
              {"stages", stages},
              {"fates", fates}};
}

} // namespace vetro::page
