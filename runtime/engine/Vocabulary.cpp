// GGUF keys to VocabData.
#include "runtime/engine/Vocabulary.h"

namespace vetro {

namespace {
/// Reads keys below `tokenizer.ggml.`; the first error stays.
class Keys {
public:
  explicit Keys(const gguf::File &file) : file(file) {}

  std::vector<llvm::StringRef> strings(llvm::StringRef key) {
    const gguf::Value *v = find(key);
    if (!v)
      return {};
    auto strings = v->asStrings();
    if (!strings)
      return fail(key, *v, "an array of strings"), std::vector<llvm::StringRef>();
    std::vector<llvm::StringRef> result;
    result.reserve(strings->size());
    for (llvm::StringRef s : *strings)
      result.push_back(s);
    return result;
  }
  template <typename T> std::vector<T> numbers(llvm::StringRef key, const char *expected) {
    const gguf::Value *v = find(key);
    if (!v)
      return {};
    auto values = v->asArray<T>();
    if (!values)
      return fail(key, *v, expected), std::vector<T>();
    return std::move(*values);
  }
  std::optional<uint32_t> id(llvm::StringRef key) {
    const gguf::Value *v = find(key);
    if (!v)
      return {};
    auto n = v->asUInt();
    if (!n || *n > UINT32_MAX)
      return fail(key, *v, "a token id"), std::nullopt;
    return uint32_t(*n);
  }
  std::optional<bool> flag(llvm::StringRef key) {
    const gguf::Value *v = find(key);
    if (v && !v->asBool())
      fail(key, *v, "a bool");
    return v ? v->asBool() : std::nullopt;
  }
  llvm::StringRef text(llvm::StringRef key, bool prefixed = true) {
    const gguf::Value *v = prefixed ? find(key) : file.find(key);
    if (v && !v->asString())
      fail(key, *v, "a string");
    return v && v->asString() ? *v->asString() : llvm::StringRef();
  }
  llvm::Error takeError() {
    if (error.empty())
      return llvm::Error::success();
    return llvm::createStringError(error);
  }

private:
  const gguf::Value *find(llvm::StringRef key) {
    return file.find(("tokenizer.ggml." + key).str());
  }
  void fail(llvm::StringRef key, const gguf::Value &found, const char *expected) {
    if (error.empty())
      error = (file.path() + ": key 'tokenizer.ggml." + key + "' is " + found.typeName() +
               "; expected " + expected)
                  .str();
  }
  const gguf::File &file;
  std::string error;
};
} // namespace

llvm::Expected<std::unique_ptr<Tokenizer>> loadTokenizer(const gguf::File &file) {
  Keys k(file);
  VocabData d;
  d.model = k.text("model");
  d.pre = k.text("pre");
  d.modelName = k.text("general.name", /*prefixed=*/false);
  d.tokens = k.strings("tokens");
  d.scores = k.numbers<float>("scores", "an array of f32");
  d.types = k.numbers<int32_t>("token_type", "an array of i32");
  d.merges = k.strings("merges");
  d.bos = k.id("bos_token_id");
  d.eos = k.id("eos_token_id");
  d.unk = k.id("unknown_token_id");
  d.pad = k.id("padding_token_id");
  d.sep = k.id("seperator_token_id"); // spelt so in the files
  d.eot = k.id("eot_token_id");
  d.eom = k.id("eom_token_id");
  d.fimPrefix = k.id("fim_pre_token_id");
  d.fimSuffix = k.id("fim_suf_token_id");
  d.fimMiddle = k.id("fim_mid_token_id");
  d.fimPad = k.id("fim_pad_token_id");
  d.fimRepo = k.id("fim_rep_token_id");
  d.fimSeparator = k.id("fim_sep_token_id");
  d.addBos = k.flag("add_bos_token");
  d.addEos = k.flag("add_eos_token");
  d.addSpacePrefix = k.flag("add_space_prefix");
  if (llvm::Error error = k.takeError())
    return std::move(error);
  auto tokenizer = Tokenizer::create(d);
  if (!tokenizer)
    return llvm::createStringError(file.path() + ": " + llvm::toString(tokenizer.takeError()));
  return tokenizer;
}

} // namespace vetro
