// The comparison of two files of values, name by name: tokens, embeddings, layers, logits.
#pragma once

#include "runtime/compare/Blame.h"
#include "runtime/compare/Metrics.h"

#include <optional>

namespace vetro {

struct DiffOptions {
  /// The model that made ours; its path empty: the accumulated error only.
  ModelOptions model;
  SessionOptions session;
  std::vector<int32_t> ids; ///< of the prompt; empty: as the files' metadata tell
  /// Names that one side lacks are no failure.
  bool common = false;
  /// Without a model: the least accumulated signal-to-noise of a value that counts as the same.
  double leastSnrDb = 90;
  /// Stage and fraction of long work; may be empty.
  std::function<void(llvm::StringRef stage, double fraction)> progress = {};
};

/// One value. The difference is the accumulated one.
struct DiffRow {
  std::string name, label; ///< label: of ours, where the file has one
  std::vector<int64_t> shape;
  Difference difference;
  std::vector<std::string> transforms; ///< applied to the reference
  std::optional<LogitDifference> logits;
  llvm::StringRef rounded;            ///< roundedType() of the reference's value
  std::optional<Proof> graph, kernel; ///< isolated errors; a ratio above 1 passes the floor
};

struct DiffReport {
  std::vector<DiffRow> rows; ///< in the order of computation
  std::vector<std::string> oursOnly, referenceOnly;
  std::optional<FirstBad> first;
  std::vector<std::string> notes; ///< what was not judged, and why
  bool complete = true; ///< no name of ours is missing from the reference, or that is allowed
};

/// The model that is judged: its graph, run by the interpreter, and its kernels.
struct Subject {
  std::unique_ptr<Reference> interpreter; ///< fresh, its state kept as `kvType`; used up
  std::shared_ptr<const Model> model;
  OpenSession open;

  /// Error: what the file or the system refuses.
  static llvm::Expected<Subject> load(const ModelOptions &model, const SessionOptions &session,
                                      const std::string &kvType = "f32");
};

/// Error: a file that cannot be read, different tokens, shapes that do not fit, no name in common.
llvm::Expected<DiffReport> diff(const TensorFile &ours, const TensorFile &reference,
                                const DiffOptions &options);
/// The same with a model that is loaded already; options.model is not looked at.
llvm::Expected<DiffReport> diff(const TensorFile &ours, const TensorFile &reference,
                                const DiffOptions &options, Subject &subject);

} // namespace vetro
