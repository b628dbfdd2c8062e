// Interventions: a change of a value of a run at a name, seen by everything computed after it.
//
//   blk.3.attn_ctx[:,2] *= 0                      head 2 of every token, zero
//   blk.*.l_out[-1] += @steer.safetensors:v       a vector, to the prompt's last token
//   blk.5.l_out[4:8] = @other.safetensors         four tokens as another run had them
//
// In brackets stand slices of the first axes of the value as `vetro dump` lays it out, tokens (or
// cells) first, then heads, as in Python; an axis that is left out is meant whole. Negative places
// count from the end, of tokens from the prompt's end.
#pragma once

#include "runtime/trace/Align.h"

#include <memory>
#include <optional>

namespace vetro {

/// Part of an axis: [begin, end); no end: all that follow.
struct Slice {
  int64_t begin = 0;
  std::optional<int64_t> end;
  bool single = false; ///< one place, `begin`
};

enum class EditOp { Set, Add, Scale };

struct Edit {
  std::string text; ///< as it was written, for messages
  std::string name; ///< of the value; * and ? match
  std::vector<Slice> slices;
  EditOp op = EditOp::Set;
  float value = 0;
  /// Takes the place of `value`: a tensor of this file, under `source`, or the value's own name
  /// where that is empty. It has the value's other axes; of several rows row p goes to the token at
  /// position p, a single one to every selected token.
  std::shared_ptr<const TensorFile> file;
  std::string source;
  std::shared_ptr<const NamedTensor> tensor; ///< or this tensor
};

/// Reads one of the lines above. Error: the line with what was expected, or what openValues()
/// refuses.
llvm::Expected<Edit> parseEdit(llvm::StringRef text);

/// Numbers of a value in memory: shape and strides (in elements) as `vetro dump` lays it out.
struct EditView {
  float *data;
  llvm::SmallVector<int64_t, 3> shape, strides;
  llvm::ArrayRef<int32_t> positions; ///< of each place of the first axis
};

/// An edit of one value, checked against its shape.
class ValueEdit {
public:
  /// `shape` as dumped, negative: not known before the run. `nTokens`: of the prompt. Error: a
  /// slice that takes nothing, more slices than axes, a tensor of the file that does not fit.
  static llvm::Expected<ValueEdit> create(const Edit &edit, llvm::StringRef name,
                                          llvm::ArrayRef<int64_t> shape, int64_t nTokens);
  /// Changes the selected numbers.
  void apply(const EditView &view);
  /// Error: no number was changed by any call so far.
  llvm::Error checkUsed() const;

private:
  void applyAt(const EditView &view, unsigned axis, float *to, const float *from);

  Edit edit;
  std::string name;
  llvm::SmallVector<Slice, 3> slices;         ///< one for each axis, nothing negative
  std::vector<float> operand;                 ///< the file's tensor
  llvm::SmallVector<int64_t, 3> operandShape; ///< as the value's, its rows first; empty: none
  uint64_t changed = 0;
};

} // namespace vetro
