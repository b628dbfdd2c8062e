// File types: which format each tensor gets.
#include "frontends/gguf/FileType.h"
#include "tests/unit/Catch.h"

using namespace vetro;
using namespace vetro::gguf;

static Format format(llvm::StringRef type, llvm::StringRef tensor, llvm::ArrayRef<int64_t> shape,
                     int64_t nLayers = 32, bool isHead = false) {
  auto found = fileTypeByName(type);
  REQUIRE(bool(found));
  return formatOf(**found, {tensor, shape, nLayers, isHead});
}

TEST_CASE("a plain type is every matrix's format") {
  for (llvm::StringRef name : {"attn_v.weight", "ffn_down.weight", "attn_q.weight"})
    CHECK(format("Q4_K", ("blk.0." + name).str(), {256, 512}) == Format::Q4_K);
  CHECK(format("Q4_K", "output.weight", {256, 512}) == Format::Q4_K);
  CHECK(format("q4_k", "blk.0.ffn_down_exps.weight", {8, 256, 512}) == Format::Q4_K);
}

TEST_CASE("vectors and routers stay F32") {
  CHECK(format("Q4_K_M", "blk.0.attn_norm.weight", {256}) == Format::F32);
  CHECK(format("F16", "output_norm.weight", {256}) == Format::F32);
  CHECK(format("Q8_0", "blk.1.ffn_gate_inp.weight", {8, 256}) == Format::F32);
}

TEST_CASE("rows that are no whole blocks get a format of smaller blocks") {
  const std::pair<const char *, Format> byThirtyTwo[] = {
      {"Q4_K", Format::Q5_0}, {"Q5_K", Format::Q5_1}, {"Q6_K", Format::Q8_0},
      {"Q3_K", Format::Q4_0}, {"Q2_K", Format::Q4_0}, {"Q8_0", Format::Q8_0}};
  for (auto [type, expected] : byThirtyTwo) {
    CHECK(format(type, "blk.0.attn_q.weight", {64, 576}) == expected);
    CHECK(format(type, "blk.0.attn_q.weight", {64, 100}) == Format::F16);
  }
  CHECK(format("F32", "blk.0.attn_q.weight", {64, 100}) == Format::F32);
}

TEST_CASE("mixes spend bits on values, down projections and the head") {
  for (int64_t layer : {0, 3, 6, 28, 31}) // first and last eighth, every third between
    CHECK(format("Q4_K_M", ("blk." + llvm::Twine(layer) + ".attn_v.weight").str(), {256, 256}) ==
          Format::Q6_K);
  for (int64_t layer : {4, 5, 7, 26})
    CHECK(format("Q4_K_M", ("blk." + llvm::Twine(layer) + ".ffn_down.weight").str(), {256, 256}) ==
          Format::Q4_K);
  CHECK(format("Q4_K_M", "blk.0.attn_q.weight", {256, 256}) == Format::Q4_K);
  CHECK(format("Q4_K_M", "output.weight", {512, 256}) == Format::Q6_K);
  CHECK(format("Q4_K_M", "token_embd.weight", {512, 256}) == Format::Q4_K);
  CHECK(format("Q4_K_M", "token_embd.weight", {512, 256}, 32, /*isHead=*/true) == Format::Q6_K);
  CHECK(format("Q4_K_M", "output.weight", {512, 576}) == Format::Q8_0);
  CHECK(format("Q4_K_S", "blk.3.attn_v.weight", {256, 256}) == Format::Q5_K);
  CHECK(format("Q4_K_S", "blk.4.attn_v.weight", {256, 256}) == Format::Q4_K);
  CHECK(format("Q3_K_M", "blk.9.attn_output.weight", {256, 256}) == Format::Q4_K);
  CHECK(format("Q3_K_L", "blk.9.ffn_down.weight", {256, 256}) == Format::Q5_K);
}

TEST_CASE("an unknown type is refused with the known ones") {
  auto found = fileTypeByName("Q9_\x1b");
  REQUIRE(!found);
  std::string message = llvm::toString(found.takeError());
  CHECK(message.find("\"Q9_\\x1b\"") != std::string::npos);
  CHECK(message.find("Q4_K_M") != std::string::npos);
}
