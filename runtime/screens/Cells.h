// The cells that screens are made of.
#pragma once

#include "runtime/engine/Hooks.h"
#include "runtime/screens/Screen.h"

namespace vetro::screens {

/// Text that is no datum: our own words.
Cell text(llvm::StringRef words, Tone tone = Tone::Plain);
/// The title of a column.
Cell heading(llvm::StringRef words, bool right = false);
/// A number or a text of the trace's document, at a JSON pointer; empty where it has none.
Cell fact(const Json &document, const std::string &pointer, Tone tone = Tone::Plain);
/// A number of bytes of the document, in its largest unit: "98.4 MB".
Cell bytesFact(const Json &document, const std::string &pointer);
/// A share of 1 of the document, as a percentage: "12.3 %".
Cell shareFact(const Json &document, const std::string &pointer);
/// A number that belongs to a value at a token; `index` as Datum's.
Cell number(llvm::StringRef name, llvm::StringRef index, double value);
/// "1.2345e-05", six digits.
std::string numberText(double value);
/// "98.4 MB".
std::string bytesText(double bytes);

/// What is counted over the numbers of a value's row.
struct Statistics {
  double min = 0, max = 0, mean = 0, rms = 0; ///< of those that are numbers
  uint64_t nans = 0;                          ///< not finite
  std::vector<uint64_t> bins;                 ///< histogram, from min to max
  static Statistics of(llvm::ArrayRef<float> numbers, unsigned nBins = 16);
};

/// A row of a table of values: name, label, shape, min, max, mean, rms, how many are no numbers, a
/// histogram, and the first and last numbers. valueHeader() has the columns' titles.
Row valueRow(const HookValue &value);
Row valueHeader();

/// "9 x 64".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace vetro::screens
