// Edits change what they name and nothing else, the same in the plan and in the interpreter.
#include "compiler/ir/Names.h"
#include "runtime/engine/Dump.h"
#include "tests/unit/engine/EngineTest.h"
#include "tests/unit/gguf/TinyGguf.h"
#include "tests/unit/tiny/TinyFile.h"

#include <cmath>

using namespace vetro;
using namespace vetro::test;

namespace {

const TinyFile &llama() {
  static TinyFile file({.arch = "llama", .type = "F32", .layers = 2});
  return file;
}
const TinyFile &quantised() {
  static TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 2});
  return file;
}
const TinyFile &gemma() {
  static TinyFile file({.arch = "gemma3", .type = "F32", .layers = 2});
  return file;
}

const std::vector<int32_t> prompt = randomIds(12, 400, 5), other = randomIds(12, 400, 6);

std::vector<Edit> edits(std::initializer_list<std::string> texts) {
  std::vector<Edit> list;
  for (const std::string &text : texts)
    list.push_back(must(parseEdit(text)));
  return list;
}

ModelOptions optionsOf(const std::string &path, const std::string &kv = "f32") {
  ModelOptions o;
  o.path = path, o.kvType = kv, o.pin = false, o.cacheDir = buildDir() + "/plans";
  return o;
}

struct EditedRun {
  std::vector<float> logits;
  std::vector<std::string> switchedOff;
};

/// The last logits of a prompt under edits, in micro-batches of `ubatch`.
EditedRun run(const std::string &path, llvm::ArrayRef<Edit> list, uint32_t ubatch = 512,
              const std::string &kv = "f32") {
  auto model = must(modelFor(must(Model::load(optionsOf(path, kv))), list));
  auto editor = must(Editor::create(*model, list, prompt.size()));
  auto session = must(Session::create(model, {.nUbatch = ubatch}));
  session->observe(editor.get());
  EditedRun result{lastLogits(*session, prompt), model->options().disable};
  must(editor->checkUsed());
  return result;
}

std::vector<float> runReference(const std::string &path, llvm::ArrayRef<Edit> list) {
  auto r = reference(path);
  auto checkUsed = must(editReference(*r, list, prompt.size()));
  auto logits = lastLogits(*r, prompt);
  must(checkUsed());
  return logits;
}

/// The frontend's names of a model whose values are f32.
std::vector<std::string> namesOf(const std::string &path) {
  auto r = reference(path);
  auto dump = must(dumpReference(*r, optionsOf(path), prompt, must(HookGlobs::create({"*"}))));
  std::vector<std::string> names;
  for (const HookValue &value : dump.values)
    names.push_back(value.tensor.name);
  return names;
}

float distance(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b) {
  REQUIRE(a.size() == b.size());
  float most = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    most = std::max(most, std::fabs(x - y));
  return most;
}

NamedTensor dumped(const std::string &path, const std::string &name, llvm::ArrayRef<Edit> list) {
  auto model = must(Model::load(optionsOf(path)));
  auto dump = must(dumpRun(model, {.nUbatch = 5}, prompt, must(HookGlobs::create({name})), list));
  REQUIRE(dump.values.size() == 1);
  return dump.values[0].tensor;
}

std::string message(llvm::Error error) { return llvm::toString(std::move(error)); }

} // namespace

TEST_CASE("what is no edit is refused with what was expected") {
  auto refused = [](const std::string &text) {
    auto edit = parseEdit(text);
    REQUIRE_FALSE(static_cast<bool>(edit));
    return message(edit.takeError());
  };
  REQUIRE(refused("blk.0.q") == "edit 'blk.0.q': expected NAME[PLACES] = NUMBER, += or *=, or "
                                "@FILE for the number");
  REQUIRE(refused(" = 3") ==
          "edit ' = 3': expected a value's name first, such as blk.3.attn_ctx[:,2]");
  REQUIRE(refused("q[1 = 3") == "edit 'q[1 = 3': expected ] before the operator");
  REQUIRE(refused("q[x] = 3") == "edit 'q[x] = 3': 'x' is no place, expected such as 3, -1 or 2:5");
  REQUIRE(refused("q[1:2:3] = 3").find("no place") != std::string::npos);
  REQUIRE(refused("q = three") ==
          "edit 'q = three': 'three' is neither a number nor @FILE or @FILE:NAME");
  REQUIRE(refused("q = @nowhere").find("nowhere: could not open") == 0);
}

TEST_CASE("an edit that matches nothing is an error") {
  auto refused = [](const std::string &text) {
    std::vector<Edit> list = edits({text});
    auto model = modelFor(must(Model::load(optionsOf(llama().path()))), list);
    if (!model)
      return message(model.takeError());
    auto editor = Editor::create(**model, list, prompt.size());
    if (!editor)
      return message(editor.takeError());
    auto session = must(Session::create(*model, {}));
    session->observe(editor->get());
    lastLogits(*session, prompt);
    return message((*editor)->checkUsed());
  };
  REQUIRE(refused("blk.7.q = 0").find("no value is called blk.7.q") != std::string::npos);
  REQUIRE(refused("blk.0.q[12] = 0").find("axis 0 of blk.0.q has 12 places") != std::string::npos);
  REQUIRE(refused("blk.0.q[-13] = 0").find("axis 0") != std::string::npos);
  REQUIRE(refused("blk.0.q[:,4] = 0").find("axis 1 of blk.0.q has 4 places") != std::string::npos);
  REQUIRE(refused("blk.0.q[5:5] = 0").find("axis 0") != std::string::npos);
  REQUIRE(refused("blk.0.q[0,0,0,0] = 0").find("has 3 axes, not 4") != std::string::npos);
  REQUIRE(refused("logits[3] = 0").find("was not computed for these tokens") != std::string::npos);
  REQUIRE(refused("blk.0.attn_probs[:,:,-1] = 0").find("no negative") != std::string::npos);
}

TEST_CASE("an edit that changes nothing leaves all bits") {
  for (const TinyFile *file : {&llama(), &quantised(), &gemma()}) {
    INFO(file->path());
    auto model = must(Model::load(optionsOf(file->path())));
    auto plain = lastLogits(*open(model), prompt);
    std::vector<Edit> inside;
    size_t atBoundaries = 0;
    for (const std::string &name : namesOf(file->path())) {
      std::vector<Edit> list = edits({name + " += 0"});
      auto editor = Editor::create(*model, list, prompt.size());
      if (!editor) { // inside a fused step
        llvm::consumeError(editor.takeError());
        inside.push_back(list[0]);
        continue;
      }
      auto session = open(model, {.nUbatch = 5});
      session->observe(editor->get());
      INFO(name);
      CHECK(lastLogits(*session, prompt) == plain);
      must((*editor)->checkUsed());
      ++atBoundaries;
    }
    CHECK(atBoundaries > 10);
    // All others at once: other kernels, the same numbers but for rounding.
    EditedRun same = run(file->path(), inside, 5);
    CHECK(same.switchedOff.size() > 3);
    CHECK(distance(same.logits, plain) < (file == &quantised() ? 0.2f : 1e-4f));
    CHECK(lastLogits(*open(model), prompt) == plain);
  }
}

TEST_CASE("the plan and the interpreter are edited alike") {
  for (const TinyFile *file : {&llama(), &gemma()}) {
    auto plain = runReference(file->path(), {});
    for (const std::string &name : namesOf(file->path())) {
      if (ir::layerOf(name) == 0)
        continue; // as the layer after it
      bool rowsWanted = name == "logits" || name == "final_norm";
      INFO(file->path() << " " << name);
      auto list = edits({name + (rowsWanted ? "[-1] += 0.5" : "[3:12] = 0.5")});
      auto ours = run(file->path(), list, 5).logits, theirs = runReference(file->path(), list);
      CHECK(distance(ours, theirs) < 1e-3f);
      if (!llvm::StringRef(name).starts_with("blk.1.k")) // its change may be smaller
        CHECK(distance(theirs, plain) > 1e-3f);
    }
  }
}

TEST_CASE("only the selected numbers change") {
  for (std::string name : {"blk.0.q", "blk.0.k_rope", "blk.0.attn_probs", "blk.0.l_out"}) {
    NamedTensor before = dumped(llama().path(), name, edits({name + " += 0"}));
    std::string places = name == "blk.0.l_out" ? "[2:4,7]" : "[2:4,1]";
    NamedTensor after = dumped(llama().path(), name, edits({name + places + " = 3"}));
    REQUIRE(before.shape == after.shape);
    int64_t width = before.data.size() / before.shape[0], inner = width / before.shape[1];
    for (size_t i = 0; i < before.data.size(); ++i) {
      int64_t row = i / width, second = i % width / inner;
      bool selected = (row == 2 || row == 3) && second == (name == "blk.0.l_out" ? 7 : 1);
      REQUIRE(after.data[i] == (selected ? 3 : before.data[i]));
    }
  }
}

TEST_CASE("heads of the context are an axis, also where they lie side by side") {
  for (const char *off : {"", "fuse-attention"}) {
    ModelOptions o = optionsOf(llama().path());
    if (*off)
      o.disable = {off};
    auto list = edits({"blk.1.attn_ctx[:,2] = 0"});
    auto model = must(Model::load(o));
    auto dump = must(dumpRun(model, {}, prompt, must(HookGlobs::create({"blk.1.attn_ctx"})), list));
    const NamedTensor &t = dump.values[0].tensor;
    int64_t width = t.shape[1], heads = 4;
    REQUIRE(t.shape.size() == 2);
    for (size_t i = 0; i < t.data.size(); ++i)
      REQUIRE((t.data[i] == 0) == (int64_t(i) % width / (width / heads) == 2));
  }
}

TEST_CASE("a value of another run takes its effect along") {
  TempDir dir;
  auto model = must(Model::load(optionsOf(llama().path())));
  auto dump = must(dumpRun(model, {}, other, must(HookGlobs::create({"blk.*.l_out"})), {}));
  std::vector<NamedTensor> tensors;
  for (const HookValue &value : dump.values)
    tensors.push_back(value.tensor);
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  writeSafetensors(out, tensors, metadataOf(dump, "all"));
  writeFile(dir.file("other"), bytes);

  auto theirs = lastLogits(*open(model), other);
  auto whole = edits({"blk.1.l_out = @" + dir.file("other")});
  CHECK(run(llama().path(), whole, 5).logits == theirs);
  auto lastRow = edits({"blk.1.l_out[-1] = @" + dir.file("other") + ":blk.1.l_out"});
  CHECK(run(llama().path(), lastRow, 1).logits == theirs);
  CHECK(distance(runReference(llama().path(), lastRow), theirs) < 1e-4f);
  std::vector<Edit> wrong = edits({"blk.1.k = @" + dir.file("other") + ":blk.1.l_out"});
  auto editor = Editor::create(*model, wrong, prompt.size());
  CHECK(message(editor.takeError()).find("holds another shape than blk.1.k") != std::string::npos);
}

TEST_CASE("micro-batches make no difference to an edit of positions") {
  auto list = edits({"blk.0.l_out[4:9,10:20] = -1", "blk.1.attn_probs[7,1,0:2] *= 0.5"});
  auto one = run(llama().path(), list, 1).logits;
  CHECK(run(llama().path(), list, 5).logits == one);
  CHECK(run(llama().path(), list, 512).logits == one);
}
