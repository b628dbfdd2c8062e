// The error curve's SVG: axes, bands of layers, marks, names of what passed its floor.
// Colours are those of Okabe and Ito, which colour-blind people tell apart; each kind of mark has a
// shape of its own besides.
#include "viz/ErrorCurve.h"
#include "viz/Label.h"

#include "compiler/ir/Names.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using llvm::formatv;
using llvm::StringRef;

namespace vetro::viz {

// Pixels of the drawing. Between EqualY and Top nothing lies but the way from a number to "equal".
constexpr int Width = 1080, Height = 460;
constexpr double Left = 70, Right = 1064, Top = 96, Bottom = 396;
constexpr double EqualY = 72;

/// Plain rules, written twice instead of with variables: simple viewers know no variables.
constexpr llvm::StringLiteral Style = R"(<style>
.vetro-curve{font:12px system-ui,sans-serif;color:#1f2328}
.vetro-curve .paper{fill:#fff}
.vetro-curve text{fill:#1f2328}
.vetro-curve .small{font-size:11px}
.vetro-curve .title{font-size:15px;font-weight:600}
.vetro-curve .band{fill:#1f2328;fill-opacity:.05}
.vetro-curve .grid{stroke:#1f2328;stroke-opacity:.18}
.vetro-curve .floor{stroke:#d55e00;stroke-dasharray:6 4}
.vetro-curve .all{fill:#0072b2;fill-opacity:.45}
.vetro-curve .out{fill:#0072b2}
.vetro-curve .line{fill:none;stroke:#0072b2;stroke-width:1.5}
.vetro-curve .graph{fill:none;stroke:#009e73;stroke-width:1.2}
.vetro-curve .kernel{fill:none;stroke:#a8558a;stroke-width:1.2}
.vetro-curve .bad{fill:#d55e00;stroke:#d55e00}
.vetro-curve text.bad{fill:#b34700;stroke:#fff;stroke-width:3;paint-order:stroke;font-weight:600}
@media (prefers-color-scheme:dark){
.vetro-curve .paper{fill:#0d1117}
.vetro-curve text{fill:#e6edf3}
.vetro-curve .band{fill:#e6edf3}
.vetro-curve .grid{stroke:#e6edf3}
.vetro-curve .all,.vetro-curve .out{fill:#56b4e9}
.vetro-curve .line{stroke:#56b4e9}
.vetro-curve .graph{stroke:#2fc99c}
.vetro-curve .kernel{stroke:#e3a0c6}
.vetro-curve .bad{fill:#ff8a3d;stroke:#ff8a3d}
.vetro-curve text.bad{fill:#ff8a3d;stroke:#0d1117}
}
</style>
)";

namespace {
/// What is drawn of each kind of error. A CSS class has its name.
enum class Mark { Accumulated, Output, Graph, Kernel };

struct LayerRun {
  int layer;
  size_t begin, end; ///< indices of points
};

/// From dB to pixels.
struct Scale {
  double low = 0, high = 100, step = 20; ///< of the ticks

  explicit Scale(const ErrorCurve &curve);
  double y(double snrDb) const;
};

class CurveWriter {
public:
  /// Both must outlive the writer.
  CurveWriter(const ErrorCurve &c, std::string &text) : curve(c), scale(c), out(text) {}
  void write();

private:
  double spacing() const {
    return (Right - Left) / double(std::max<size_t>(curve.points.size(), 1));
  }
  double x(size_t i) const { return Left + (double(i) + 0.5) * spacing(); }
  void text(double x, double y, StringRef anchor, StringRef words, StringRef style = "");
  void axes();
  void bands();
  void legend();
  void outputLine();
  void shape(Mark kind, double x, double y, bool passed, StringRef tooltip);
  void mark(size_t i, Mark kind, const CurveMark &mark);
  void marks(bool passed);
  void firstName();

  const ErrorCurve &curve;
  Scale scale;
  llvm::raw_string_ostream out;
};
} // namespace

/// The errors of a point that it has.
static llvm::SmallVector<const CurveMark *, 3> marksOf(const CurvePoint &point) {
  llvm::SmallVector<const CurveMark *, 3> all = {&point.accumulated};
  for (const auto *isolated : {&point.graph, &point.kernel})
    if (*isolated)
      all.push_back(&**isolated);
  return all;
}

static bool isOutput(StringRef name) { return ir::layerOf(name) >= 0 && name.ends_with(".l_out"); }

Scale::Scale(const ErrorCurve &curve) {
  double least = INFINITY, most = -INFINITY;
  auto add = [&](double snrDb) {
    if (std::isfinite(snrDb))
      least = std::min(least, snrDb), most = std::max(most, snrDb);
  };
  for (const CurvePoint &point : curve.points)
    for (const CurveMark *mark : marksOf(point))
      add(mark->snrDb);
  if (curve.floorDb)
    add(*curve.floorDb);
  if (least > most)
    return;
  step = 10;
  for (double wider : {20., 50., 100., 200., 500., 1000.})
    if ((most - least) / step > 8)
      step = wider;
  low = std::floor(least / step) * step;
  high = std::max(std::ceil(most / step) * step, low + step);
}

double Scale::y(double snrDb) const {
  if (snrDb == INFINITY)
    return EqualY;
  return snrDb >= low ? Bottom - (snrDb - low) / (high - low) * (Bottom - Top) : Bottom;
}

void CurveWriter::text(double x, double y, StringRef anchor, StringRef words, StringRef style) {
  out << formatv("<text class=\"{0}\" x=\"{1:F1}\" y=\"{2:F1}\" text-anchor=\"{3}\">{4}</text>\n",
                 style, x, y, anchor, html(words));
}

void CurveWriter::axes() {
  auto line = [&](double y, StringRef style) {
    out << formatv("<path class=\"{0}\" d=\"M{1:F1} {2:F1}H{3:F1}\"/>\n", style, Left, y, Right);
  };
  for (double db = scale.low; db <= scale.high; db += scale.step) {
    line(scale.y(db), "grid");
    text(Left - 8, scale.y(db) + 4, "end", formatv("{0:F0}", db).str(), "small");
  }
  line(EqualY, "grid");
  text(Left - 8, EqualY + 4, "end", "equal", "small");
  if (curve.floorDb) {
    line(scale.y(*curve.floorDb), "floor");
    text(Right, scale.y(*curve.floorDb) - 4, "end",
         formatv("floor {0:F0} dB", *curve.floorDb).str(), "small bad");
  }
  double middle = (EqualY + Bottom) / 2;
  out << formatv("<text transform=\"rotate(-90 18 {0:F1})\" x=\"18\" y=\"{0:F1}\" "
                 "text-anchor=\"middle\">signal-to-noise ratio, dB</text>\n",
                 middle);
  text((Left + Right) / 2, Bottom + 44, "middle",
       "values in the order of computation, by layer number");
}

/// Neighbours of one layer; outside layers it is -1.
static std::vector<LayerRun> layerRuns(llvm::ArrayRef<CurvePoint> points) {
  std::vector<LayerRun> runs;
  for (size_t i = 0; i < points.size(); ++i) {
    int layer = ir::layerOf(points[i].name);
    if (runs.empty() || runs.back().layer != layer)
      runs.push_back({layer, i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

void CurveWriter::bands() {
  double numbered = Left; // up to where numbers stand
  for (const LayerRun &run : layerRuns(curve.points)) {
    if (run.layer < 0)
      continue;
    double from = Left + double(run.begin) * spacing(), to = Left + double(run.end) * spacing();
    if (run.layer % 2 == 0)
      out << formatv("<rect class=\"band\" x=\"{0:F1}\" y=\"{1:F1}\" width=\"{2:F1}\" "
                     "height=\"{3:F1}\"/>\n",
                     from, EqualY, to - from, Bottom - EqualY);
    double half = 4 + 3.5 * double(std::to_string(run.layer).size()); // of the number's width
    if ((from + to) / 2 - half < numbered)
      continue;
    text((from + to) / 2, Bottom + 18, "middle", std::to_string(run.layer), "small");
    numbered = (from + to) / 2 + half;
  }
}

/// "blk.0.q_rope: graph 61.9 dB, 140 times its floor".
static std::string tooltipOf(StringRef name, Mark kind, const CurveMark &mark) {
  StringRef what = kind == Mark::Graph ? "graph" : kind == Mark::Kernel ? "kernel" : "accumulated";
  std::string snr = mark.snrDb == INFINITY ? " equal" : formatv(" {0:F1} dB", mark.snrDb).str();
  if (std::isnan(mark.snrDb))
    snr = " is no number";
  return (name + ": " + what + snr + (mark.note.empty() ? "" : ", ") + mark.note).str();
}

/// Dots for the accumulated error, diamonds and squares for the isolated ones.
void CurveWriter::shape(Mark kind, double x, double y, bool passed, StringRef tooltip) {
  StringRef bad = passed ? " bad" : "";
  double r = kind == Mark::Accumulated ? 1.8 : kind == Mark::Output ? 3 : 2.4;
  r += passed ? 1 : 0;
  StringRef element = "circle";
  switch (kind) {
  case Mark::Accumulated:
  case Mark::Output:
    out << formatv("<circle class=\"{0}{1}\" cx=\"{2:F1}\" cy=\"{3:F1}\" r=\"{4:F1}\"",
                   kind == Mark::Output ? "out" : "all", bad, x, y, r);
    break;
  case Mark::Graph:
    element = "path";
    r *= 1.4; // as large to the eye as the square
    out << formatv("<path class=\"graph{0}\" d=\"M{1:F1} {2:F1}l{3:F1} {3:F1} {4:F1} {3:F1} {4:F1} "
                   "{4:F1}z\"",
                   bad, x, y - r, r, -r);
    break;
  case Mark::Kernel:
    element = "rect";
    out << formatv("<rect class=\"kernel{0}\" x=\"{1:F1}\" y=\"{2:F1}\" width=\"{3:F1}\" "
                   "height=\"{3:F1}\"",
                   bad, x - r, y - r, 2 * r);
    break;
  }
  if (tooltip.empty())
    out << "/>\n";
  else
    out << "><title>" << html(tooltip) << "</title></" << element << ">\n";
}

void CurveWriter::mark(size_t i, Mark kind, const CurveMark &mark) {
  shape(kind, x(i), scale.y(mark.snrDb), mark.passed, tooltipOf(curve.points[i].name, kind, mark));
}

/// What passed its floor is drawn last, above all else.
void CurveWriter::marks(bool passed) {
  for (size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint &point = curve.points[i];
    if (point.graph && point.graph->passed == passed)
      mark(i, Mark::Graph, *point.graph);
    if (point.kernel && point.kernel->passed == passed)
      mark(i, Mark::Kernel, *point.kernel);
    if (point.accumulated.passed == passed)
      mark(i, isOutput(point.name) ? Mark::Output : Mark::Accumulated, point.accumulated);
  }
}

void CurveWriter::outputLine() {
  std::string path;
  for (size_t i = 0; i < curve.points.size(); ++i)
    if (isOutput(curve.points[i].name))
      path += formatv("{0}{1:F1} {2:F1}", path.empty() ? "M" : "L", x(i),
                      scale.y(curve.points[i].accumulated.snrDb))
                  .str();
  if (!path.empty())
    out << "<path class=\"line\" d=\"" << path << "\"/>\n";
}

/// At most 28 bytes; the tooltip has the whole name.
static std::string shortened(StringRef name) {
  size_t end = std::min<size_t>(name.size(), 28);
  while (end < name.size() && end && (uint8_t(name[end]) & 0xC0) == 0x80)
    --end; // not inside a UTF-8 character
  return name.take_front(end).str() + (end < name.size() ? "…" : "");
}

/// The first value that passed, above its mark; tooltips name the others.
void CurveWriter::firstName() {
  for (size_t i = 0; i < curve.points.size(); ++i) {
    auto marks = marksOf(curve.points[i]);
    auto *worst = llvm::find_if(marks, [](const CurveMark *mark) { return mark->passed; });
    if (worst == marks.end())
      continue;
    std::string name = shortened(curve.points[i].name);
    bool fits = x(i) + 7.0 * double(name.size()) < Right; // 7 pixels a letter, bold at 11 pixels
    text(fits ? x(i) - 5 : x(i) + 5, scale.y((*worst)->snrDb) - 11, fits ? "start" : "end", name,
         "small bad");
    return;
  }
}

void CurveWriter::legend() {
  bool isolated = llvm::any_of(curve.points, [](const auto &p) { return p.graph || p.kernel; });
  double at = Left + 6;
  auto item = [&](Mark kind, bool bad, StringRef words) {
    shape(kind, at, 46, bad, "");
    text(at + 9, 50, "start", words);
    at += 40 + 6.2 * double(words.size());
  };
  item(Mark::Output, false, "accumulated error, layer outputs joined");
  item(Mark::Accumulated, false, "of other values");
  if (isolated) {
    item(Mark::Graph, false, "graph error, isolated");
    item(Mark::Kernel, false, "kernel error, isolated");
  }
  if (llvm::any_of(curve.points, [](const CurvePoint &p) { return p.passed(); }))
    item(isolated ? Mark::Graph : Mark::Accumulated, true, "passes its floor");
}

void CurveWriter::write() {
  out << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"vetro-curve\" role=\"img\" "
                 "viewBox=\"0 0 {0} {1}\" aria-label=\"{2}\">\n",
                 Width, Height, html(curve.title))
      << Style;
  out << formatv("<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n", Width, Height);
  text(Left, 24, "start", curve.title, "title");
  legend();
  bands();
  axes();
  if (curve.points.empty())
    text((Left + Right) / 2, (EqualY + Bottom) / 2, "middle", "no values");
  outputLine();
  marks(/*passed=*/false);
  marks(/*passed=*/true);
  firstName();
  out << "</svg>\n";
}

std::string drawErrorCurve(const ErrorCurve &curve) {
  std::string text;
  CurveWriter(curve, text).write();
  return text;
}

} // namespace vetro::viz
