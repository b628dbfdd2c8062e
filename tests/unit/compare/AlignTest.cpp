// Layouts are brought together by named steps, and by nothing else.
#include "runtime/trace/Align.h"
#include "tests/unit/engine/EngineTest.h"
#include "tests/unit/gguf/TinyGguf.h"

using namespace vetro;
using namespace vetro::test;

/// A file of these tensors and metadata, opened.
static std::unique_ptr<TensorFile>
file(const std::vector<NamedTensor> &tensors,
     const std::vector<std::pair<std::string, std::string>> &metadata = {}) {
  TempDir dir;
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  writeSafetensors(out, tensors, metadata);
  writeFile(dir.file("t"), bytes);
  return must(TensorFile::open(dir.file("t")));
}

static NamedTensor counted(const std::string &name, std::vector<int64_t> shape) {
  NamedTensor t{name, shape, {}};
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  for (int64_t i = 0; i < n; ++i)
    t.data.push_back(float(i));
  return t;
}

TEST_CASE("each transform does what its name says") {
  NamedTensor t = counted("x", {1, 2, 4});
  must(applyTransform("drop_batch", {}, t));
  CHECK(t.shape == std::vector<int64_t>{2, 4});
  must(applyTransform("split_heads", {2, 1, 4}, t));
  CHECK(t.shape == std::vector<int64_t>{2, 1, 4});
  must(applyTransform("halves_to_pairs", {}, t));
  CHECK(t.data == std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7}); // ours[2i+r] = theirs[r*2+i]
  must(applyTransform("last_row", {}, t));
  CHECK(t.data == std::vector<float>{4, 6, 5, 7});
  NamedTensor heads = counted("x", {2, 3, 1});
  must(applyTransform("heads_second", {}, heads));
  CHECK(heads.shape == std::vector<int64_t>{3, 2, 1});
  CHECK(heads.data == std::vector<float>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("a transform that does not fit is refused") {
  NamedTensor t = counted("x", {2, 3});
  for (const char *name : {"drop_batch", "heads_second", "halves_to_pairs", "turn_around"})
    CHECK(!llvm::toString(applyTransform(name, {2, 3}, t)).empty());
  CHECK(has(llvm::toString(applyTransform("split_heads", {2, 1, 2}, t)),
            "does not fit the shape [2,3]"));
}

TEST_CASE("the reference's transforms are those that its metadata names") {
  auto ours = file({counted("q", {2, 1, 4})});
  auto theirs = file({{"q", {1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7}}},
                     {{"transforms:q", "drop_batch,split_heads,halves_to_pairs"}});
  Aligned pair = must(align(*ours, *theirs, "q"));
  CHECK(pair.transforms ==
        std::vector<std::string>{"drop_batch", "split_heads", "halves_to_pairs"});
  CHECK(pair.theirs.data == pair.ours.data);
}

TEST_CASE("the last row of a reference stands beside a dump of the last position") {
  auto ours = file({counted("x", {1, 2})});
  auto theirs = file({counted("x", {3, 2})});
  Aligned pair = must(align(*ours, *theirs, "x"));
  CHECK(pair.transforms == std::vector<std::string>{"last_row"});
  CHECK(pair.theirs.data == std::vector<float>{4, 5});
}

TEST_CASE("what cannot be brought together is told in one line") {
  auto ours = file({counted("x", {2, 2}), counted("y", {1})}, {{"ids", "1,two"}});
  auto theirs = file({counted("x", {4, 1}), {"y", {1}, {NAN}}});
  CHECK(has(llvm::toString(align(*ours, *theirs, "x").takeError()),
            "x: its shape is [4,1], ours is [2,2]"));
  CHECK(has(llvm::toString(align(*ours, *theirs, "y").takeError()),
            "holds NaN, the first at element 0"));
  CHECK(has(llvm::toString(align(*ours, *theirs, "z").takeError()), "has no tensor"));
  CHECK(has(llvm::toString(idsOf(*ours).takeError()), "no list of numbers"));
  CHECK(must(idsOf(*theirs)).empty());
}
