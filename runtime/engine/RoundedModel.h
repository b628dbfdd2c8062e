// A model as PyTorch computes it in BF16 or F16: each op's result and each weight is rounded, in
// between it is F32. Where an architecture's model does otherwise, its file says so
// (frontends/Architecture.h, ModelRounding). Sums keep their order, so the last bit of a rounded
// value may be another than PyTorch's.
#pragma once

#include "compiler/reference/Interpreter.h"
#include "frontends/Architecture.h"

#include "llvm/ADT/DenseSet.h"

namespace vetro {

struct Graph; // Compile.h

/// The types that it knows: "bf16", "f16".
std::vector<llvm::StringRef> roundingTypes();

class RoundedModel : public ref::Rounding {
public:
  /// For a graph of the frontend, whose factors are rounded in place. `weights` must outlive it.
  /// Error: an unknown type.
  static llvm::Expected<std::unique_ptr<RoundedModel>> create(llvm::StringRef type, Graph &graph,
                                                              const Architecture &architecture,
                                                              const ref::WeightSource &weights);

  float round(float x) const override { return number(x); }
  bool rounds(mlir::Operation *op) const override;
  /// The weights, rounded.
  const ref::WeightSource &weights() const { return source; }

private:
  using Number = float (*)(float);
  struct Source : ref::WeightSource {
    Source(const ref::WeightSource &exact, Number number) : exact(exact), number(number) {}
    void readRow(llvm::StringRef name, int64_t row, float *out) const override;
    const ref::WeightSource &exact;
    Number number;
    llvm::StringMap<int64_t> widths;
    llvm::StringMap<float> offsets; ///< of the weights that have one
  };
  RoundedModel(const ref::WeightSource &exact, Number number)
      : source(exact, number), number(number) {}
  void read(Graph &graph, const ModelRounding &rules);

  Source source;
  Number number;
  std::vector<llvm::StringLiteral> once; ///< names whose inner ops do not round
};

} // namespace vetro
