// Ids of the two real models for many hard texts, as llama.cpp gives them (tests/golden).
#include "tests/unit/Catch.h"
#include "tests/unit/TestData.h"
#include "tests/unit/tokenizer/VocabFile.h"
#include <nlohmann/json.hpp>

using namespace vetro;
using namespace vetro::test;

static void checkModel(const std::string &golden) {
  nlohmann::json file =
      nlohmann::json::parse(readFile(sourceDir() + "/tests/golden/" + golden + ".tokenize.json"));
  std::string path = model(file["model"]);
  if (path.empty())
    return skip("no " + file["model"].get<std::string>() + "; run ./bootstrap models");
  VocabFile vocab(path);
  auto tokenizer = load(vocab.data);
  REQUIRE(file["cases"].size() >= 60);
  for (const auto &item : file["cases"]) {
    std::string text = item["text"];
    INFO(text);
    std::vector<int32_t> ids = tokenizer->encode(text, file["add_special"], false);
    CHECK(ids == item["ids"].get<std::vector<int32_t>>());
    CHECK(tokenizer->encode(text, file["add_special"], true) ==
          item["ids_parse_special"].get<std::vector<int32_t>>());
    // U+2581 is how Gemma's vocabulary spells a space, so a literal one comes back as a space.
    if (text.find("\u2581") == std::string::npos)
      CHECK(tokenizer->decode(ids, true) == text);
  }
}

TEST_CASE("SmolLM2: hard texts") { checkModel("smollm2"); }
TEST_CASE("Gemma 3: hard texts") { checkModel("gemma3"); }
