// A run that was recorded: visited again it has the bits it had, whatever is looked at, in any
// order.
#include "runtime/engine/Recording.h"
#include "runtime/jit/Compile.h"
#include "tests/unit/engine/EngineTest.h"
#include "tests/unit/tiny/TinyFile.h"

#include <bit>

using namespace vetro;
using namespace vetro::test;

namespace {
std::shared_ptr<Model> loadAt(const std::string &path, llvm::StringRef level) {
  ModelOptions o;
  o.path = path, o.level = level.str();
  return must(Model::load(o));
}

RecordOptions someTokens(unsigned n, uint32_t nCtx = 512) {
  RecordOptions o;
  o.session.nCtx = nCtx;
  o.generate.nPredict = n, o.generate.ignoreEos = true;
  o.generate.sampling.temperature = 0.8f, o.generate.sampling.topK = 50;
  o.generate.sampling.seed = 5;
  return o;
}

/// Keeps the logits of each batch.
struct LogitsKept : GenerationWatcher {
  std::vector<std::vector<float>> logits;
  llvm::Error sampled(int32_t, const SamplingState &, llvm::ArrayRef<float> l) override {
    logits.push_back(l.vec());
    return llvm::Error::success();
  }
};

std::vector<int32_t> idsOf(const Recording &r) {
  std::vector<int32_t> ids;
  for (const auto &token : r.document()["tokens"])
    ids.push_back(token["id"]);
  return ids;
}

bool sameBits(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
         });
}
} // namespace

TEST_CASE("a recorded run is the run, at every level") {
  TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 2});
  std::vector<llvm::StringRef> levels = levelsBelow(bestLevel());
  levels.push_back(bestLevel());
  for (llvm::StringRef level : levels) {
    INFO(level.str());
    auto model = loadAt(file.path(), level);
    std::vector<int32_t> prompt = randomIds(5, model->tokenizer().nTokens(), 3);
    RecordOptions options = someTokens(6);
    LogitsKept kept;
    auto session = open(model, options.session);
    Generation plain = must(generate(
        *session, model->tokenizer(), prompt, options.generate, [](llvm::StringRef) {}, &kept));
    auto recording = must(Recording::record(model, {prompt}, options));
    std::vector<int32_t> ids = prompt;
    ids.insert(ids.end(), plain.ids.begin(), plain.ids.end());
    CHECK(idsOf(*recording) == ids);
    // Backwards, then forwards, with other values looked at between.
    for (int turn = 0; turn < 2; ++turn)
      for (size_t k = 0; k < kept.logits.size(); ++k) {
        size_t i = turn == 0 ? kept.logits.size() - 1 - k : k;
        size_t position = prompt.size() - 1 + i;
        must(recording->values(position / 2, {"blk.0.attn_probs", "blk.0.q_rope"}));
        auto values = must(recording->values(position, {"logits", "blk.0.l_out"}));
        INFO("token " << position);
        CHECK(sameBits(values[0].tensor.data, kept.logits[i]));
      }
  }
}

TEST_CASE("a visit gives the dump's bits, across pages of the cache") {
  TinyFile file({.arch = "gemma3", .type = "Q4_0", .layers = 2});
  auto model = load(file.path());
  std::vector<int32_t> prompt = randomIds(300, model->tokenizer().nTokens(), 4);
  auto recording = must(Recording::record(model, {prompt}, someTokens(2)));
  std::vector<int32_t> ids = idsOf(*recording);
  ids.resize(recording->nRun());
  std::vector<std::string> names = {"blk.0.q_rope", "blk.0.attn_probs", "blk.1.l_out", "logits"};
  auto globs = must(HookGlobs::create(names));
  Dump dump = must(dumpRun(model, {.nCtx = 512}, ids, globs));
  for (size_t position : {299, 3, 255, 256, 300, 0}) {
    auto values = must(recording->values(position, names));
    for (size_t i = 0; i < names.size(); ++i) {
      INFO(names[i] << " of token " << position);
      auto whole = llvm::find_if(dump.values, [&](auto &v) { return v.tensor.name == names[i]; });
      REQUIRE(whole != dump.values.end());
      size_t width = whole->tensor.data.size() / whole->tensor.shape[0];
      llvm::ArrayRef<float> row = llvm::ArrayRef(whole->tensor.data).slice(position * width, width);
      if (names[i] == "blk.0.attn_probs") { // [heads, cells]: those up to its own
        size_t cells = whole->tensor.shape[2];
        for (size_t h = 0; h < size_t(whole->tensor.shape[1]); ++h)
          CHECK(sameBits(
              row.slice(h * cells, position + 1),
              llvm::ArrayRef(values[i].tensor.data).slice(h * (position + 1), position + 1)));
      } else {
        CHECK(sameBits(row, values[i].tensor.data));
      }
    }
  }
}

TEST_CASE("what a layer would say were it the last") {
  TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 2});
  auto model = load(file.path());
  std::vector<int32_t> prompt = randomIds(4, model->tokenizer().nTokens(), 3);
  auto recording = must(Recording::record(model, {prompt}, someTokens(1)));
  auto values = must(recording->values(3, {"blk.0.l_out", "blk.1.l_out", "logits"}));
  // The last layer's own row changes nothing; another one does, and only for this visit.
  CHECK(sameBits(must(recording->logitsWith(3, "blk.1.l_out", values[1])), values[2].tensor.data));
  CHECK_FALSE(
      sameBits(must(recording->logitsWith(3, "blk.1.l_out", values[0])), values[2].tensor.data));
  must(recording->values(1, {"logits"})); // not from what is remembered
  CHECK(sameBits(must(recording->values(3, {"logits"}))[0].tensor.data, values[2].tensor.data));
}

TEST_CASE("an edited run is visited with its edits") {
  TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 2});
  auto model = load(file.path());
  std::vector<int32_t> prompt = randomIds(4, model->tokenizer().nTokens(), 3);
  RecordOptions options = someTokens(3);
  auto plain = must(Recording::record(model, {prompt}, options));
  // Of the prompt's last token, counted from its end, and of one that was generated.
  for (const char *text : {"blk.0.l_out[-1] *= 0", "blk.0.l_out[5,7] += 3"}) {
    INFO(text);
    options.edits = {must(parseEdit(text))};
    auto edited = must(Recording::record(model, {prompt}, options));
    size_t at = llvm::StringRef(text).contains("5,7") ? 5 : 3;
    for (size_t position = 0; position < 6; ++position) {
      bool touched = position == at;
      auto a = must(plain->values(position, {"blk.0.resid_mid", "blk.0.l_out", "blk.1.l_out"}));
      auto b = must(edited->values(position, {"blk.0.resid_mid", "blk.0.l_out", "blk.1.l_out"}));
      INFO("token " << position);
      if (position <= at) {
        CHECK(sameBits(a[0].tensor.data, b[0].tensor.data));
        CHECK(sameBits(a[1].tensor.data, b[1].tensor.data) == !touched);
        CHECK(sameBits(a[2].tensor.data, b[2].tensor.data) == !touched);
      }
    }
  }
  options.edits = {must(parseEdit("blk.0.l_out[400] = 0"))};
  CHECK_FALSE(bool(llvm::expectedToOptional(Recording::record(model, {prompt}, options))));
}

TEST_CASE("the sampler runs again from the state it had, with every candidate") {
  TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 2});
  auto model = loadAt(file.path(), bestLevel());
  std::vector<int32_t> prompt = randomIds(5, model->tokenizer().nTokens(), 3);
  RecordOptions options = someTokens(6);
  options.generate.sampling.repeatPenalty = 1.7f, options.generate.sampling.penaltyLastN = 4;
  options.generate.sampling.topP = 0.9f;
  options.generate.sampling.logitBias = {{7, -INFINITY}, {11, 1.5f}};
  auto recording = must(Recording::record(model, {prompt}, options));
  const auto &tokens = recording->document()["tokens"];
  for (size_t position : {9u, 4u, 7u, 9u}) { // in any order
    INFO("token " << position);
    must(recording->values(position / 2, {"blk.0.q_rope"}));
    auto stages = must(recording->sampleAgain(position));
    const auto &kept = tokens[position]["sampled"]["stages"];
    REQUIRE(stages.size() == kept.size());
    for (size_t i = 0; i < stages.size(); ++i) {
      INFO(stages[i].name);
      CHECK(kept[i]["name"] == stages[i].name);
      CHECK(kept[i]["out"] == stages[i].out);
      CHECK(kept[i]["mass_removed"] == stages[i].massRemoved);
      CHECK(stages[i].top.size() == (stages[i].active ? stages[i].out : 0));
      for (size_t k = 0; k < kept[i]["top"].size(); ++k) {
        CHECK(kept[i]["top"][k]["id"] == stages[i].top[k].id);
        CHECK(kept[i]["top"][k]["p"].get<float>() == stages[i].top[k].p);
      }
    }
    CHECK(tokens[position]["sampled"]["id"] == stages.back().top[0].id);
  }
}

TEST_CASE("a comparison that is none is refused") {
  TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 1});
  auto recording =
      must(Recording::record(loadAt(file.path(), bestLevel()), {{1, 2, 3}}, someTokens(1)));
  using Json = nlohmann::ordered_json;
  Json row = {{"name", "blk.0.q"},
              {"equal", false},
              {"shape", {1}},
              {"snr_db", 3.5},
              {"max_abs", nullptr},
              {"graph", nullptr},
              {"kernel", {{"ratio", 0.5}}}};
  auto taken = [&](const Json &diff) {
    llvm::Error error = recording->compareWith(diff);
    return !llvm::errorToBool(std::move(error));
  };
  CHECK(taken({{"rows", {row}}}));
  CHECK(recording->comparisonRow("blk.0.q") == 0);
  CHECK(!recording->comparisonRow("blk.0.k"));
  for (const char *key : {"name", "equal", "shape", "snr_db", "max_abs", "graph", "kernel"}) {
    INFO(key);
    Json lacks = row, wrong = row;
    lacks.erase(key);
    wrong[key] = "words";
    if (std::string(key) == "name")
      wrong[key] = 3;
    CHECK(!taken({{"rows", {row, lacks}}}));
    CHECK(!taken({{"rows", {wrong}}}));
  }
  CHECK(!taken(Json::array()));
  CHECK(!taken({{"rows", 3}}));
  CHECK(!taken(Json(Json::value_t::discarded)));
  CHECK(recording->comparisonRow("blk.0.q") == 0); // what was there stays
}
