// UTF-8 and the Unicode classes that pre-tokenizers ask for. Used by the first and the last stage
// of a token's way (text to ids, ids to text).
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace vetro {

/// Classes of a code point, as bits. Space is Unicode's White_Space (25 code points), which is
/// disjoint from the other classes; control, format and unassigned code points have no bit.
enum CharClass : uint8_t {
  kLetter = 1,  // \p{L}
  kNumber = 2,  // \p{N}
  kSpace = 4,   // \s
  kMark = 8,    // \p{M}
  kPunct = 16,  // \p{P}
  kSymbol = 32, // \p{S}
};

/// The class bits of code point `cp`.
uint8_t charClass(uint32_t cp);

/// True for Chinese characters: the unified ideographs, extensions A-F, compatibility.
bool isHan(uint32_t cp);

/// One decoded unit of UTF-8: a character, or bytes that can't be one (cp = U+FFFD, valid false).
struct DecodedChar {
  uint32_t cp;
  uint8_t size; // bytes; of an invalid unit the longest prefix that could have become a character
  bool valid;
  bool truncated; // invalid only because the text ends here
};

/// Decodes the first unit of `text`, which must not be empty. Strict: no overlong forms, no
/// surrogates, nothing above U+10FFFF.
DecodedChar decodeUtf8(llvm::StringRef text);

/// Appends the UTF-8 form of `cp` (at most U+10FFFF) to `out`.
void appendUtf8(uint32_t cp, std::string &out);

/// `text` with each invalid unit replaced by U+FFFD.
std::string replaceInvalidUtf8(llvm::StringRef text);

/// The number of bytes at the end of `text` (0 to 3) that are the start of a character.
size_t incompleteTail(llvm::StringRef text);

/// The bytes of the first character of `text`, which must not be empty: as many as its lead byte
/// promises, fewer where a continuation byte is missing, so that no character takes in the one
/// after it. A continuation byte is a character of its own.
size_t utf8Length(llvm::StringRef text);

/// A text under 4 GiB decoded once: code points, classes, and the byte offset of each (one more
/// than there are characters, the last being the text's size).
struct Chars {
  std::vector<uint32_t> cp;
  std::vector<uint8_t> cls;
  std::vector<uint32_t> offset;

  explicit Chars(llvm::StringRef text);
  size_t size() const { return cp.size(); }
};

} // namespace vetro
