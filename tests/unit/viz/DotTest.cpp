// Drawings: which layers are alike, ids that stay, text from files that may hold anything.
#include "viz/Dot.h"
#include "tests/unit/Catch.h"
#include "viz/GraphJson.h"
#include "viz/Label.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace vetro;

namespace {
/// A module of text; its first function.
struct Parsed {
  explicit Parsed(const std::string &text) {
    context.loadDialect<ir::VetroDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    func = *module->getOps<mlir::func::FuncOp>().begin();
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
};

/// Layers of one op each: a scale by `factors[i]` named blk.i.l_out.
std::string chain(const std::vector<std::string> &factors) {
  std::string text = "func.func @f(%x: tensor<?x4xf32>) {\n", value = "%x";
  for (size_t i = 0; i < factors.size(); ++i) {
    std::string next = "%v" + std::to_string(i);
    text += next + " = vetro.scale " + value + " {s = " + factors[i] +
            " : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32> loc(\"blk." + std::to_string(i) +
            ".l_out\")\n";
    value = next;
  }
  return text + "return\n}\n";
}

std::string dotOf(mlir::func::FuncOp func, const viz::DotOptions &options = {}) {
  auto dot = viz::toDot(func, options);
  REQUIRE(bool(dot));
  return *dot;
}

viz::DotOptions around(std::string name, unsigned hops) {
  viz::DotOptions options;
  options.around = std::move(name);
  options.hops = hops;
  return options;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST_CASE("layers that differ only in their names are of one kind", "[viz]") {
  Parsed graph(chain({"2.0", "2.0", "3.0", "2.0"}));
  auto kinds = viz::layerKinds(viz::Picture(graph.func));
  // The first layer reads an input of the graph, the others what the layer before made.
  REQUIRE(kinds == std::vector<std::vector<int>>{{0}, {1, 3}, {2}});
}

TEST_CASE("a name that several ops carry belongs to the last", "[viz]") {
  Parsed graph(R"(func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) {
    %y = vetro.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("blk.0.q")
    %z = vetro.reshape %y : (tensor<?x8xf32>) -> tensor<?x2x4xf32> loc("blk.0.q")
    %t = vetro.transpose %z {perm = array<i64: 1, 0, 2>}
      : (tensor<?x2x4xf32>) -> tensor<2x?x4xf32> loc(unknown)
    %s = vetro.softmax %t : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32> loc("blk.0.attn_probs")
    return
  })");
  viz::Picture picture(graph.func);
  std::vector<std::string> ids;
  for (const viz::Node &node : picture.nodes())
    ids.push_back(node.id);
  REQUIRE(ids == std::vector<std::string>{"blk.0.q.matmul", "blk.0.q", "blk.0.attn_probs.transpose",
                                          "blk.0.attn_probs"});
  REQUIRE(picture.find("blk.0.q") == 1);
  REQUIRE(picture.find("blk.0.v") == -1);
}

TEST_CASE("text from files cannot leave its label", "[viz]") {
  REQUIRE(viz::html("a<b>&\"c") == "a&lt;b&gt;&amp;&quot;c");
  REQUIRE(viz::html("\n\x7f\xff\xc3") == "\\x0A\\x7F\\xFF\\xC3");
  REQUIRE(viz::html("è ×") == "è ×");
  REQUIRE(viz::html("\xef\xbf\xbd\xef\xbf\xbe") == "\xef\xbf\xbd\\xEF\\xBF\\xBE"); // XML's limit
  REQUIRE(viz::quoted("a\"]\\N&<") == "\"a\\\"]\\\\N&amp;<\"");
  Parsed graph(R"(vetro.weight @"<TR>\22&\FF" : tensor<4xf32>
  func.func @f(%x: tensor<?x4xf32>) {
    %w = vetro.get_weight @"<TR>\22&\FF" : tensor<4xf32> loc(unknown)
    %y = vetro.mul %x, %w : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32> loc("a\22<b")
    return
  })");
  std::string dot = dotOf(graph.func);
  REQUIRE(has(dot, "&lt;TR&gt;&quot;&amp;\\xFF"));
  REQUIRE(has(dot, "\"a\\\"<b\" [id="));
  REQUIRE_FALSE(has(dot, "<TR>\"&"));
  REQUIRE_FALSE(has(dot, "\xff"));
}

TEST_CASE("the same graph gives the same text", "[viz]") {
  Parsed a(chain({"2.0", "3.0"})), b(chain({"2.0", "3.0"}));
  REQUIRE(dotOf(a.func) == dotOf(b.func));
  viz::DotOptions all;
  all.layer = "all";
  REQUIRE(dotOf(a.func, all) == dotOf(b.func, all));
}

TEST_CASE("a neighbourhood holds what its steps reach", "[viz]") {
  Parsed graph(chain({"2.0", "2.0", "2.0", "2.0", "2.0"}));
  std::string dot = dotOf(graph.func, around("blk.2.l_out", 1));
  REQUIRE(has(dot, "\"blk.1.l_out\" [id="));
  REQUIRE(has(dot, "\"blk.3.l_out\" [id="));
  REQUIRE_FALSE(has(dot, "\"blk.0.l_out\" [id="));
  REQUIRE(has(dot, "\"cut:blk.0.l_out\" -> \"blk.1.l_out\""));
  auto missing = viz::toDot(graph.func, around("blk.2.l_uot", 1));
  REQUIRE_FALSE(bool(missing));
  REQUIRE(has(llvm::toString(missing.takeError()), "nearest: 'blk.2.l_out'"));
}

// ---- graphs that were written ----

namespace {
/// A layer with operands by name, weights, several results and text that wants escaping.
const char *layer = R"(func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) {
    %y = vetro.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("blk.0.<q>")
    %z = vetro.reshape %y : (tensor<?x8xf32>) -> tensor<?x2x4xf32> loc("blk.0.\22q\22")
    %a = vetro.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> loc("blk.0.l_out")
    %s = vetro.scale %a {s = 2.0 : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32> loc("blk.1.l_out")
    return
  })";
} // namespace

TEST_CASE("a graph that was written and read again is drawn the same", "[viz]") {
  Parsed graph(layer);
  auto read = viz::pictureOf(viz::toJson(viz::Picture(graph.func)));
  REQUIRE(bool(read));
  viz::DotOptions options;
  for (const char *which : {"0", "1", "all"}) {
    options.layer = which;
    auto again = viz::toDot(*read, "f", options);
    REQUIRE(bool(again));
    REQUIRE(*again == dotOf(graph.func, options));
  }
  options = around("blk.0.l_out", 1);
  REQUIRE(*viz::toDot(*read, "f", options) == dotOf(graph.func, options));
}

TEST_CASE("a graph from before nodes had words is drawn with what it has", "[viz]") {
  Parsed graph(layer);
  auto json = viz::toJson(viz::Picture(graph.func));
  for (auto &node : json["nodes"])
    node.erase("drawn");
  for (auto &edge : json["edges"])
    edge.erase("result");
  auto read = viz::pictureOf(json);
  REQUIRE(bool(read));
  viz::DotOptions options;
  options.layer = "0";
  std::string dot = *viz::toDot(*read, "f", options);
  for (const char *part : {"blk.0.&lt;q&gt;", "matmul", "reshape", "class=\"matmul\"", " -> "})
    REQUIRE(has(dot, part));
  REQUIRE(read->edges().size() == viz::Picture(graph.func).edges().size());
  json["nodes"][0].erase("op");
  REQUIRE(has(llvm::toString(viz::pictureOf(json).takeError()), "node 0"));
}

TEST_CASE("a damaged graph is refused with its place", "[viz]") {
  Parsed graph(layer);
  const auto whole = viz::toJson(viz::Picture(graph.func));
  auto wrong = [&](auto change) {
    auto json = whole;
    change(json);
    auto picture = viz::pictureOf(json);
    return picture ? "" : llvm::toString(picture.takeError());
  };
  REQUIRE(wrong([](auto &) {}) == "");
  REQUIRE(has(wrong([](auto &j) { j = 3; }), "no lists"));
  REQUIRE(has(wrong([](auto &j) { j["nodes"][2]["drawn"] = 3; }), "node 2"));
  REQUIRE(has(wrong([](auto &j) { j["nodes"][1]["id"] = 7; }), "node 1"));
  REQUIRE(
      has(wrong([](auto &j) { j["nodes"][0]["drawn"]["operands"][0]["inside"] = 1; }), "node 0"));
  REQUIRE(has(wrong([](auto &j) { j["nodes"][0]["inside"] = {3}; }), "node 0"));
  for (const char *field : {"from", "to", "operand", "result"})
    for (const nlohmann::ordered_json &bad :
         {nlohmann::ordered_json(99), nlohmann::ordered_json(-1), nlohmann::ordered_json("x")})
      REQUIRE(has(wrong([&](auto &j) { j["edges"][0][field] = bad; }), "edge 0"));
}
