// Verdicts as text and JSON.
#include "runtime/cli/Findings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace vetro::cli {

/// printf's form of one number.
static std::string formatted(const char *form, double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(form, value);
  return text;
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string decibels(double snr) {
  if (std::isinf(snr))
    return snr > 0 ? "equal" : "-inf";
  return formatted("%.1f", snr);
}

std::string significant(double value) { return formatted("%.3g", value); }

std::string logitsText(const LogitDifference &logits) {
  return "logits: mean KL " + significant(logits.meanKl) + " nats, first choice equal in " +
         formatted("%.1f", 100 * logits.top1) + " % of rows, ten best overlap " +
         formatted("%.1f", 100 * logits.top10) + " %";
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

llvm::StringRef adviceFor(llvm::StringRef kind) {
  if (kind == "graph")
    return "on the reference's own inputs our op gives another value: look at the frontend, the "
           "metadata, these weights";
  if (kind == "pass")
    return "the frontend's op is right, what the passes made of it is not";
  if (kind == "kernel")
    return "on our own inputs the interpreter gives another value: look at the kernel";
  return "";
}

std::string verdictOf(const FirstBad &first) {
  std::string text = first.kind + " error";
  if (first.ratio > 1)
    text += ", " + significant(first.ratio) + " times its floor";
  return text;
}

std::vector<std::pair<llvm::StringRef, std::string>> detailsOf(const FirstBad &first) {
  std::vector<std::pair<llvm::StringRef, std::string>> all = {
      {"made by", llvm::join(first.ops, ", ")},
      {"at", first.source},
      {"reading", llvm::join(first.weights, ", ")},
      {"decided by the metadata keys", llvm::join(first.keys, ", ")},
      {"in the plan:", first.step},
      {"fused by", llvm::join(first.passes, ", ")},
      {"with the kernel", llvm::join(first.kernels, ", ")}};
  llvm::erase_if(all, [](const auto &detail) { return detail.second.empty(); });
  return all;
}

void printFirst(const std::optional<FirstBad> &first) {
  llvm::raw_ostream &out = llvm::outs();
  if (!first) {
    out << "nothing passes its floor\n";
    return;
  }
  out << "first: " << nameText(first->name) << " (" << verdictOf(*first) << ")\n";
  for (const auto &[what, text] : detailsOf(*first))
    out << "  " << what << " " << text << "\n";
  if (llvm::StringRef advice = adviceFor(first->kind); !advice.empty())
    out << "  " << advice << "\n";
}

} // namespace vetro::cli
