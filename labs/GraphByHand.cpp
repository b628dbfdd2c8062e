// Lab 10-01: one product, written down by hand. In ggml's words mul_mat(A, B) of A ne = [2, 4] and
// B ne = [2, 3] is ne = [4, 3]; in ours B [3, 2] times the transpose of A [4, 2] is C [3, 4].
#include "labs/Check.h"
#include "labs/Values.h"
#include "runtime/engine/Program.h"

namespace vetro::labs {

/// The lesson's numbers: those of ggml's example simple-ctx.
static std::vector<NamedTensor> matrices() {
  return {{"A", {4, 2}, {2, 8, 5, 1, 4, 2, 8, 6}}, {"B", {3, 2}, {10, 5, 9, 9, 5, 4}}};
}

static llvm::Error prepare(const Folder &folder, const ModelOptions &) {
  return writeTensors(folder.pathOf("matrices.safetensors"), matrices());
}

/// `x` times the transpose of `w` as a function of our IR; both are [rows, 2].
static std::string productText(const NamedTensor &x, const NamedTensor &w) {
  auto type = [](int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  };
  std::string xType = type(x.shape[0], x.shape[1]), wType = type(w.shape[0], w.shape[1]),
              yType = type(x.shape[0], w.shape[0]);
  return "vetro.weight @" + w.name + " : " + wType + "\nfunc.func @product(%x: " + xType +
         " {vetro.input = \"" + x.name + "\"}) -> " + yType + " {\n  %w = vetro.get_weight @" +
         w.name + " : " + wType + "\n  %y = vetro.matmul %x, %w : (" + xType + ", " + wType +
         ") -> " + yType + " loc(\"C\")\n  return %y : " + yType + "\n}\n";
}

/// The interpreter's product.
static llvm::Expected<ref::Tensor> product(const NamedTensor &x, const NamedTensor &w) {
  auto program = Program::parse(productText(x, w), "product");
  if (!program)
    return program.takeError();
  if (llvm::Error error = (*program)->bind(*fileOf({x, w})))
    return std::move(error);
  auto results = (*program)->interpret();
  if (!results)
    return results.takeError();
  return std::move(results->front().value);
}

static Truth shapeTruth(llvm::ArrayRef<int64_t> shape) {
  return {.numbers = {shape.begin(), shape.end()}};
}

/// ggml lists dimensions the other way round.
static Truth neTruth(llvm::ArrayRef<int64_t> shape) {
  return {.numbers = {shape.rbegin(), shape.rend()}};
}

/// The first stage of a program that needs numbers: parsing takes none, and binding fails without.
static llvm::Expected<Truth> firstReader() {
  auto given = matrices();
  auto program = Program::parse(productText(given[1], given[0]), "product");
  if (!program)
    return program.takeError();
  if (llvm::Error error = (*program)->bind(*fileOf({}))) {
    llvm::consumeError(std::move(error));
    return Truth{.words = {{"bind"}}};
  }
  return Truth{.words = {{"run"}}};
}

static llvm::Expected<Truths> truths(const Folder &folder, const ModelOptions &) {
  auto given = matrices();
  auto c = product(given[1], given[0]), swapped = product(given[0], given[1]);
  if (!c || !swapped)
    return llvm::joinErrors(c.takeError(), swapped.takeError());
  // The student's program must hold for other numbers too.
  NamedTensor a = smallIntegers("A", {4, 2}, folder.seed()),
              b = smallIntegers("B", {3, 2}, folder.seed() + 1);
  auto other = product(b, a);
  if (!other)
    return other.takeError();
  auto reader = firstReader();
  if (!reader)
    return reader.takeError();
  std::vector<double> numbers(c->data.begin(), c->data.end()),
      row(numbers.begin() + c->dim(-1), numbers.begin() + 2 * c->dim(-1));
  Truths all;
  all["ne_c"] = neTruth(c->shape);
  all["shape_c"] = shapeTruth(c->shape);
  all["row_1"] = {.numbers = row};
  all["ne_swapped"] = neTruth(swapped->shape);
  all["first_reader"] = *reader;
  all["product"] = {.numbers = {other->data.begin(), other->data.end()},
                    .shape = {other->shape.begin(), other->shape.end()},
                    .inputs = {a, b}};
  all["cpp"] = {.numbers = numbers};
  return all;
}

const LabCode graphByHand{"10-01", prepare, truths};

} // namespace vetro::labs
