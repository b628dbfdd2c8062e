// Verdicts as text and JSON.
#include "runtime/cli/Findings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace vetro::cli {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string decibels(double snr) {
  if (std::isinf(snr))
    return snr > 0 ? "equal" : "-inf";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f", snr);
  return text;
}

Json firstJson(const std::optional<FirstBad> &first) {
  if (!first)
    return nullptr;
  return {{"name", first->name},
          {"kind", first->kind},
          {"op", first->ops.empty() ? Json() : Json(first->ops.back())},
          {"ops", first->ops},
          {"weights", first->weights},
          {"ratio", finite(first->ratio)},
          {"source", first->source},
          {"keys", first->keys},
          {"step", first->step},
          {"passes", first->passes},
          {"kernels", first->kernels}};
}

/// What an error of this kind means.
static llvm::StringRef adviceFor(llvm::StringRef kind) {
  if (kind == "graph")
    return "on the reference's own inputs our op gives another value: look at the frontend, the "
           "metadata, these weights";
  if (kind == "pass")
    return "the frontend's op is right, what the passes made of it is not";
  if (kind == "kernel")
    return "on our own inputs the interpreter gives another value: look at the kernel";
  return "";
}

void printFirst(const std::optional<FirstBad> &first) {
  llvm::raw_ostream &out = llvm::outs();
  if (!first) {
    out << "nothing passes its floor\n";
    return;
  }
  auto line = [&](llvm::StringRef what, const std::string &text) {
    if (!text.empty())
      out << "  " << what << " " << text << "\n";
  };
  auto list = [&](llvm::StringRef what, const std::vector<std::string> &texts) {
    line(what, llvm::join(texts, ", "));
  };
  out << "first: " << nameText(first->name) << " (" << first->kind << " error";
  if (first->ratio > 1)
    out << llvm::format(", %.3g times its floor", first->ratio);
  out << ")\n";
  list("made by", first->ops);
  line("at", first->source);
  list("reading", first->weights);
  list("decided by the metadata keys", first->keys);
  line("in the plan:", first->step);
  list("fused by", first->passes);
  list("with the kernel", first->kernels);
  if (llvm::StringRef advice = adviceFor(first->kind); !advice.empty())
    out << "  " << advice << "\n";
}

} // namespace vetro::cli
