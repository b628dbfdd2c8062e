// Finds special tokens in a text before anything is tokenized: control, user-defined and unknown
// tokens, the longest text first.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <vector>

namespace vetro {

/// A set of texts to be found. Built once, then only read.
class SpecialTokens {
public:
  struct Token {
    int32_t id;
    llvm::StringRef text;       // must outlive this object; empty ones are ignored
    bool userDefined;           // found even where special tokens are not parsed
    bool stripLeft, stripRight; // eats the ASCII white space beside a match
  };
  /// A piece of a text: a token found, or what lies between (id -1). Eaten white space is in none.
  struct Fragment {
    size_t begin, end;
    int32_t id;
  };

  explicit SpecialTokens(std::vector<Token> tokens);

  /// Cuts `text`. Longer texts win over shorter ones wherever they stand, as if each token in turn,
  /// by falling length, then id, were cut out of what the ones before it had left; within one
  /// token, the leftmost match wins. `all` false: user-defined tokens only.
  std::vector<Fragment> partition(llvm::StringRef text, bool all) const;

private:
  struct Node {
    int32_t child = -1, sibling = -1, token = -1; // indices; token: into `tokens`
    uint8_t byte = 0;
  };
  struct Match {
    size_t at;
    int32_t token;
  };
  void insert(int32_t token);
  int32_t longestAt(llvm::StringRef text, size_t at, size_t limit, bool all) const;
  std::vector<Fragment> matches(llvm::StringRef text, bool all, std::vector<uint8_t> &taken) const;
  void accept(llvm::StringRef text, const Match &match, std::vector<uint8_t> &taken,
              std::vector<Fragment> &found) const;

  std::vector<Token> tokens;
  std::vector<Node> nodes;
  std::array<int32_t, 256> roots; // the first byte's node, because most places end the search here
  size_t longest = 0;
};

} // namespace vetro
