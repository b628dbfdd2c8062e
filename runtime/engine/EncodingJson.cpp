// The steps of the tokenizer.
#include "runtime/engine/EncodingJson.h"

namespace vetro {

using Json = nlohmann::ordered_json;

static Json mergeJson(const Explain::Merge &m) {
  Json j = {{"left", m.left}, {"right", m.right}, {"result", m.result}};
  if (m.byScore)
    j["score"] = m.score;
  else
    j["rank"] = m.rank;
  return j;
}

Json encodingJson(const Explain &e, llvm::StringRef text) {
  Json fragments = Json::array(), words = Json::array();
  for (const Explain::Fragment &f : e.fragments) {
    Json j = {{"begin", f.begin}, {"end", f.end}};
    if (f.special >= 0)
      j["special"] = f.special;
    fragments.push_back(j);
  }
  for (const Explain::Word &w : e.words) {
    Json merges = Json::array();
    for (size_t i = 0; i < w.nMerges; ++i)
      merges.push_back(mergeJson(e.merges[w.firstMerge + i]));
    words.push_back({{"begin", w.begin},
                     {"end", w.end},
                     {"text", text.slice(w.begin, w.end).str()},
                     {"ids", w.ids},
                     {"merges", merges}});
  }
  return {{"fragments", fragments}, {"words", words}};
}

Json piecesJson(const Tokenizer &tokenizer, llvm::ArrayRef<int32_t> ids) {
  Json list = Json::array();
  for (int32_t id : ids)
    list.push_back(tokenizer.token(id).str());
  return list;
}

} // namespace vetro
