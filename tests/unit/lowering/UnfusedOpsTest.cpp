// Every op of level 1 alone, as generated code, against the interpreter over several T and C.
#include "tests/unit/Catch.h"
#include "tests/unit/lowering/OpProgram.h"

#include <cmath>
#include <cstring>

using namespace vetro;
using namespace vetro::test;

namespace {

struct Case {
  const char *name;
  std::vector<std::string> arguments;
  std::string body, result, symbols = "";
};

// Scores [4, T, C] of queries [T, 4, 10] and keys [C, 2, 10]: how values over cells arise.
const char *scoresOf = R"(
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x10xf32>) -> tensor<4x?x10xf32>
  %kt = vetro.transpose %cell_k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x10xf32>) -> tensor<2x?x10xf32>
  %s = vetro.bmm %qt, %kt : (tensor<4x?x10xf32>, tensor<2x?x10xf32>) -> tensor<4x?x?xf32>
)";
const std::vector<std::string> scoreInputs = {"%q: tensor<?x4x10xf32>",
                                              "%cell_k: tensor<?x2x10xf32>"};
const char *scoresType = "tensor<4x?x?xf32>";

std::string mask(int window) {
  return "%m = vetro.attn_mask %positions, %sequences, %cell_positions, %cell_sequences "
         "{window = " +
         std::to_string(window) +
         " : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> "
         "tensor<?x?xf32>\n";
}

std::string unary(const std::string &op, const std::string &attributes, const std::string &from,
                  const std::string &to) {
  return "%y = vetro." + op + " %x " + attributes + " : (" + from + ") -> " + to +
         "\nreturn %y : " + to;
}
Case simple(const char *name, const std::string &op, const std::string &attributes,
            const std::string &from, const std::string &to) {
  return {name, {"%x: " + from}, unary(op, attributes, from, to), to};
}
Case ofScores(const char *name, const std::string &op, const std::string &attributes) {
  std::string body = std::string(scoresOf) + "%y = vetro." + op + " %s " + attributes + " : (" +
                     scoresType + ") -> " + scoresType + "\nreturn %y : " + scoresType;
  return {name, scoreInputs, body, scoresType};
}
Case binary(const char *name, const std::string &op, const std::string &a, const std::string &b) {
  return {name,
          {"%a: " + a, "%b: " + b},
          "%y = vetro." + op + " %a, %b : (" + a + ", " + b + ") -> " + a + "\nreturn %y : " + a,
          a};
}
Case concat(const char *name, int axis, const std::string &a, const std::string &b,
            const std::string &to) {
  return {name,
          {"%a: " + a, "%b: " + b},
          "%y = vetro.concat %a, %b {axis = " + std::to_string(axis) + " : i64} : (" + a + ", " +
              b + ") -> " + to + "\nreturn %y : " + to,
          to};
}
Case cache(const char *name, const std::string &kind, const std::string &element) {
  std::string type = "!vetro.state<3, 20, " + element + ">", x = "tensor<?x3x20xf32>";
  return {name,
          {"%x: " + x},
          "%st = vetro.get_state @s : " + type + "\nvetro.kv_store %st, %x, %slots : (" + type +
              ", " + x + ", tensor<?xi32>) -> ()\n%y = vetro.kv_load %st, %cells : (" + type +
              ", tensor<?xi32>) -> " + x + "\nreturn %y : " + x,
          x,
          "vetro.state @s \"" + kind + "\" : " + type};
}

Case products() {
  std::string body = std::string(scoresOf) + R"(
  %vt = vetro.transpose %cell_v {perm = array<i64: 1, 2, 0>} : (tensor<?x2x19xf32>) -> tensor<2x19x?xf32>
  %y = vetro.bmm %s, %vt : (tensor<4x?x?xf32>, tensor<2x19x?xf32>) -> tensor<4x?x19xf32>
  return %y : tensor<4x?x19xf32>)";
  std::vector<std::string> arguments = scoreInputs;
  arguments.push_back("%cell_v: tensor<?x2x19xf32>");
  return {"bmm over cells", arguments, body, "tensor<4x?x19xf32>"};
}

Case masked(const char *name, int window) {
  std::string body = scoresOf + mask(window) +
                     "%y = vetro.softmax %s, %m : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> "
                     "tensor<4x?x?xf32>\nreturn %y : tensor<4x?x?xf32>";
  return {name, scoreInputs, body, scoresType};
}
Case masks(const char *name, int window) {
  return {name, {}, mask(window) + "return %m : tensor<?x?xf32>", "tensor<?x?xf32>"};
}
Case added(const char *name) {
  std::string body = scoresOf + mask(0) +
                     "%y = vetro.add %s, %m : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> "
                     "tensor<4x?x?xf32>\nreturn %y : tensor<4x?x?xf32>";
  return {name, scoreInputs, body, scoresType};
}
/// The numbers of x in the order of sqrt(x), which is NaN where x is negative.
Case ranked(const char *name, const std::string &attributes) {
  std::string x = "tensor<?x24xf32>", idx = "tensor<?x7xi32>", y = "tensor<?x7xf32>";
  return {name,
          {"%x: " + x},
          "%r = vetro.unary %x {kind = \"sqrt\"} : (" + x + ") -> " + x + "\n" +
              "%i = vetro.top_k %r {k = 7 : i64" + attributes + "} : (" + x + ") -> " + idx + "\n" +
              "%y = vetro.take_along %x, %i : (" + x + ", " + idx + ") -> " + y +
              "\nreturn %y : " + y,
          y};
}

/// An op on sqrt(x), which is NaN where x is negative.
Case ofRoots(const char *name, const std::string &op, const std::string &y) {
  std::string x = "tensor<?x4x6xf32>";
  return {name,
          {"%x: " + x},
          "%r = vetro.unary %x {kind = \"sqrt\"} : (" + x + ") -> " + x + "\n%y = vetro." + op +
              " : (" + x + ") -> " + y + "\nreturn %y : " + y,
          y};
}

/// A mask of static shape: -inf where the seeded number is above 0.
Case maskedProduct() {
  std::string a = "tensor<4x3x37xf32>", b = "tensor<2x5x37xf32>", m = "tensor<3x37xf32>",
              y = "tensor<4x3x5xf32>";
  std::string body = "%r = vetro.unary %n {kind = \"relu\"} : (" + m + ") -> " + m + "\n" +
                     "%s = vetro.scale %r {s = 1.0e+38 : f32} : (" + m + ") -> " + m + "\n" +
                     "%m = vetro.scale %s {s = -1.0e+38 : f32} : (" + m + ") -> " + m + "\n" +
                     "%y = vetro.bmm %a, %b, %m : (" + a + ", " + b + ", " + m + ") -> " + y +
                     "\nreturn %y : " + y;
  return {"bmm under a mask", {"%a: " + a, "%b: " + b, "%n: " + m}, body, y};
}

Case rope(const char *name, const std::string &mode, bool factors) {
  std::string x = "tensor<?x3x20xf32>";
  std::vector<std::string> arguments = {"%x: " + x};
  if (factors)
    arguments.push_back("%f: tensor<8xf32>");
  std::string body = "%y = vetro.rope %x, %positions" + std::string(factors ? ", %f" : "") +
                     " {mode = \"" + mode + "\", n_dims = 16 : i64, base = 1.0e4 : f32} : (" + x +
                     ", tensor<?xi32>" + (factors ? ", tensor<8xf32>" : "") + ") -> " + x +
                     "\nreturn %y : " + x;
  return {name, arguments, body, x};
}

std::vector<Case> allCases() {
  std::string x3 = "tensor<?x3x20xf32>";
  return {
      rope("rope by neighbours", "norm", false),
      rope("rope by halves, with factors", "neox", true),
      ofScores("bmm over a model dimension", "scale", "{s = 1.0 : f32}"),
      products(),
      ofScores("scale", "scale", "{s = 0.3 : f32}"),
      ofScores("tanh", "unary", "{kind = \"tanh\"}"),
      ofScores("softmax over cells", "softmax", ""),
      simple("softmax over 37", "softmax", "", "tensor<?x37xf32>", "tensor<?x37xf32>"),
      ranked("top_k among NaN", ""),
      ranked("top_k among NaN, by groups", ", groups = 8 : i64, groups_used = 6 : i64"),
      ofRoots("relu of NaN", "unary %r {kind = \"relu\"}", "tensor<?x4x6xf32>"),
      ofRoots("clamp NaN", "clamp %r {lo = 0.1 : f32, hi = 1.0 : f32}", "tensor<?x4x6xf32>"),
      ofRoots("largest, NaN among them", "reduce %r {kind = \"max\", axis = 1 : i64}",
              "tensor<?x6xf32>"),
      ofRoots("sum, NaN among them", "reduce %r {kind = \"sum\", axis = 2 : i64}",
              "tensor<?x4xf32>"),
      masks("mask", 0),
      masks("mask with a window of 3", 3),
      added("add a mask"),
      masked("softmax under a mask", 0),
      masked("softmax under a window of 3", 3),
      maskedProduct(),
      binary("add", "add", "tensor<?x20xf32>", "tensor<?x20xf32>"),
      binary("add a bias", "add", "tensor<?x20xf32>", "tensor<20xf32>"),
      binary("add a number to each row", "add", "tensor<?x20xf32>", "tensor<?x1xf32>"),
      binary("mul by head", "mul", x3, "tensor<?x1x20xf32>"),
      binary("mul by token and head", "mul", x3, "tensor<?x3x1xf32>"),
      binary("mul by one number", "mul", x3, "tensor<1xf32>"),
      simple("transpose 102", "transpose", "{perm = array<i64: 1, 0, 2>}", x3,
             "tensor<3x?x20xf32>"),
      simple("transpose 120", "transpose", "{perm = array<i64: 1, 2, 0>}", x3,
             "tensor<3x20x?xf32>"),
      simple("transpose 210", "transpose", "{perm = array<i64: 2, 1, 0>}", x3,
             "tensor<20x3x?xf32>"),
      simple("slice the last axis", "slice", "{axis = 1 : i64, begin = 3 : i64, len = 17 : i64}",
             "tensor<?x20xf32>", "tensor<?x17xf32>"),
      simple("slice heads", "slice", "{axis = 1 : i64, begin = 1 : i64, len = 2 : i64}", x3,
             "tensor<?x2x20xf32>"),
      simple("broadcast rows", "broadcast", "", "tensor<1x20xf32>", "tensor<3x20xf32>"),
      simple("broadcast columns", "broadcast", "", "tensor<3x1xf32>", "tensor<2x3x20xf32>"),
      concat("concat columns", 1, "tensor<?x20xf32>", "tensor<?x3xf32>", "tensor<?x23xf32>"),
      concat("concat heads", 1, x3, "tensor<?x2x20xf32>", "tensor<?x5x20xf32>"),
      concat("concat rows", 0, "tensor<3x20xf32>", "tensor<2x20xf32>", "tensor<5x20xf32>"),
      simple("quantize", "quantize", "", "tensor<?x64xf32>", "tensor<?x64xf32, #vetro.q<a8>>"),
      simple("quantize to 15 bits", "quantize", "", "tensor<?x64xf32>",
             "tensor<?x64xf32, #vetro.q<a8x2>>"),
      cache("k cache, f16", "k", "f16"),
      cache("k cache, f32", "k", "f32"),
      cache("v cache, f16", "v", "f16"),
      cache("v cache, f32", "v", "f32"),
  };
}

/// A code of a record may differ by one where the quotient lies on a tie: one in 100 of them makes
/// 1 / (100 * 127^2), far above rounding.
double bound(const Case &c) { return std::string(c.name) == "quantize" ? 1e-6 : 1e-10; }

bool sameBits(const ref::Tensor &a, const ref::Tensor &b) {
  return a.shape == b.shape && !a.data.empty() &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(float)) == 0;
}

void compare(const Case &c, const std::string &level) {
  INFO(c.name << " " << level);
  OpProgram program(c.arguments, c.body, c.result, c.symbols, level);
  OpProgram again(c.arguments, c.body, c.result, c.symbols, level);
  // The first sequence grows to 61 positions, the second stands between its cells' and ours.
  for (const auto &tokens : {tokensOf(1), tokensOf(1), tokensOf(7), tokensOf(17, 1), tokensOf(33),
                             std::vector<ProgramToken>{{1}, {0}, {0}, {1}}}) {
    OpProgram::Result r = program.run(tokens);
    CHECK(nmse(r.ours, r.reference) <= bound(c));
    CHECK(sameBits(r.ours, again.run(tokens, 3).ours)); // units may be split anywhere
  }
}

} // namespace

TEST_CASE("every op alone equals the interpreter") {
  for (const Case &c : allCases())
    compare(c, "");
}

TEST_CASE("every op alone equals the interpreter at the scalar level", "[.full]") {
  for (const Case &c : allCases())
    compare(c, "scalar");
}

/// x of 11 * n^3, n in (-2, 2): from -88 to 88, most of them near 0.
static OpProgram ofCubes(const std::string &op) {
  std::string type = "tensor<?x512xf32>",
              pair = " : (" + type + ", " + type + ") -> " + type + "\n";
  return OpProgram({"%n: " + type},
                   "%a = vetro.mul %n, %n" + pair + "%b = vetro.mul %a, %n" + pair +
                       "%x = vetro.scale %b {s = 11.0 : f32} : (" + type + ") -> " + type + "\n" +
                       op + " : (" + type + ") -> " + type + "\nreturn %y : " + type,
                   type);
}

TEST_CASE("activations keep to the roundings that their bounds count") {
  ref::Tensor x = ofCubes("%y = vetro.scale %x {s = 1.0 : f32}").run(tokensOf(16)).ours;
  for (const char *kind : {"silu", "gelu", "gelu_erf", "gelu_quick", "relu", "sqr", "sigmoid",
                           "tanh", "softplus", "exp", "neg"}) {
    std::string op = std::string("%y = vetro.unary %x {kind = \"") + kind + "\"}";
    OpProgram::Result r = ofCubes(op).run(tokensOf(16));
    bool exact = kind == std::string("relu") || kind == std::string("neg");
    bool ofX = llvm::StringRef(kind).starts_with("gelu");
    double worst = 0;
    for (size_t i = 0; i < x.data.size(); ++i) {
      double d = std::fabs(double(r.ours.data[i]) - r.reference.data[i]);
      double size = std::fabs(ofX ? x.data[i] : r.reference.data[i]);
      worst = std::max(worst, d / (0x1p-24 * size + 0x1p-125));
    }
    INFO(kind << " " << worst << " roundings");
    CHECK(worst <= (exact ? 0 : 14)); // the kernel's 8, the interpreter's 6
    std::printf("%-10s %.1f roundings\n", kind, worst);
  }
}
