// Attention left unfused: its bits do not depend on threads, on the split into micro-batches, or on
// other sequences in them.
#include "tests/unit/Catch.h"
#include "tests/unit/lowering/OpProgram.h"

#include <cmath>
#include <cstring>

using namespace vetro;
using namespace vetro::test;

namespace {

constexpr int64_t width = 4 * 20;

OpProgram attention(int window) {
  std::string body = R"(
  %ks = vetro.get_state @k : !vetro.state<2, 20, f16>
  %vs = vetro.get_state @v : !vetro.state<2, 20, f16>
  vetro.kv_store %ks, %k, %slots : (!vetro.state<2, 20, f16>, tensor<?x2x20xf32>, tensor<?xi32>) -> ()
  vetro.kv_store %vs, %v, %slots : (!vetro.state<2, 20, f16>, tensor<?x2x20xf32>, tensor<?xi32>) -> ()
  %kl = vetro.kv_load %ks, %cells : (!vetro.state<2, 20, f16>, tensor<?xi32>) -> tensor<?x2x20xf32>
  %vl = vetro.kv_load %vs, %cells : (!vetro.state<2, 20, f16>, tensor<?xi32>) -> tensor<?x2x20xf32>
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x20xf32>) -> tensor<4x?x20xf32>
  %kt = vetro.transpose %kl {perm = array<i64: 1, 0, 2>} : (tensor<?x2x20xf32>) -> tensor<2x?x20xf32>
  %qk = vetro.bmm %qt, %kt : (tensor<4x?x20xf32>, tensor<2x?x20xf32>) -> tensor<4x?x?xf32>
  %s = vetro.scale %qk {s = 0.22 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %m = vetro.attn_mask %positions, %sequences, %cell_positions, %cell_sequences {window = )" +
                     std::to_string(window) + R"( : i64}
    : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  %p = vetro.softmax %s, %m : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32>
  %vt = vetro.transpose %vl {perm = array<i64: 1, 2, 0>} : (tensor<?x2x20xf32>) -> tensor<2x20x?xf32>
  %c = vetro.bmm %p, %vt, %m : (tensor<4x?x?xf32>, tensor<2x20x?xf32>, tensor<?x?xf32>) -> tensor<4x?x20xf32>
  %t = vetro.transpose %c {perm = array<i64: 1, 0, 2>} : (tensor<4x?x20xf32>) -> tensor<?x4x20xf32>
  %y = vetro.reshape %t : (tensor<?x4x20xf32>) -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>)";
  return OpProgram({"%q: tensor<?x4x20xf32>", "%k: tensor<?x2x20xf32>", "%v: tensor<?x2x20xf32>"},
                   body, "tensor<?x80xf32>",
                   "vetro.state @k \"k\" : !vetro.state<2, 20, f16>\n"
                   "vetro.state @v \"v\" : !vetro.state<2, 20, f16>");
}

/// The rows of one sequence, from runs over these micro-batches.
std::vector<float> rowsOf(OpProgram &program, const std::vector<std::vector<ProgramToken>> &batches,
                          int32_t sequence, unsigned pieces = 1) {
  program.clear();
  std::vector<float> rows;
  for (const std::vector<ProgramToken> &batch : batches) {
    OpProgram::Result r = program.run(batch, pieces);
    CHECK(nmse(r.ours, r.reference) <= 1e-10);
    for (size_t t = 0; t < batch.size(); ++t)
      if (batch[t].sequence == sequence)
        rows.insert(rows.end(), r.ours.row(t), r.ours.row(t) + width);
  }
  return rows;
}

/// The rows of sequence 1, ours and the interpreter's, one after the other.
std::vector<float> bothRows(OpProgram &program,
                            const std::vector<std::vector<ProgramToken>> &runs) {
  program.clear();
  std::vector<float> ours, reference;
  for (const std::vector<ProgramToken> &batch : runs) {
    OpProgram::Result r = program.run(batch);
    for (size_t t = 0; t < batch.size(); ++t)
      if (batch[t].sequence == 1) {
        ours.insert(ours.end(), r.ours.row(t), r.ours.row(t) + width);
        reference.insert(reference.end(), r.reference.row(t), r.reference.row(t) + width);
      }
  }
  ours.insert(ours.end(), reference.begin(), reference.end());
  return ours;
}

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && !a.empty() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

TEST_CASE("unfused attention has the same bits in any micro-batch") {
  for (int window : {0, 5}) {
    INFO("window " << window);
    OpProgram program = attention(window);
    std::vector<float> whole = rowsOf(program, {tokensOf(40, 1)}, 1);
    REQUIRE(whole.size() == 40 * width);
    CHECK(sameBits(whole, rowsOf(program, {tokensOf(40, 1)}, 1, 3)));
    CHECK(sameBits(whole, rowsOf(program, {tokensOf(7, 1), tokensOf(1, 1), tokensOf(32, 1)}, 1)));
    CHECK(sameBits(whole, rowsOf(program, std::vector(40, tokensOf(1, 1)), 1)));
    // Cells of sequence 0 stand before its own, those of sequence 2 after them.
    std::vector<ProgramToken> mixed;
    for (int i = 0; i < 40; ++i)
      mixed.insert(mixed.end(), {{0}, {1}, {2}, {0}});
    CHECK(sameBits(whole, rowsOf(program, {tokensOf(3, 0), mixed}, 1)));
  }
}

TEST_CASE("unfused attention crosses pages of the cache") {
  OpProgram program = attention(0);
  std::vector<float> whole = rowsOf(program, {tokensOf(300)}, 0);
  CHECK(sameBits(whole, rowsOf(program, {tokensOf(250), tokensOf(50)}, 0)));
}

TEST_CASE("NaN and infinity in cells that a token does not see change no bit of it") {
  std::vector<ProgramToken> mixed;
  for (int i = 0; i < 20; ++i)
    mixed.insert(mixed.end(), {{0}, {1}, {2}});
  for (int window : {0, 5})
    for (float value : {NAN, INFINITY, -INFINITY}) {
      INFO("window " << window << ", " << value);
      OpProgram program = attention(window);
      std::vector<float> clean = bothRows(program, {tokensOf(9, 1), mixed});
      REQUIRE(llvm::all_of(clean, [](float v) { return std::isfinite(v); }));
      for (int32_t other : {0, 2}) { // its cells stand before ours, or after them
        program.poison = {other, 0, value};
        CHECK(sameBits(clean, bothRows(program, {tokensOf(9, 1), mixed})));
      }
      // Of its own sequence only the last token, at position 28, sees what is stored there.
      program.poison = {1, 28, value};
      std::vector<float> late = bothRows(program, {tokensOf(9, 1), mixed});
      for (size_t i = 0; i < clean.size(); ++i)
        if (i / width % 29 < 28)
          REQUIRE(late[i] == clean[i]);
      CHECK(std::isnan(late[28 * width]));
      CHECK(std::isnan(late[57 * width]));
    }
}
