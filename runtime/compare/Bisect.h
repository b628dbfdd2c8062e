// From "the logits differ" to the op and what to switch off: coarse first, then fine.
//
// 1. The fused graph, by the interpreter, begins anew at each of the reference's layer outputs; in
//    the first layer that is off it does so at every value. Nothing off there: at every value of
//    the model, since a layer's floor is wider than that of its ops.
// 2. The frontend's graph at the same value: off as well, it is wrong ("graph"), else a pass is.
// 3. Every step of the compiled plan is proved against the interpreter ("kernel").
// 4. What is first of these is blamed: passes at its site and instruction set levels are switched
//    off one by one until it is right.
// 5. What computes it is cut out (Repro.h), if asked for.
// 6. The reference's value takes the place of ours in a run of the plan: the logits must recover.
#pragma once

#include "runtime/compare/Repro.h"

namespace vetro {

struct BisectOptions {
  ModelOptions model;
  SessionOptions session;
  std::vector<int32_t> ids; ///< empty: as the reference's metadata tells
  bool repro = false;       ///< cut the first bad value's ops out
  /// Sees every session of the model before it runs; may be empty.
  std::function<void(Session &)> onSession = {};
  /// Stage and fraction of the search; may be empty.
  std::function<void(llvm::StringRef stage, double fraction)> progress = {};
};

/// Something switched off, and what became of the first bad value.
struct Trial {
  std::string off; ///< "fuse-glu@blk.3.ffn_act", "level vnni (it ran at avx2)"
  double ratio;    ///< to the floor, now
  bool gone() const { return !(ratio > 1); }
};

/// Logits against the reference's, signal to noise in dB.
struct Recovery {
  double before, after;                 ///< after: with the reference's value in place
  std::vector<std::string> switchedOff; ///< to reach the value inside a fused step
};

struct BisectReport {
  std::optional<FirstBad> first; ///< kind: graph, pass, kernel
  /// What must be looked at: "the frontend", a trial's `off`, or a kernel at every level.
  std::string blame;
  std::vector<Trial> trials;
  std::optional<Recovery> recovery; ///< where the reference has logits
  std::optional<Repro> repro;       ///< where asked for
  std::vector<std::string> missing; ///< names of the graph that the reference lacks
};

/// Error: a reference that does not fit or was run by kernels, what the model refuses.
llvm::Expected<BisectReport> bisect(std::shared_ptr<const TensorFile> reference,
                                    const BisectOptions &options);

} // namespace vetro
