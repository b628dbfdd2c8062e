// The search for special tokens: a byte trie gives the longest candidate at each place, and the
// candidates are settled by falling length. Linear in the text but for the sorting.
#include "runtime/tokenizer/Special.h"
#include <algorithm>

using llvm::StringRef;

namespace vetro {

SpecialTokens::SpecialTokens(std::vector<Token> given) : tokens(std::move(given)) {
  llvm::sort(tokens, [](const Token &a, const Token &b) { return a.id < b.id; });
  roots.fill(-1);
  for (size_t i = 0; i < tokens.size(); ++i)
    if (!tokens[i].text.empty())
      insert(static_cast<int32_t>(i));
}

void SpecialTokens::insert(int32_t token) {
  int32_t at = -1;
  for (char c : tokens[token].text) {
    auto byte = static_cast<uint8_t>(c);
    int32_t head = at < 0 ? roots[byte] : nodes[at].child, next = head;
    while (next >= 0 && nodes[next].byte != byte)
      next = nodes[next].sibling;
    if (next < 0) {
      next = static_cast<int32_t>(nodes.size());
      nodes.push_back({-1, head, -1, byte});
      (at < 0 ? roots[byte] : nodes[at].child) = next;
    }
    at = next;
  }
  if (nodes[at].token < 0) // of equal texts the lower id wins
    nodes[at].token = token;
  longest = std::max(longest, tokens[token].text.size());
}

/// The longest token at `at` of at most `limit` bytes, or -1.
int32_t SpecialTokens::longestAt(StringRef text, size_t at, size_t limit, bool all) const {
  int32_t best = -1;
  size_t end = std::min(text.size(), at + limit);
  int32_t node = at < end ? roots[static_cast<uint8_t>(text[at])] : -1;
  while (node >= 0) {
    int32_t token = nodes[node].token;
    if (token >= 0 && (all || tokens[token].userDefined))
      best = token;
    if (++at == end)
      break;
    auto byte = static_cast<uint8_t>(text[at]);
    node = nodes[node].child;
    while (node >= 0 && nodes[node].byte != byte)
      node = nodes[node].sibling;
  }
  return best;
}

static bool isAsciiSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Marks the match, and the white space that it eats, as taken.
void SpecialTokens::accept(StringRef text, const Match &match, std::vector<uint8_t> &taken,
                           std::vector<Fragment> &found) const {
  const Token &token = tokens[match.token];
  size_t begin = match.at, end = begin + token.text.size();
  found.push_back({begin, end, token.id});
  std::fill(taken.begin() + begin, taken.begin() + end, 1);
  if (token.stripLeft)
    while (begin > 0 && !taken[begin - 1] && isAsciiSpace(text[begin - 1]))
      taken[--begin] = 1;
  if (token.stripRight)
    while (end < text.size() && !taken[end] && isAsciiSpace(text[end]))
      taken[end++] = 1;
}

/// The tokens of `text`, in no order, and what they and the eaten white space take.
std::vector<SpecialTokens::Fragment> SpecialTokens::matches(StringRef text, bool all,
                                                            std::vector<uint8_t> &taken) const {
  std::vector<std::vector<Match>> byLength(longest + 1);
  auto offer = [&](size_t at, size_t limit) {
    int32_t token = longestAt(text, at, limit, all);
    if (token >= 0)
      byLength[tokens[token].text.size()].push_back({at, token});
  };
  if (longest > 0)
    for (size_t at = 0; at < text.size(); ++at)
      offer(at, longest);

  std::vector<Fragment> found;
  for (size_t length = longest; length > 0; --length) {
    std::vector<Match> candidates = std::move(byLength[length]);
    llvm::sort(candidates, [](const Match &a, const Match &b) {
      return a.token != b.token ? a.token < b.token : a.at < b.at;
    });
    for (const Match &match : candidates) {
      auto first = taken.begin() + match.at;
      size_t free = std::find(first, first + length, 1) - first;
      if (free == length)
        accept(text, match, taken, found);
      else if (free > 0)
        offer(match.at, std::min(free, length - 1));
    }
  }
  return found;
}

std::vector<SpecialTokens::Fragment> SpecialTokens::partition(StringRef text, bool all) const {
  std::vector<uint8_t> taken(text.size(), 0);
  std::vector<Fragment> found = matches(text, all, taken);
  llvm::sort(found, [](const Fragment &a, const Fragment &b) { return a.begin < b.begin; });
  std::vector<Fragment> fragments;
  auto addText = [&](size_t begin, size_t end) { // but for what was eaten at its ends
    while (begin < end && taken[begin])
      ++begin;
    while (begin < end && taken[end - 1])
      --end;
    if (begin < end)
      fragments.push_back({begin, end, -1});
  };
  size_t done = 0;
  for (const Fragment &match : found) {
    addText(done, match.begin);
    fragments.push_back(match);
    done = match.end;
  }
  addText(done, text.size());
  return fragments;
}

} // namespace vetro
