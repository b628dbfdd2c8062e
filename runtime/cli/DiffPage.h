// What `vetro diff` writes for people besides its table: the error curve and a page about all.
#pragma once

#include "runtime/compare/Diff.h"
#include "viz/ErrorCurve.h"

namespace vetro::cli {

/// The curve of a report. `floorDb`: what was asked of the accumulated error, where it was judged.
viz::ErrorCurve curveOf(const DiffReport &report, std::string title, std::optional<double> floorDb);

/// Names of the values that these transforms, joined, brought to our layout.
std::map<std::string, std::vector<std::string>> namesByTransform(const DiffReport &report);
/// "[5,9,64]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// One HTML page that needs nothing beside itself: the verdict, the curve, every row, transforms,
/// names on one side, notes, and the command that made it. Text from files is escaped.
void writeDiffPage(llvm::raw_ostream &out, const DiffReport &report, const viz::ErrorCurve &curve,
                   llvm::StringRef command);

} // namespace vetro::cli
