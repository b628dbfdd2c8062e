// The meaning of the ops of groups G1 and G2, on numbers that can be checked by hand.
#include "compiler/reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/Catch.h"

#include <cmath>

using namespace vetro;
using ref::Tensor;

namespace {
/// Weights of 2-row experts: expert e's row n is (10 e + n) in every column.
struct TestWeights : ref::WeightSource {
  void readRow(llvm::StringRef, int64_t row, float *out) const override {
    std::fill_n(out, 2, float(10 * (row / 2) + row % 2));
  }
};
struct NoState : ref::StateStore {
  void store(llvm::StringRef, int32_t, const float *, int64_t) override {}
  void load(llvm::StringRef, int32_t, float *, int64_t) const override {}
};
} // namespace

/// Runs `%y = op` in a function of these arguments; the op is written in the dialect's syntax.
static llvm::Expected<Tensor> run(const std::string &arguments, const std::string &op,
                                  const std::string &result, std::vector<Tensor> inputs) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::VetroDialect, mlir::func::FuncDialect>();
  std::string text = "vetro.weight @w : tensor<3x2x2xf32>\nfunc.func @f(" + arguments + ") -> " +
                     result + " {\n%w = vetro.get_weight @w : tensor<3x2x2xf32>\n%y = " + op +
                     "\nreturn %y : " + result + "\n}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(static_cast<bool>(module));
  TestWeights weights;
  NoState state;
  auto results =
      ref::interpret(module->lookupSymbol<mlir::func::FuncOp>("f"), inputs, weights, state);
  if (!results)
    return results.takeError();
  return results->front();
}

static Tensor tensor(std::vector<int64_t> shape, std::vector<float> data) {
  Tensor t((llvm::ArrayRef<int64_t>(shape)));
  REQUIRE(t.data.size() == data.size());
  t.data = std::move(data);
  return t;
}

static Tensor ids(std::vector<int64_t> shape, std::vector<int32_t> data) {
  Tensor t = Tensor::ofIds(data);
  t.shape = ref::Shape(shape.begin(), shape.end());
  return t;
}

static Tensor must(llvm::Expected<Tensor> t) {
  std::string message = t ? "" : llvm::toString(t.takeError());
  REQUIRE(message == "");
  return *t;
}

TEST_CASE("layer_norm") {
  Tensor y = must(run("%x: tensor<?x2xf32>",
                      "vetro.layer_norm %x {eps = 1.0e-5 : f32} : (tensor<?x2xf32>) -> "
                      "tensor<?x2xf32>",
                      "tensor<?x2xf32>", {tensor({2, 2}, {1, 3, 5, 5})}));
  // Mean 2, variance 1: (1 - 2) / sqrt(1.00001). A constant row has no variance.
  CHECK(y.data[0] == Approx(-0.999995));
  CHECK(y.data[1] == Approx(0.999995));
  CHECK(y.data[2] == 0);
}

TEST_CASE("top_k: descending, ties to the lower place") {
  const char *type = "tensor<?x3xi32>";
  Tensor x = tensor({2, 4}, {1, 7, 7, 3, 2, 2, 2, 2});
  Tensor y =
      must(run("%x: tensor<?x4xf32>",
               "vetro.top_k %x {k = 3 : i64} : (tensor<?x4xf32>) -> tensor<?x3xi32>", type, {x}));
  CHECK(y.ids == std::vector<int32_t>{1, 2, 3, 0, 1, 2});
}

TEST_CASE("top_k: NaN comes after every number") {
  Tensor x = tensor({2, 4}, {NAN, 2, NAN, 5, -INFINITY, NAN, 1, INFINITY});
  Tensor y = must(run("%x: tensor<?x4xf32>",
                      "vetro.top_k %x {k = 4 : i64} : (tensor<?x4xf32>) -> tensor<?x4xi32>",
                      "tensor<?x4xi32>", {x}));
  CHECK(y.ids == std::vector<int32_t>{3, 1, 0, 2, 3, 2, 0, 1});
}

TEST_CASE("top_k: groups") {
  // Groups {9, 0}, {5, 5}, {6, 1}: the sums of two are 9, 10, 7; with one group used 9 is out.
  Tensor x = tensor({1, 6}, {9, 0, 5, 5, 6, 1});
  auto run2 = [&](const char *used) {
    std::string op =
        "vetro.top_k %x {k = 2 : i64, groups = 3 : i64, groups_used = " + std::string(used) +
        " : i64} : (tensor<?x6xf32>) -> tensor<?x2xi32>";
    return must(run("%x: tensor<?x6xf32>", op, "tensor<?x2xi32>", {x})).ids;
  };
  CHECK(run2("1") == std::vector<int32_t>{2, 3});
  CHECK(run2("2") == std::vector<int32_t>{0, 2});
  CHECK(run2("3") == std::vector<int32_t>{0, 4});
}

TEST_CASE("take_along") {
  Tensor y =
      must(run("%x: tensor<?x3xf32>, %i: tensor<?x2xi32>",
               "vetro.take_along %x, %i : (tensor<?x3xf32>, tensor<?x2xi32>) -> "
               "tensor<?x2xf32>",
               "tensor<?x2xf32>", {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), ids({2, 2}, {2, 0, 1, 1})}));
  CHECK(y.data == std::vector<float>{3, 1, 5, 5});
}

TEST_CASE("moe_matmul: one row a token, and one for each chosen expert") {
  const std::string w = "tensor<3x2x2xf32>, tensor<?x2xi32>) -> tensor<?x2x2xf32>";
  Tensor chosen = ids({2, 2}, {2, 0, 1, 2});
  Tensor y = must(run("%x: tensor<?x1x2xf32>, %i: tensor<?x2xi32>",
                      "vetro.moe_matmul %x, %w, %i : (tensor<?x1x2xf32>, " + w, "tensor<?x2x2xf32>",
                      {tensor({2, 1, 2}, {1, 0, 1, 1}), chosen}));
  // Token 0 sums to 1, token 1 to 2; expert e's rows are 10 e and 10 e + 1.
  CHECK(y.data == std::vector<float>{20, 21, 0, 1, 20, 22, 40, 42});
  y = must(run("%x: tensor<?x2x2xf32>, %i: tensor<?x2xi32>",
               "vetro.moe_matmul %x, %w, %i : (tensor<?x2x2xf32>, " + w, "tensor<?x2x2xf32>",
               {tensor({2, 2, 2}, {1, 0, 1, 1, 0, 0, 3, 0}), chosen}));
  CHECK(y.data == std::vector<float>{20, 21, 0, 2, 0, 0, 60, 63});
  auto bad = run("%x: tensor<?x1x2xf32>, %i: tensor<?x2xi32>",
                 "vetro.moe_matmul %x, %w, %i : (tensor<?x1x2xf32>, " + w, "tensor<?x2x2xf32>",
                 {tensor({1, 1, 2}, {1, 0}), ids({1, 2}, {0, 3})});
  REQUIRE_FALSE(static_cast<bool>(bad));
  CHECK(llvm::toString(bad.takeError()) == "expert 3 asked of 3");
}

TEST_CASE("reduce") {
  Tensor x = tensor({1, 2, 3}, {1, 2, 3, 10, 20, 60});
  auto reduce = [&](const std::string &kind, const std::string &axis, const std::string &type) {
    std::string op = "vetro.reduce %x {kind = \"" + kind + "\", axis = " + axis +
                     " : i64} : (tensor<?x2x3xf32>) -> " + type;
    return must(run("%x: tensor<?x2x3xf32>", op, type, {x})).data;
  };
  CHECK(reduce("sum", "1", "tensor<?x3xf32>") == std::vector<float>{11, 22, 63});
  CHECK(reduce("max", "1", "tensor<?x1x3xf32>") == std::vector<float>{10, 20, 60});
  CHECK(reduce("mean", "2", "tensor<?x2xf32>") == std::vector<float>{2, 30});
}

TEST_CASE("div and clamp") {
  Tensor y = must(run("%a: tensor<?x2xf32>, %b: tensor<?x1xf32>",
                      "vetro.div %a, %b : (tensor<?x2xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>",
                      "tensor<?x2xf32>", {tensor({2, 2}, {1, 2, 6, 9}), tensor({2, 1}, {2, 3})}));
  CHECK(y.data == std::vector<float>{0.5, 1, 2, 3});
  y = must(run("%x: tensor<?x3xf32>",
               "vetro.clamp %x {lo = -1.0 : f32, hi = 2.0 : f32} : (tensor<?x3xf32>) -> "
               "tensor<?x3xf32>",
               "tensor<?x3xf32>", {tensor({1, 3}, {-5, 1, 7})}));
  CHECK(y.data == std::vector<float>{-1, 1, 2});
}
