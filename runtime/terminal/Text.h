// Styled text on a terminal: how wide it is, and how it is cut and broken.
#pragma once

#include "runtime/screens/Screen.h"

namespace vetro::terminal {

struct Style {
  screens::Tone tone = screens::Tone::Plain;
  bool inverse = false;
  friend bool operator==(const Style &, const Style &) = default;
};

struct Span {
  std::string text;
  Style style = {};
};

using Line = std::vector<Span>;

/// Columns that a text takes on a terminal: wide characters two, combining marks none.
unsigned columns(llvm::StringRef text);
unsigned columns(const Line &line);
/// The text in at most `width` columns, "…" at its end where it was cut.
std::string fit(llvm::StringRef text, unsigned width);
/// The line in exactly `width` columns.
Line exactly(Line line, unsigned width);
/// Text broken at blanks into lines of `width` columns; longer words are broken too.
std::vector<Line> paragraph(llvm::ArrayRef<Span> spans, unsigned width);
/// The text in characters that an ASCII terminal has.
std::string asciiOf(llvm::StringRef text);
/// Lines as plain text.
std::string plainText(llvm::ArrayRef<Line> lines);

} // namespace vetro::terminal
