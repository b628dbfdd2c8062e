// Models whose rope factors depend on the context that is asked for (longrope).
#include "frontends/gguf/Write.h"
#include "tests/unit/engine/EngineTest.h"

#include <cmath>

using namespace vetro;
using namespace vetro::test;

namespace {
/// The 260K model made longrope: factors 1 up to 64 positions, 4 beyond.
std::string longropeModel() {
  std::string from = storiesModel(), to = buildDir() + "/longrope.gguf";
  if (from.empty())
    return "";
  auto file = must(gguf::File::open(from));
  gguf::Writer writer;
  for (const gguf::KeyValue &kv : file->keys())
    writer.addValue(kv.key, kv.value);
  writer.addString("llama.rope.scaling.type", "longrope");
  writer.add<uint32_t>("llama.rope.scaling.original_context_length", 64);
  for (const gguf::TensorInfo &t : file->tensors()) {
    std::vector<uint64_t> ne(t.ne.begin(), t.ne.begin() + t.nDims);
    writer.addTensor(t.name, t.format, ne, file->data(t));
  }
  static const float longer[4] = {4, 4, 4, 4}, shorter[4] = {1, 1, 1, 1};
  auto bytes = [](const float *x) {
    return llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(x), 16);
  };
  writer.addTensor("rope_factors_long.weight", Format::F32, {4}, bytes(longer));
  writer.addTensor("rope_factors_short.weight", Format::F32, {4}, bytes(shorter));
  REQUIRE(llvm::toString(writer.write(to)) == "");
  return to;
}
} // namespace

TEST_CASE("longrope follows the context that is asked for, in the plan and in the interpreter") {
  std::string path = longropeModel();
  if (path.empty())
    return;
  auto ids = randomIds(20, 512, 3);
  SessionOptions brief{.nCtx = 64}, lengthy{.nCtx = 65};
  auto model = load(path, "f32", 1, 64), longer = load(path, "f32", 1, 65);
  std::vector<float> near = lastLogits(*open(model, brief), ids);
  std::vector<float> far = lastLogits(*open(longer, lengthy), ids);
  CHECK(near == lastLogits(*open(load(storiesModel(), "f32")), ids)); // factors of 1 change nothing
  CHECK(near != far);
  for (auto [ours, options] : {std::pair{&near, brief}, {&far, lengthy}}) {
    std::vector<float> theirs = lastLogits(*reference(path, "f32", options), ids);
    for (size_t i = 0; i < ours->size(); ++i)
      REQUIRE(std::fabs((*ours)[i] - theirs[i]) < 1e-3);
  }
}

TEST_CASE("a session longer than a longrope plan is refused") {
  std::string path = longropeModel();
  if (path.empty())
    return;
  auto session = Session::create(load(path, "f32", 1, 64), {.nCtx = 65});
  REQUIRE(!session);
  CHECK(llvm::toString(session.takeError()) ==
        "the model was loaded for 64 positions, which decide its rope factors, and 65 are asked "
        "for; load it with nCtx = 65");
}
