// The frame of a trace: what was written is read, what is damaged is refused with its place.
#include "runtime/trace/TraceFile.h"
#include "runtime/trace/Zip.h"
#include "tests/unit/Catch.h"
#include "tests/unit/gguf/TinyGguf.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace vetro;
using namespace vetro::test;
using Json = nlohmann::ordered_json;

namespace {

template <typename T> T must(llvm::Expected<T> value) {
  if (!value)
    FAIL(llvm::toString(value.takeError()));
  return std::move(*value);
}
void must(llvm::Error error) {
  if (error)
    FAIL(llvm::toString(std::move(error)));
}

/// The smallest document that is whole: one step, one batch, two tokens.
Json whole() {
  return Json::parse(R"({
    "format": "vetro-trace", "version": 1,
    "model": {"path": "m", "name": "", "architecture": "llama", "hash": "xxh3:0", "bytes": 1,
              "metadata": [{"key": "k", "type": "u32", "value": "1"}], "tensors": []},
    "machine": {"cpu": "c", "level": "scalar", "threads": 1}, "options": {},
    "passes": [{"pass": "p", "ops_before": 1, "ops_after": 1, "rewrites": []}],
    "graphs": {},
    "steps": [{"name": "y", "op": "add", "function": "f", "values": ["y"], "inside": [],
               "weights": [], "kernels": [], "barrier": false, "weight_bytes": 0}],
    "memory": {"buffers": 1, "arena_bytes": 64, "weight_bytes": 0},
    "kv": {"context": 1, "page_positions": 256, "bytes": 0, "states": []},
    "sampler": {"chain": "greedy", "options": {}},
    "prompt": {"ids": [7], "pieces": ["a"], "text": null},
    "batches": [{"first": 0, "tokens": 1, "outputs": 1, "ms": 1, "micro_batches": [1],
                 "step_us": [0.5], "values": "values/0.safetensors"}],
    "tokens": [{"position": 0, "id": 7, "piece": "a", "bytes": "61", "batch": 0, "row": 0},
               {"position": 1, "id": 8, "piece": "b", "bytes": "62", "batch": -1, "row": 0}],
    "hooks": [], "text": "b", "stop": "length"
  })");
}

void write(const std::string &path, const Json &document) {
  auto writer = must(TraceWriter::create(path));
  float number = 1.5f;
  std::vector<RawTensor> tensors = {
      {"y", "F32", {1}, {reinterpret_cast<const char *>(&number), sizeof(number)}}};
  must(writer->add("values/0.safetensors", tensors, {}));
  must(writer->add("ir/00.mlir", std::string(5000, 'x')));
  must(writer->finish(document));
}

std::string errorOf(const std::string &path) {
  auto trace = TraceFile::open(path);
  return trace ? "" : llvm::toString(trace.takeError());
}

std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  REQUIRE(bool(buffer));
  return (*buffer)->getBuffer().str();
}

bool has(llvm::StringRef text, llvm::StringRef part) { return text.contains(part); }

} // namespace

TEST_CASE("a folder and a file hold the same trace", "[trace]") {
  TempDir dir;
  for (const std::string &path : {dir.file("t"), dir.file("t.vtrace")}) {
    INFO(path);
    write(path, whole());
    auto trace = must(TraceFile::open(path));
    CHECK(trace->document() == whole());
    CHECK(must(trace->read("ir/00.mlir")) == std::string(5000, 'x'));
    CHECK(must(must(trace->tensors("values/0.safetensors"))->read("y")).data ==
          std::vector<float>{1.5f});
    for (const char *name : {"nothing", "../t.vtrace", "/etc/hostname", "a/../../b"})
      CHECK_FALSE(bool(llvm::expectedToOptional(trace->read(name))));
    write(path, whole()); // over the old one
  }
  uint64_t size = 0;
  REQUIRE(!llvm::sys::fs::file_size(dir.file("t.vtrace"), size));
  CHECK(size < 4000); // text is packed
}

TEST_CASE("nothing but a trace is overwritten", "[trace]") {
  TempDir dir;
  REQUIRE(!llvm::sys::fs::create_directory(dir.file("mine")));
  writeFile(dir.file("mine/letter"), "dear");
  auto refused = TraceWriter::create(dir.file("mine"));
  REQUIRE_FALSE(bool(refused));
  CHECK(has(llvm::toString(refused.takeError()), "is no trace"));
  auto nowhere = TraceWriter::create(dir.file("no/such/t.vtrace"));
  REQUIRE_FALSE(bool(nowhere));
  llvm::consumeError(nowhere.takeError());
}

TEST_CASE("a trace without its end is none", "[trace]") {
  TempDir dir;
  for (const std::string &path : {dir.file("t"), dir.file("t.vtrace")}) {
    auto writer = must(TraceWriter::create(path));
    must(writer->add("ir/00.mlir", "x"));
    writer.reset();
    CHECK(errorOf(path) != "");
  }
  CHECK_FALSE(llvm::sys::fs::exists(dir.file("t.vtrace")));
}

TEST_CASE("every required field is asked for", "[trace]") {
  CHECK(wrongInTrace(whole()) == "");
  CHECK(wrongInTrace(Json::array()) == "expected an object");
  // Each field left out, or of another type, is told by its place.
  std::function<void(Json &, const std::string &, Json &)> spoil =
      [&](Json &at, const std::string &place, Json &root) {
        if (at.is_array() && !at.empty())
          spoil(at[0], place + "[0]", root);
        if (!at.is_object())
          return;
        std::vector<std::string> keys;
        for (auto &[key, value] : at.items())
          keys.push_back(key);
        for (const std::string &key : keys) {
          std::string here = place + (place.empty() ? "" : ".") + key;
          Json kept = at[key];
          INFO(here);
          at[key] = Json::array({Json::array()});
          bool isAny = here == "model.metadata[0].value", isList = kept.is_array() && kept.empty();
          CHECK((isAny || isList || has(wrongInTrace(root), here)));
          at.erase(key);
          bool optional = here == "prompt.text" || here == "batches[0].values";
          CHECK(optional == (wrongInTrace(root) == ""));
          at[key] = kept;
          spoil(at[key], here, root);
        }
      };
  Json document = whole();
  spoil(document, "", document);
}

TEST_CASE("numbers that name places are in them", "[trace]") {
  Json document = whole();
  document["tokens"][0]["batch"] = 1;
  CHECK(wrongInTrace(document) == "tokens[0].batch: no such batch");
  document = whole();
  document["tokens"][0]["row"] = 1;
  CHECK(wrongInTrace(document) == "tokens[0].row: not in its batch");
  document = whole();
  document["batches"][0]["step_us"] = Json::array();
  CHECK(wrongInTrace(document) == "batches[0].step_us: not one for each step");
  for (const char *list : {"passes", "steps", "tokens"}) {
    document = whole();
    document[list] = Json::array();
    CHECK(wrongInTrace(document) == std::string(list) + ": is empty");
  }
  for (const Json &ids : {Json::array(), Json({7, 8, 9})}) {
    document = whole();
    document["prompt"]["ids"] = ids;
    CHECK(wrongInTrace(document) == "prompt.ids: not those of the first tokens");
  }
  for (auto [field, value] : {std::pair("first", int64_t(-1)),
                              {"first", 2},
                              {"first", int64_t(1) << 60},
                              {"tokens", 0},
                              {"tokens", 3},
                              {"tokens", int64_t(1) << 60}}) {
    document = whole();
    document["batches"][0][field] = value;
    INFO(field << " " << value);
    CHECK(wrongInTrace(document) == "batches[0].tokens: not in the run");
  }
  document = whole();
  document["tokens"][0]["batch"] = -1, document["tokens"][1]["batch"] = 0;
  CHECK(wrongInTrace(document) == "tokens[1].batch: it ran after a token that did not");
}

TEST_CASE("ids of tokens are ids", "[trace]") {
  for (int64_t id : {int64_t(-1), int64_t(1) << 40}) {
    Json document = whole();
    document["tokens"][1]["id"] = id;
    CHECK(wrongInTrace(document) == "tokens[1].id: no id of a token");
    document = whole();
    document["tokens"][0]["sampled"] = {
        {"id", id}, {"eog", false}, {"draw", 0}, {"rng", Json::array()}, {"stages", Json::array()}};
    CHECK(wrongInTrace(document) == "tokens[0].sampled.id: no id of a token");
    document["tokens"][0]["sampled"]["id"] = 8;
    CHECK(wrongInTrace(document) == "tokens[0].sampled.stages: is empty");
  }
}

TEST_CASE("what is no trace, newer or damaged is said in one line", "[trace]") {
  TempDir dir;
  auto with = [&](const char *key, const Json &value) {
    Json document = whole();
    document[key] = value;
    write(dir.file("t"), document);
    return errorOf(dir.file("t"));
  };
  CHECK(has(with("format", "other"), "is no trace of Vetro's"));
  CHECK(has(with("version", 2), "is of version 2, this Vetro reads up to 1"));
  CHECK(has(with("version", "1"), "does not tell its version"));
  CHECK(has(with("steps", 3), "is damaged: trace.json: steps: expected a list"));
  writeFile(dir.file("t/trace.json"), "{");
  CHECK(has(errorOf(dir.file("t")), "is damaged: trace.json is no JSON"));
  CHECK(errorOf(dir.file("nowhere")) != "");
  write(dir.file("t.vtrace"), whole());
  std::string bytes = readFile(dir.file("t.vtrace"));
  for (size_t length : {size_t(0), size_t(10), bytes.size() / 2, bytes.size() - 1}) {
    writeFile(dir.file("cut.vtrace"), bytes.substr(0, length));
    INFO(length << " of " << bytes.size() << " bytes");
    CHECK(errorOf(dir.file("cut.vtrace")) != "");
  }
}
