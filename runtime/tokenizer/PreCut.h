// What the splitters share: a bounded view of the characters, and the loop that turns a matcher
// into a splitter. Internal to PreWords.cpp and PreStages.cpp.
#pragma once
#include "runtime/tokenizer/PreTokenizer.h"

namespace vetro::pre {

/// The characters [begin, end) of a text; beyond the end there is kNone, of no class.
struct View {
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  const Chars &text; // must outlive the view
  size_t end;

  View(const Chars &text, size_t end) : text(text), end(end) {}

  uint32_t cp(size_t i) const { return i < end ? text.cp[i] : kNone; }
  bool is(size_t i, unsigned classes) const { return i < end && (text.cls[i] & classes); }
  /// A character of none of `classes`.
  bool isNot(size_t i, unsigned classes) const { return i < end && !(text.cls[i] & classes); }
  bool isNewline(size_t i) const { return cp(i) == '\r' || cp(i) == '\n'; }

  /// A run of white space: its end, and the place after its last newline (0: none).
  struct SpaceRun {
    size_t begin = 0, end = 0, newlineEnd = 0;
  };
  /// The run that holds character `i`. Remembered, so that asking at every character is linear.
  const SpaceRun &spaceRun(size_t i) {
    if (i >= run.begin && i < run.end)
      return run;
    run = {i, i, 0};
    for (; is(run.end, kSpace); ++run.end)
      if (isNewline(run.end))
        run.newlineEnd = run.end + 1;
    return run;
  }

private:
  SpaceRun run;
};

/// The number of characters from `i` on for which `pred(index)` holds, at most `limit`.
template <class Pred> size_t runLength(size_t i, Pred pred, size_t limit = SIZE_MAX) {
  size_t n = 0;
  while (n < limit && pred(i + n))
    ++n;
  return n;
}

/// Cuts [begin, end) into the matches of `match(view, at)` (a length, 0 = no match) and what lies
/// between them, as a regular expression's find-all does.
template <class Match>
void cut(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends, Match match) {
  View view(text, end);
  size_t done = begin;
  for (size_t at = begin; at < end;) {
    size_t length = match(view, at);
    if (length == 0) {
      ++at;
      continue;
    }
    if (at > done)
      ends.push_back(at);
    at += length;
    ends.push_back(at);
    done = at;
  }
  if (end > done)
    ends.push_back(end);
}

} // namespace vetro::pre
