// Takes one picture of the candidates after each stage.
#include "runtime/sampling/Record.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace vetro {

SampleRecord::SampleRecord(size_t nVocab, size_t nTop)
    : nTop(std::min(nTop, nVocab)), cut(nVocab, survived), seen(nVocab), weights(nVocab) {
  for (Stage &stage : buffer)
    stage.top.reserve(this->nTop);
}

/// Fills top, entropy, cut mass and `cut` from the candidates after the stage.
void SampleRecord::picture(Stage &stage, llvm::ArrayRef<Candidate> list) {
  const uint8_t index = uint8_t(&stage - buffer.data());
  stage.top.resize(std::min(nTop, list.size()));
  std::partial_sort_copy(list.begin(), list.end(), stage.top.begin(), stage.top.end(), before);
  // With weights w = exp(x) the entropy is ln(sum w) - (sum w x) / (sum w): one exp a candidate.
  double best = stage.top[0].logit, sum = 0, moment = 0, kept = 0;
  for (const Candidate &c : list) {
    double x = double(c.logit) - best, w = std::exp(x);
    sum += w;
    moment += w > 0 ? w * x : 0;
    kept += std::exchange(weights[c.id], w);
    seen[c.id] = index;
  }
  stage.entropyBits = std::max(0.0, (std::log(sum) - moment / sum) / M_LN2);
  for (Candidate &c : stage.top)
    c.p = float(weights[c.id] / sum);
  for (size_t id = 0; id < cut.size(); ++id)
    if (cut[id] == survived && seen[id] != index)
      cut[id] = index;
  stage.massRemoved = list.size() < stage.in ? std::max(0.0, 1 - kept / total) : 0;
  total = sum;
}

void SampleRecord::begin(const Candidates &raw) {
  nStages = 0;
  drawn = 0;
  std::fill(cut.begin(), cut.end(), survived);
  add("logits", true, raw);
}

void SampleRecord::add(const char *name, bool active, const Candidates &c) {
  assert(nStages < buffer.size());
  Stage &stage = buffer[nStages];
  const Stage *last = nStages ? &buffer[nStages - 1] : nullptr;
  stage.name = name;
  stage.active = active;
  stage.in = last ? last->out : uint32_t(c.size());
  stage.out = uint32_t(c.size());
  if (active) {
    picture(stage, c.list());
  } else {
    stage.massRemoved = 0;
    stage.entropyBits = last->entropyBits;
    stage.top.clear(); // who is left is as it was
  }
  ++nStages;
}

void SampleRecord::finish(const char *name, const Candidate &picked, double draw) {
  assert(nStages > 0 && nStages < buffer.size());
  Stage &stage = buffer[nStages];
  stage.name = name;
  stage.active = true;
  stage.in = buffer[nStages - 1].out;
  stage.out = 1;
  picture(stage, picked);
  drawn = draw;
  ++nStages;
}

} // namespace vetro
