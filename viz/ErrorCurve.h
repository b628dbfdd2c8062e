// How an error grows through a model, as one SVG: values in the order of computation along x, their
// signal-to-noise ratio in dB along y, equal values at the top edge. It needs no layout program and
// is readable alone, inside a page, on light and on dark.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace vetro::viz {

/// One error of one value.
struct CurveMark {
  double snrDb = 0;    ///< infinite: equal; not a number or -infinite: at the bottom edge
  bool passed = false; ///< its floor: drawn in the warning colour, with the value's name
  std::string note;    ///< for the tooltip: "max abs 0.012"
};

struct CurvePoint {
  std::string name;                       ///< any bytes; layers are those of "blk.N."
  CurveMark accumulated;                  ///< layer outputs (blk.N.l_out) are joined by a line
  std::optional<CurveMark> graph, kernel; ///< the isolated errors

  /// Whether one of the three passes its floor.
  bool passed() const {
    return accumulated.passed || (graph && graph->passed) || (kernel && kernel->passed);
  }
};

struct ErrorCurve {
  std::string title;
  std::vector<CurvePoint> points;     ///< in the order of computation
  std::optional<double> floorDb = {}; ///< of the accumulated error: a dashed line
};

/// The drawing, an <svg> element that refers to nothing outside itself; text from files is escaped.
/// The same curve always gives the same text. Well-formed for every input, also for no points.
std::string drawErrorCurve(const ErrorCurve &curve);

} // namespace vetro::viz
