// The tree of transformers' debugger: what it holds, and what is refused.
#include "runtime/trace/TensorFile.h"
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <filesystem>

using namespace vetro;
using namespace vetro::test;

namespace {

/// A folder as model_addition_debugger_context leaves it.
class Tree {
public:
  static constexpr const char *jsonName = "TinyForCausalLM_debug_tree_FULL_TENSORS.json";

  /// A safetensors file of one tensor "data", and the JSON that names it.
  std::string tensor(const std::string &file, const NamedTensor &data,
                     const std::string &dtype = "float32") {
    std::error_code code;
    llvm::raw_fd_ostream out(dir.file(file + ".safetensors"), code);
    writeSafetensors(out, {data}, {});
    std::string size;
    for (int64_t d : data.shape)
      size += (size.empty() ? "" : ", ") + std::to_string(d);
    return value("torch.Size([" + size + "])", "\"./" + file + ".safetensors\"", dtype);
  }
  static std::string value(const std::string &size, const std::string &where,
                           const std::string &dtype = "float32") {
    return R"({"shape":")" + size + R"(","dtype":"torch.)" + dtype + R"(","value":)" + where +
           R"(,"mean":"1"})";
  }
  /// Of a root without inputs, and one module of this path.
  static std::string root(const std::string &children, const std::string &inputs = "null") {
    return R"({"module_path":"TinyForCausalLM","inputs":)" + inputs + R"(,"children":[)" +
           children + "]}";
  }
  static std::string node(const std::string &path, const std::string &rest) {
    return R"({"module_path":"TinyForCausalLM.)" + path + "\"," + rest + "}";
  }
  /// 201 modules, each in the one before it.
  static std::string deep() {
    std::string nodes = node("a", R"("children":[])");
    for (int i = 0; i < 200; ++i)
      nodes = node("a", R"("children":[)" + nodes + "]");
    return nodes;
  }
  llvm::Expected<std::unique_ptr<TensorFile>> open(const std::string &json) const {
    writeFile(dir.file(jsonName), json);
    return TensorFile::open(dir.file(""));
  }
  std::string message(const std::string &json) const {
    auto opened = open(json);
    return opened ? "accepted" : llvm::toString(opened.takeError());
  }
  std::string file(const std::string &name) const { return dir.file(name); }

private:
  TempDir dir;
}; // namespace

} // namespace

TEST_CASE("a tree of modules is read in the order of the run") {
  Tree tree;
  std::string x = tree.tensor("x", {"data", {1, 2}, {1, 2}}, "bfloat16");
  std::string y = tree.tensor("y", {"data", {1, 2}, {3, 4}});
  std::string inner = Tree::node("model.a.b", R"("inputs":{"kwargs":{"hidden_states":)" + x +
                                                  R"(}},"outputs":[)" + y + "," + x + "]");
  std::string outer = Tree::node("model.a", R"("inputs":{"args":[)" + x +
                                                R"(,"None"]},"outputs":)"
                                                R"(null,"children":[)" +
                                                inner + "]");
  std::string plain = Tree::node("model.c", R"("inputs":{"args":["None"]},"outputs":{"k":"None"})");
  auto file = llvm::cantFail(tree.open(Tree::root(outer + "," + plain)));
  std::vector<std::string> names;
  for (const TensorEntry &entry : file->entries())
    names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"model.a.input", "model.a.b.input", "model.a.b.output",
                                          "model.a.b.output.1"});
  CHECK(llvm::cantFail(file->read("model.a.b.output.1")).data == std::vector<float>{1, 2});
  CHECK(file->metadata("model_class") == "TinyForCausalLM");
  CHECK(file->metadata("dtype") == "bfloat16");
  NamedTensor out = llvm::cantFail(file->read("model.a.b.output"));
  CHECK(out.name == "model.a.b.output");
  CHECK(out.shape == std::vector<int64_t>{1, 2});
  CHECK(out.data == std::vector<float>{3, 4});
  CHECK(llvm::cantFail(TensorFile::open(tree.file(Tree::jsonName)))->entries().size() == 4);
}

TEST_CASE("a tree of modules tells the prompt's ids") {
  Tree tree;
  std::string header = R"({"data":{"dtype":"I64","shape":[1,2],"data_offsets":[0,16]}})";
  uint64_t length = header.size();
  writeFile(tree.file("ids.safetensors"), std::string(reinterpret_cast<char *>(&length), 8) +
                                              header +
                                              std::string("\5\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0", 16));
  std::string ids = Tree::value("torch.Size([1, 2])", "\"./ids.safetensors\"", "int64");
  for (const std::string &inputs : {R"({"args":[],"kwargs":{"input_ids":)" + ids + "}}",
                                    R"({"args":[)" + ids + R"(],"kwargs":{}})"}) {
    auto file = llvm::cantFail(tree.open(Tree::root("", inputs)));
    CHECK(file->metadata("ids") == "5,256");
    CHECK(file->entries().empty());
    CHECK(file->metadata("dtype").empty());
  }
}

TEST_CASE("of a module that ran twice the last run's value is there") {
  Tree tree;
  std::string x = tree.tensor("x", {"data", {1}, {1}}), y = tree.tensor("y", {"data", {2}, {2, 3}});
  auto file = llvm::cantFail(tree.open(Tree::root(Tree::node("a", R"("outputs":)" + x) + "," +
                                                  Tree::node("a", R"("outputs":)" + y))));
  REQUIRE(file->entries().size() == 1);
  CHECK(llvm::cantFail(file->read("a.output")).data == std::vector<float>{2, 3});
}

TEST_CASE("only the last run's size must be that of the file that it left") {
  Tree tree;
  std::string last = tree.tensor("x", {"data", {2}, {2, 3}});
  std::string before = Tree::value("torch.Size([5])", "\"./x.safetensors\"");
  auto twice = [&](const std::string &first, const std::string &second) {
    return tree.message(Tree::root(Tree::node("a", R"("outputs":)" + first) + "," +
                                   Tree::node("a", R"("outputs":)" + second)));
  };
  CHECK(twice(before, last) == "accepted");
  CHECK(has(twice(last, before), "says that \"a.output\" is \"torch.Size([5])\", its file has"));
}

TEST_CASE("each way to break a tree of modules gives its own line") {
  Tree tree;
  std::string x = tree.tensor("x", {"data", {2}, {1, 2}});
  auto module = [](const std::string &output) {
    return Tree::root(Tree::node("a", R"("outputs":)" + output));
  };
  auto at = [&](const std::string &where) { return module(Tree::value("torch.Size([2])", where)); };
  REQUIRE(tree.message(module(x)) == "accepted");
  std::error_code code;
  {
    llvm::raw_fd_ostream out(tree.file("two.safetensors"), code);
    writeSafetensors(out, {{"data", {1}, {1}}, {"more", {1}, {1}}}, {});
  }
  writeFile(tree.file("cut.safetensors"), "\7");
  const std::pair<std::string, std::string> cases[] = {
      {module(x).substr(0, 50), "is no JSON: is it whole?"},
      {"{}", "is no tree of modules"},
      {R"({"module_path":7,"children":[]})", "is no tree of modules"},
      {R"({"module_path":"A","children":{}})", "is no tree of modules"},
      {Tree::root(R"({"module_path":"Other.a"})"), "is no tree of modules: \"Other.a\""},
      {Tree::root("7"), "is no tree of modules"},
      {Tree::root(Tree::deep()), "at depth 101"},
      {at("[\"tensor([1., 2.])\"]"), "printed with four digits each: write them whole"},
      {at("\"./none.safetensors\""), "could not open"},
      {at("\"x.safetensors\""), "expected a file beside it"},
      {at("\"/etc/passwd\""), "expected a file beside it"},
      {at("\"./../x.safetensors\""), "expected a file beside it"},
      {at("\"./..\""), "is no regular file"},
      {at("\"./\""), "expected a file beside it"},
      {at("\"./two.safetensors\""), "has 2 tensors"},
      {at("\"./cut.safetensors\""), "a safetensors file has at least 8"},
      {module(Tree::value("torch.Size([3])", "\"./x.safetensors\"")),
       "says that \"a.output\" is \"torch.Size([3])\", its file has torch.Size([2])"}};
  for (const auto &[json, found] : cases) {
    std::string text = tree.message(json);
    INFO(text);
    CHECK(has(text, found));
    CHECK(text.find('\n') == std::string::npos);
  }
}
