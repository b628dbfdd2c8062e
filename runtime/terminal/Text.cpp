// Columns and line breaks.
#include "runtime/terminal/Text.h"

#include "llvm/ADT/STLExtras.h"
#include <utf8proc.h>

namespace vetro::terminal {

/// Calls each(code point's bytes, its columns) until it returns false.
template <typename Each> static void forEachCharacter(llvm::StringRef text, Each each) {
  auto *at = reinterpret_cast<const utf8proc_uint8_t *>(text.data());
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t c;
    utf8proc_ssize_t n = utf8proc_iterate(at + i, utf8proc_ssize_t(text.size() - i), &c);
    size_t length = n > 0 ? size_t(n) : 1;
    if (!each(text.substr(i, length), unsigned(n > 0 ? std::max(0, utf8proc_charwidth(c)) : 1)))
      return;
    i += length;
  }
}

unsigned columns(llvm::StringRef text) {
  unsigned n = 0;
  forEachCharacter(text, [&](llvm::StringRef, unsigned width) { return n += width, true; });
  return n;
}

std::string fit(llvm::StringRef text, unsigned width) {
  if (columns(text) <= width)
    return text.str();
  if (width == 0)
    return "";
  std::string out;
  unsigned n = 0;
  forEachCharacter(text, [&](llvm::StringRef character, unsigned w) {
    if (n + w > width - 1)
      return false;
    out += character, n += w;
    return true;
  });
  return out + "…";
}

unsigned columns(const Line &line) {
  unsigned n = 0;
  for (const Span &span : line)
    n += columns(span.text);
  return n;
}

Line exactly(Line line, unsigned width) {
  unsigned n = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    line[i].text = fit(line[i].text, width - n);
    n += columns(line[i].text);
    if (n >= width) {
      line.resize(i + 1);
      break;
    }
  }
  if (n < width)
    line.push_back({std::string(width - n, ' '), {}});
  return line;
}

namespace {
/// What stands between blanks, in the styles of the spans it comes from.
struct Word {
  unsigned blanks = 0; ///< before it
  Line spans = {};
};
} // namespace

static std::vector<Word> wordsOf(llvm::ArrayRef<Span> spans) {
  std::vector<Word> words(1);
  for (const Span &span : spans) {
    bool fresh = true; // this span's style begins
    for (char c : span.text) {
      if (c == ' ') {
        if (!words.back().spans.empty())
          words.emplace_back();
        ++words.back().blanks;
        fresh = true;
        continue;
      }
      if (std::exchange(fresh, false))
        words.back().spans.push_back({"", span.style});
      words.back().spans.back().text += c;
    }
  }
  return words;
}

std::vector<Line> paragraph(llvm::ArrayRef<Span> spans, unsigned width) {
  std::vector<Line> lines(1);
  unsigned n = 0;
  for (Word &word : wordsOf(spans)) {
    unsigned w = columns(word.spans);
    if (n > 0 && n + word.blanks + w > width)
      lines.emplace_back(), n = 0;
    else if (word.blanks > 0 && n > 0)
      lines.back().push_back({std::string(word.blanks, ' '), {}}), n += word.blanks;
    for (Span &span : word.spans)
      forEachCharacter(span.text, [&](llvm::StringRef character, unsigned cw) {
        if (n + cw > width)
          lines.emplace_back(), n = 0;
        Line &line = lines.back();
        if (line.empty() || !(line.back().style == span.style) || n == 0)
          line.push_back({"", span.style});
        line.back().text += character;
        n += cw;
        return true;
      });
  }
  return lines;
}

std::string asciiOf(llvm::StringRef text) {
  static constexpr std::pair<const char *, const char *> table[] = {
      {"·", "."},  {"░", ":"},  {"▒", "+"}, {"▓", "*"}, {"█", "#"}, {"│", "|"}, {"…", "~"},
      {"“", "\""}, {"”", "\""}, {"µ", "u"}, {"▁", "_"}, {"▂", "."}, {"▃", "-"}, {"▄", "="},
      {"▅", "+"},  {"▆", "*"},  {"▇", "%"}, {"Ġ", "_"}, {"▏", ""},  {"▎", ""},  {"▍", ""},
      {"▌", "#"},  {"▋", "#"},  {"▊", "#"}, {"▉", "#"}};
  std::string out;
  forEachCharacter(text, [&](llvm::StringRef character, unsigned width) {
    auto *found = llvm::find_if(table, [&](auto pair) { return character == pair.first; });
    out += character.size() == 1      ? character.str()
           : found != std::end(table) ? found->second
                                      : std::string(width, '?');
    return true;
  });
  return out;
}

std::string plainText(llvm::ArrayRef<Line> lines) {
  std::string text;
  for (const Line &line : lines) {
    std::string row;
    for (const Span &span : line)
      row += span.text;
    text += llvm::StringRef(row).rtrim().str() + "\n";
  }
  return text;
}

} // namespace vetro::terminal
