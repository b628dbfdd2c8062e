// UTF-8 decoding and Unicode classes; the categories come from utf8proc.
#include "runtime/tokenizer/Unicode.h"
#include <array>
#include <utf8proc.h>

using llvm::StringRef;

namespace vetro {

/// Unicode's White_Space property.
static bool isSpace(uint32_t cp) {
  return (cp >= 0x09 && cp <= 0x0D) || cp == 0x20 || cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
         (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F ||
         cp == 0x205F || cp == 0x3000;
}

struct ClassRange {
  uint32_t first, last;
  uint8_t cls;
};

// What Unicode 15.1 added to 15.0, the version of Debian 12's library: ids must not depend on the
// distribution.
static constexpr ClassRange kRecent[] = {
    {0x2FFC, 0x2FFF, kSymbol}, {0x31EF, 0x31EF, kSymbol}, {0x2EBF0, 0x2EE5D, kLetter}};

static uint8_t recentClass(uint32_t cp) {
  for (const ClassRange &range : kRecent)
    if (cp >= range.first && cp <= range.last)
      return range.cls;
  return 0;
}

static uint8_t classOf(uint32_t cp) {
  if (isSpace(cp))
    return kSpace;
  utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(cp));
  if (category == UTF8PROC_CATEGORY_CN)
    return recentClass(cp);
  if (category <= UTF8PROC_CATEGORY_LO)
    return kLetter;
  if (category <= UTF8PROC_CATEGORY_ME)
    return kMark;
  if (category <= UTF8PROC_CATEGORY_NO)
    return kNumber;
  if (category <= UTF8PROC_CATEGORY_PO)
    return kPunct;
  if (category <= UTF8PROC_CATEGORY_SO)
    return kSymbol;
  return 0;
}

static constexpr uint8_t asciiClass(unsigned c) {
  if ((c >= 9 && c <= 13) || c == ' ')
    return kSpace;
  if (c >= '0' && c <= '9')
    return kNumber;
  if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
    return kLetter;
  if (c < ' ' || c == 0x7F)
    return 0;
  for (char symbol : {'$', '+', '<', '=', '>', '^', '`', '|', '~'})
    if (c == static_cast<unsigned>(symbol))
      return kSymbol;
  return kPunct;
}

static constexpr std::array<uint8_t, 128> kAscii = [] {
  std::array<uint8_t, 128> table{};
  for (unsigned c = 0; c < 128; ++c)
    table[c] = asciiClass(c);
  return table;
}();

uint8_t charClass(uint32_t cp) { return cp < 128 ? kAscii[cp] : classOf(cp); }

bool isHan(uint32_t cp) {
  return (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0x3400 && cp <= 0x4DBF) ||
         (cp >= 0x20000 && cp <= 0x2A6DF) || (cp >= 0x2A700 && cp <= 0x2EBEF) ||
         (cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0x2F800 && cp <= 0x2FA1F);
}

static unsigned lengthFromLead(char lead) {
  auto byte = static_cast<uint8_t>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

size_t utf8Length(StringRef text) {
  size_t promised = std::min<size_t>(lengthFromLead(text[0]), text.size()), length = 1;
  while (length < promised && (text[length] & 0xC0) == 0x80)
    ++length;
  return length;
}

DecodedChar decodeUtf8(StringRef text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(0);
  if (lead < 0x80)
    return {lead, 1, true, false};
  if (lead < 0xC2 || lead > 0xF4)
    return {0xFFFD, 1, false, false};
  unsigned length = lengthFromLead(text[0]);
  uint32_t cp = lead & (0x7F >> length);
  for (unsigned i = 1; i < length; ++i) {
    if (i == text.size())
      return {0xFFFD, static_cast<uint8_t>(i), false, true};
    // The second byte's range is narrower after four leads (overlong, surrogate, beyond U+10FFFF).
    uint8_t low = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    uint8_t high = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i) < low || byte(i) > high)
      return {0xFFFD, static_cast<uint8_t>(i), false, false};
    cp = cp << 6 | (byte(i) & 0x3F);
  }
  return {cp, static_cast<uint8_t>(length), true, false};
}

void appendUtf8(uint32_t cp, std::string &out) {
  auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (cp < 0x80)
    return put(cp);
  if (cp < 0x800) {
    put(0xC0 | cp >> 6);
  } else {
    if (cp < 0x10000) {
      put(0xE0 | cp >> 12);
    } else {
      put(0xF0 | cp >> 18);
      put(0x80 | (cp >> 12 & 0x3F));
    }
    put(0x80 | (cp >> 6 & 0x3F));
  }
  put(0x80 | (cp & 0x3F));
}

std::string replaceInvalidUtf8(StringRef text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    DecodedChar c = decodeUtf8(text);
    if (c.valid)
      out += text.take_front(c.size);
    else
      out += "\xEF\xBF\xBD";
    text = text.drop_front(c.size);
  }
  return out;
}

size_t incompleteTail(StringRef text) {
  for (size_t n = 1; n <= 3 && n <= text.size(); ++n) {
    auto byte = static_cast<uint8_t>(text[text.size() - n]);
    if (byte < 0x80)
      return 0;
    if (byte < 0xC0)
      continue;
    DecodedChar c = decodeUtf8(text.take_back(n));
    return c.truncated && c.size == n ? n : 0;
  }
  return 0;
}

Chars::Chars(StringRef text) {
  cp.reserve(text.size());
  cls.reserve(text.size());
  offset.reserve(text.size() + 1);
  size_t at = 0;
  while (at < text.size()) {
    DecodedChar c = decodeUtf8(text.drop_front(at));
    cp.push_back(c.cp);
    cls.push_back(charClass(c.cp));
    offset.push_back(static_cast<uint32_t>(at));
    at += c.size;
  }
  offset.push_back(static_cast<uint32_t>(at));
}

} // namespace vetro
