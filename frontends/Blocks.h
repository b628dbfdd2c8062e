// The building blocks that architectures share: norm, linear, rope, attention, feed-forward, head.
// Each is a few ops of the dialect; an architecture strings them together.
#pragma once

#include "compiler/ir/Vetro.h"
#include "frontends/Metadata.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <source_location>

namespace vetro {

/// Scaling of the rotary embedding, as GGUF names it.
struct RopeSpec {
  llvm::StringRef mode = "norm"; ///< norm: neighbours are paired; neox: halves
  int64_t nDims = 0;
  float base = 10000;
  float freqScale = 1, extFactor = 0, attnFactor = 1, betaFast = 32, betaSlow = 1;
  int64_t nCtxOrig = 0;
  mlir::Value factors; ///< [nDims / 2] or none
};

/// What becomes of a weight that the module lacks. Declared weights are added to the module in the
/// shape asked for: this is how a random model learns what tensors its architecture needs.
enum class MissingWeights {
  Fail,       ///< an error; optional ones are left out
  Declare,    ///< declared; optional ones are left out
  DeclareAll, ///< declared, optional ones too
};

/// What a graph is built for.
struct GraphOptions {
  llvm::StringRef kvType = "f16";  ///< element type of the KV cache: f16, f32
  int64_t nCtx = 4096;             ///< positions a session will hold; decides longrope's factors
  bool allowUnusedTensors = false; ///< report them instead of refusing the file
  MissingWeights missing = MissingWeights::Fail;
};

struct AttentionSpec {
  int64_t nHead, nHeadKV, headDim;
  float scale;
  float softcap = 0;
  int64_t window = 0; ///< 0: all positions before the token
};

/// A mixture of experts, as GGUF names it.
struct ExpertSpec {
  int64_t nExpert = 0; ///< 0: a dense model
  int64_t nUsed = 0;   ///< experts per token
};

/// Where an architecture asks for a block: the values that it makes remember the line.
using Where = std::source_location;

class Blocks {
public:
  Blocks(mlir::ModuleOp module, Metadata &metadata, const GraphOptions &options);

  Metadata &metadata() { return meta; }
  /// Positions that a session will hold.
  int64_t contextLength() const { return nCtx; }

  // Shapes of the module's weights.
  /// Whether the file has this weight.
  bool hasWeight(llvm::StringRef name) const;
  /// The weight, which must have this shape; a mismatch is recorded as an error.
  mlir::Value weight(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  /// The weight, or null where the file lacks it.
  mlir::Value optionalWeight(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  /// Rows and columns of a weight matrix of the file; an error and zeros where it is missing or no
  /// matrix.
  std::pair<int64_t, int64_t> sizeOf(llvm::StringRef name);

  // Inputs of the graph.
  mlir::Value positions() { return arg(1); }

  // Blocks. `name` is the hook of the result.
  /// Rows of token_embd.weight; times `scale` unless it is 1. [T, nEmbd]
  mlir::Value embed(int64_t nVocab, int64_t nEmbd, float scale = 1, Where where = Where::current());
  /// rms_norm(x) * weightName.weight over the last axis.
  mlir::Value rmsNorm(mlir::Value x, const llvm::Twine &weightName, float eps,
                      const llvm::Twine &name, Where where = Where::current());
  /// x @ W.T (+ bias where the file has it); W = `weightName`.weight [n, K].
  mlir::Value linear(mlir::Value x, const llvm::Twine &weightName, int64_t n,
                     const llvm::Twine &name, Where where = Where::current());
  /// linear(), its result split into heads: [T, heads, headDim].
  mlir::Value heads(mlir::Value x, const llvm::Twine &weightName, int64_t heads, int64_t headDim,
                    const llvm::Twine &name, Where where = Where::current());
  mlir::Value rope(mlir::Value x, const RopeSpec &spec, const llvm::Twine &name,
                   Where where = Where::current());
  /// Stores k and v [T, nHeadKV, d] of `layer`, attends with q [T, nHead, d]; [T, nHead * d].
  mlir::Value attention(mlir::Value q, mlir::Value k, mlir::Value v, int layer,
                        const AttentionSpec &spec, Where where = Where::current());
  mlir::Value add(mlir::Value a, mlir::Value b, const llvm::Twine &name,
                  Where where = Where::current());
  /// down(f(gate(x)) * up(x)) with blk.N.ffn_{gate,up,down}. [T, nEmbd]
  mlir::Value gatedFfn(mlir::Value x, int layer, int64_t nFf, llvm::StringRef activation,
                       Where where = Where::current());
  /// A mixture of gated feed-forwards: softmax router blk.N.ffn_gate_inp, the nUsed best experts
  /// with their weights made to sum to 1, blk.N.ffn_{gate,up,down}_exps [E, out, in]. [T, nEmbd]
  mlir::Value expertFfn(mlir::Value x, int layer, const ExpertSpec &spec, int64_t nFf,
                        llvm::StringRef activation, Where where = Where::current());
  /// Selects the wanted rows, norms them, multiplies by output.weight (token_embd.weight where
  /// the file has none), caps by softcap * tanh(x / softcap) unless it is 0, and ends the graph.
  void head(mlir::Value x, int64_t nVocab, float eps, float softcap = 0,
            Where where = Where::current());

  /// "blk.N.suffix".
  static std::string layerName(int layer, const llvm::Twine &suffix);

  /// Records an error, unless one is recorded already.
  void fail(const llvm::Twine &message);
  bool failed() const { return !error.empty() || meta.failed(); }
  llvm::Error takeError();
  std::vector<std::string> unusedTensors() const;

private:
  /// Of nested blocks the outermost one's place counts.
  class At {
  public:
    At(Blocks &blocks, Where where) : blocks(blocks), outermost(!blocks.place) {
      if (outermost)
        blocks.place = where;
    }
    ~At() {
      if (outermost)
        blocks.place.reset();
    }

  private:
    Blocks &blocks;
    bool outermost;
  };
  mlir::Location loc(const llvm::Twine &name);
  ir::WeightOp declare(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  mlir::Value arg(unsigned i) { return func.getArgument(i); }
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> perm, const llvm::Twine &name = "");
  mlir::Value scale(mlir::Value x, float s, const llvm::Twine &name);
  mlir::Value cache(int layer, llvm::StringRef kind, int64_t heads, int64_t headDim);
  mlir::Value softcap(mlir::Value x, float cap, const llvm::Twine &name);
  mlir::Value reduce(mlir::Value x, int64_t axis, bool keep, const llvm::Twine &name);
  /// The places [T, k] of the nUsed best experts, and their weights [T, k, 1].
  std::pair<mlir::Value, mlir::Value> route(mlir::Value x, int layer, const ExpertSpec &spec);
  /// x [T, 1 or k, K] times the chosen experts of blk.N.`weightName`.weight [E, n, K]: [T, k, n].
  mlir::Value experts(mlir::Value x, mlir::Value chosen, int layer, llvm::StringRef weightName,
                      const ExpertSpec &spec, int64_t n, llvm::StringRef name);

  mlir::ModuleOp module;
  Metadata &meta;
  mlir::OpBuilder b;
  mlir::func::FuncOp func;
  mlir::Type kvElement;
  int64_t nCtx;
  MissingWeights missing;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::Value> weights;
  std::string error;
  std::optional<Where> place; ///< of the block that is being made
};

} // namespace vetro
