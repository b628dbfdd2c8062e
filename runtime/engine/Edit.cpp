// The language of edits, and what they do to memory.
#include "runtime/engine/Edit.h"
#include "runtime/engine/Modules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace vetro {

static llvm::Error refused(llvm::StringRef text, const llvm::Twine &why) {
  return llvm::createStringError("edit '" + text + "': " + why);
}

// ---- reading ----

/// "3", "-1", "2:5", ":" or ":-1".
static bool parseSlice(llvm::StringRef text, Slice &slice) {
  auto [first, rest] = text.split(':');
  first = first.trim(), rest = rest.trim();
  if (!text.contains(':')) {
    slice.single = true;
    return !first.getAsInteger(10, slice.begin);
  }
  if (!first.empty() && first.getAsInteger(10, slice.begin))
    return false;
  return rest.empty() || !rest.getAsInteger(10, slice.end.emplace());
}

/// "NAME[SLICE,SLICE]".
static llvm::Error parseTarget(llvm::StringRef target, Edit &edit) {
  auto [name, brackets] = target.split('[');
  edit.name = name.trim().str();
  if (edit.name.empty())
    return refused(edit.text, "expected a value's name first, such as blk.3.attn_ctx[:,2]");
  if (!target.contains('['))
    return llvm::Error::success();
  if (!brackets.consume_back("]"))
    return refused(edit.text, "expected ] before the operator");
  llvm::SmallVector<llvm::StringRef> parts;
  brackets.split(parts, ',');
  for (llvm::StringRef part : parts)
    if (!parseSlice(part.trim(), edit.slices.emplace_back()))
      return refused(edit.text, "'" + part.trim() + "' is no place, expected such as 3, -1 or 2:5");
  return llvm::Error::success();
}

/// A number or "@FILE" or "@FILE:NAME".
static llvm::Error parseOperand(llvm::StringRef operand, Edit &edit) {
  if (!operand.consume_front("@")) {
    double value;
    if (operand.getAsDouble(value))
      return refused(edit.text, "'" + operand + "' is neither a number nor @FILE or @FILE:NAME");
    edit.value = float(value);
    return llvm::Error::success();
  }
  auto [path, source] = operand.rsplit(':');
  edit.source = source.str();
  auto file = openValues(path);
  if (!file)
    return file.takeError();
  edit.file = std::move(*file);
  return llvm::Error::success();
}

llvm::Expected<Edit> parseEdit(llvm::StringRef text) {
  Edit edit;
  edit.text = text.str();
  size_t equals = text.find('=');
  if (equals == llvm::StringRef::npos)
    return refused(text, "expected NAME[PLACES] = NUMBER, += or *=, or @FILE for the number");
  llvm::StringRef target = text.take_front(equals).rtrim();
  if (target.consume_back("+"))
    edit.op = EditOp::Add;
  else if (target.consume_back("*"))
    edit.op = EditOp::Scale;
  if (llvm::Error error = parseTarget(target.trim(), edit))
    return std::move(error);
  if (llvm::Error error = parseOperand(text.drop_front(equals + 1).trim(), edit))
    return std::move(error);
  return edit;
}

// ---- checking ----

/// A slice of an axis of `length` places (negative: as many as there will be) without negative
/// numbers; false: it takes nothing.
static bool resolve(Slice &slice, int64_t length) {
  if (length < 0)
    return slice.begin >= 0 && slice.end.value_or(1) > 0;
  auto fromStart = [&](int64_t at) { return at < 0 ? at + length : at; };
  slice.begin = fromStart(slice.begin);
  if (slice.single)
    slice.end = slice.begin + 1;
  else if (slice.end)
    slice.end = fromStart(*slice.end);
  slice.begin = slice.single ? slice.begin : std::max<int64_t>(slice.begin, 0);
  return slice.begin >= 0 && slice.begin < std::min(length, slice.end.value_or(length));
}

/// A file's tensor as rows of the shape `row` (negative: any length): without an axis for them it
/// is one. Heads may lie side by side. Empty: it does not fit.
static llvm::SmallVector<int64_t, 3> asRows(llvm::ArrayRef<int64_t> row,
                                            llvm::ArrayRef<int64_t> tensor) {
  auto rowOf = [&](llvm::ArrayRef<int64_t> shape) -> llvm::SmallVector<int64_t, 3> {
    if (shape.size() == 1 && row.size() == 2 && shape[0] == row[0] * row[1])
      return {row[0], row[1]};
    bool fits = shape.size() == row.size();
    for (size_t i = 0; fits && i < row.size(); ++i)
      fits = row[i] < 0 || row[i] == shape[i];
    return fits ? llvm::SmallVector<int64_t, 3>(shape) : llvm::SmallVector<int64_t, 3>();
  };
  auto single = rowOf(tensor);
  auto several = tensor.empty() ? single : rowOf(tensor.drop_front());
  auto &shape = single.empty() ? several : single;
  if (!shape.empty())
    shape.insert(shape.begin(), single.empty() ? tensor[0] : 1);
  return shape;
}

/// The tensor that takes the place of a number.
static llvm::Expected<NamedTensor> readOperand(const Edit &edit, llvm::StringRef name,
                                               llvm::ArrayRef<int64_t> shape) {
  if (edit.tensor)
    return *edit.tensor;
  std::vector<std::string> applied;
  return readTransformed(*edit.file, edit.source.empty() ? name : edit.source, shape, applied);
}

llvm::Expected<ValueEdit> ValueEdit::create(const Edit &edit, llvm::StringRef name,
                                            llvm::ArrayRef<int64_t> shape, int64_t nTokens) {
  ValueEdit v;
  v.edit = edit, v.name = name.str();
  v.slices.assign(edit.slices.begin(), edit.slices.end());
  if (v.slices.size() > shape.size())
    return refused(edit.text, name + " has " + llvm::Twine(shape.size()) + " axes, not " +
                                  llvm::Twine(v.slices.size()));
  v.slices.resize(shape.size());
  for (auto [axis, slice] : llvm::enumerate(v.slices)) {
    int64_t length = axis == 0 ? nTokens : shape[axis];
    if (!resolve(slice, length))
      return refused(edit.text, "axis " + llvm::Twine(axis) + " of " + name + " has " +
                                    (length < 0 ? "no negative places"
                                                : llvm::Twine(length) + " places, none of these"));
  }
  if (!edit.file && !edit.tensor)
    return v;
  auto tensor = readOperand(edit, name, shape);
  if (!tensor)
    return tensor.takeError();
  llvm::StringRef from = edit.file ? llvm::StringRef(edit.file->path()) : edit.tensor->name;
  v.operandShape = asRows(shape.drop_front(), tensor->shape);
  if (v.operandShape.empty() || tensor->data.empty())
    return refused(edit.text, from + " holds another shape than " + name);
  int64_t last = std::min(nTokens, v.slices[0].end.value_or(nTokens)) - 1;
  if (v.operandShape[0] > 1 && last >= v.operandShape[0])
    return refused(edit.text, from + " has " + llvm::Twine(v.operandShape[0]) +
                                  " rows, none for token " + llvm::Twine(last));
  v.operand = std::move(tensor->data);
  return v;
}

// ---- changing ----

static void change(EditOp op, float &x, float by) {
  if (op == EditOp::Set)
    x = by;
  else if (op == EditOp::Add)
    x += by;
  else
    x *= by;
}

void ValueEdit::applyAt(const EditView &view, unsigned axis, float *to, const float *from) {
  if (axis == view.shape.size()) {
    change(edit.op, *to, from ? *from : edit.value);
    ++changed;
    return;
  }
  const Slice &slice = slices[axis];
  int64_t width = 1; // of one place of this axis in the operand
  int64_t end = std::min(view.shape[axis], slice.end.value_or(INT64_MAX));
  if (from) {
    end = std::min(end, operandShape[axis]);
    for (int64_t d : llvm::ArrayRef(operandShape).drop_front(axis + 1))
      width *= d;
  }
  for (int64_t i = slice.begin; i < end; ++i)
    applyAt(view, axis + 1, to + i * view.strides[axis], from ? from + i * width : nullptr);
}

void ValueEdit::apply(const EditView &view) {
  int64_t rows = operandShape.empty() ? 0 : operandShape[0];
  int64_t width = rows ? int64_t(operand.size()) / rows : 0;
  for (auto [row, position] : llvm::enumerate(view.positions)) {
    bool selected = position >= slices[0].begin && position < slices[0].end.value_or(INT64_MAX);
    if (!selected || (rows > 1 && position >= rows))
      continue;
    const float *from = rows ? &operand[rows > 1 ? position * width : 0] : nullptr;
    applyAt(view, 1, view.data + int64_t(row) * view.strides[0], from);
  }
}

llvm::Error ValueEdit::checkUsed() const {
  if (changed)
    return llvm::Error::success();
  return refused(edit.text, name + " was not computed for these tokens: of the last layer's end "
                                   "and the logits, only rows that are wanted exist");
}

} // namespace vetro
