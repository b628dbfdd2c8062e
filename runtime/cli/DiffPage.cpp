// The page of `vetro diff --html`.
#include "runtime/cli/DiffPage.h"
#include "runtime/cli/Findings.h"
#include "viz/Label.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using llvm::formatv;
using llvm::StringRef;

namespace vetro::cli {

std::map<std::string, std::vector<std::string>> namesByTransform(const DiffReport &report) {
  std::map<std::string, std::vector<std::string>> byTransform;
  for (const DiffRow &row : report.rows)
    if (!row.transforms.empty())
      byTransform[llvm::join(row.transforms, ", ")].push_back(row.name);
  return byTransform;
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t d : shape)
    text += (text.size() > 1 ? "," : "") + std::to_string(d);
  return text + "]";
}

// ---- the curve ----

static std::optional<viz::CurveMark> isolatedMark(const std::optional<Proof> &proof) {
  if (!proof)
    return {};
  return viz::CurveMark{snrDb(proof->nmse), proof->worst > 1,
                        formatv("{0} times its floor", significant(proof->worst))};
}

viz::ErrorCurve curveOf(const DiffReport &report, std::string title,
                        std::optional<double> floorDb) {
  viz::ErrorCurve curve{std::move(title), {}, floorDb};
  for (const DiffRow &row : report.rows) {
    double snrDb = row.difference.snrDb();
    curve.points.push_back(
        {row.name,
         {snrDb, floorDb && !(snrDb >= *floorDb), "max abs " + significant(row.difference.maxAbs)},
         isolatedMark(row.graph),
         isolatedMark(row.kernel)});
  }
  return curve;
}

// ---- the page ----

constexpr llvm::StringLiteral Head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>vetro diff</title>
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1120px;margin:2rem auto;padding:0 1rem;
 color:#1f2328;background:#fff}
h1{font-size:1.5rem;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .5rem}
code,pre,.name{font-family:ui-monospace,monospace;font-size:.92em}
pre{padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere;background:#8881}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}
dt{opacity:.75}
dd{margin:0;overflow-wrap:anywhere}
svg{width:100%;height:auto}
.table{overflow-x:auto}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
th{position:sticky;top:0;background:#fff;text-align:right;vertical-align:bottom}
th,td{padding:.15rem .6rem;border-bottom:1px solid #8884;white-space:nowrap}
td{text-align:right}
th.name,td.name{text-align:left}
td.name{white-space:normal;overflow-wrap:anywhere;min-width:11em}
th button{all:unset;cursor:pointer}
th button:focus-visible{outline:2px solid}
th[aria-sort=ascending] button:after{content:" \25B2"}
th[aria-sort=descending] button:after{content:" \25BC"}
tr.bad{background:#d55e0022}
.bad b{color:#b34700}
@media (prefers-color-scheme:dark){
body{color:#e6edf3;background:#0d1117}
th{background:#0d1117}
.bad b{color:#ff8a3d}
}
</style>
</head>
<body>
)";

/// Headings become buttons only where the script runs; numbers sort by data-v, "equal" is largest.
constexpr llvm::StringLiteral Sort = R"(<script>
for (const th of document.querySelectorAll("th")) {
  const button = document.createElement("button");
  button.textContent = th.textContent;
  th.replaceChildren(button);
  button.onclick = () => {
    const up = th.ariaSort !== "ascending", body = document.querySelector("tbody");
    const key = row => row.cells[th.cellIndex].dataset.v ?? row.cells[th.cellIndex].textContent;
    const number = key(body.rows[0]) !== "" && !isNaN(key(body.rows[0]));
    const order = (a, b) => number ? a - b : a.localeCompare(b, "en", {numeric: true});
    const rows = [...body.rows].sort((a, b) => order(key(a), key(b)));
    body.append(...(up ? rows : rows.reverse()));
    for (const other of document.querySelectorAll("th")) other.removeAttribute("aria-sort");
    th.ariaSort = up ? "ascending" : "descending";
  };
}
</script>
)";

static void writeVerdict(llvm::raw_ostream &out, const DiffReport &report) {
  if (!report.first) {
    out << "<h1>Nothing passes its floor</h1>\n";
    return;
  }
  out << "<h1 class=\"bad\"><b>" << viz::html(report.first->name) << "</b> is wrong first ("
      << viz::html(verdictOf(*report.first)) << ")</h1>\n<dl>\n";
  for (const auto &[what, text] : detailsOf(*report.first))
    out << "<dt>" << what << "</dt><dd><code>" << viz::html(text) << "</code></dd>\n";
  out << "</dl>\n";
  if (StringRef advice = adviceFor(report.first->kind); !advice.empty())
    out << "<p>" << viz::html(advice) << ".</p>\n";
}

/// A figure with the number that it is sorted by.
static std::string cell(double sortedBy, const std::string &text, bool bad = false) {
  std::string key = std::isfinite(sortedBy) ? formatv("{0:E6}", sortedBy).str()
                    : sortedBy > 0          ? "1e999"
                                            : "-1e999";
  return formatv("<td data-v=\"{0}\">{1}</td>", key,
                 bad ? "<b>" + viz::html(text) + " !</b>" : viz::html(text));
}

static std::string ratioCell(const std::optional<Proof> &proof) {
  if (!proof)
    return cell(-1, "-");
  return cell(proof->worst, significant(proof->worst), proof->worst > 1);
}

static void writeRow(llvm::raw_ostream &out, size_t i, const DiffRow &row, bool bad) {
  const Difference &d = row.difference;
  std::string place;
  for (int64_t at : placeOf(row.shape, d.maxAt))
    place += (place.empty() ? "" : ",") + std::to_string(at);
  out << (bad ? "<tr class=\"bad\">" : "<tr>") << cell(double(i), std::to_string(i))
      << "<td class=\"name\">" << viz::html(row.name) << "</td><td class=\"name\">"
      << shapeText(row.shape) << "</td>" << cell(d.snrDb(), decibels(d.snrDb()))
      << cell(d.maxAbs, significant(d.maxAbs)) << "<td>" << (d.equal() ? "" : place) << "</td>"
      << cell(d.cosine, formatv("{0:F6}", d.cosine))
      << cell(double(d.worstRow), d.worstRow < 0 ? "-" : std::to_string(d.worstRow))
      << cell(double(d.nonFinite), std::to_string(d.nonFinite)) << ratioCell(row.graph)
      << ratioCell(row.kernel) << "<td class=\"name\">" << viz::html(row.label) << "</td></tr>\n";
}

static void writeRows(llvm::raw_ostream &out, const DiffReport &report,
                      const viz::ErrorCurve &curve) {
  out << "<h2>All values</h2>\n<p>In the order of computation. Graph and kernel are isolated "
         "errors "
         "as multiples of their floor; above 1 an error is no rounding.</p>\n"
         "<div class=\"table\"><table>\n<thead><tr><th>#</th><th class=\"name\">value</th>"
         "<th class=\"name\">shape</th><th>SNR, dB</th><th>max abs</th><th>at</th><th>cosine</th>"
         "<th>worst row</th><th>not finite</th><th>graph</th><th>kernel</th>"
         "<th class=\"name\">label</th></tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < report.rows.size(); ++i)
    writeRow(out, i, report.rows[i], curve.points[i].passed());
  out << "</tbody></table></div>\n";
  for (const DiffRow &row : report.rows)
    if (row.logits)
      out << "<p>" << viz::html(logitsText(*row.logits)) << "</p>\n";
}

static void writeNames(llvm::raw_ostream &out, const llvm::Twine &title,
                       const std::vector<std::string> &names) {
  if (names.empty())
    return;
  out << "<h2>" << viz::html(title.str()) << " (" << names.size() << ")</h2>\n<p class=\"name\">";
  for (size_t i = 0; i < names.size(); ++i)
    out << (i ? ", " : "") << viz::html(names[i]);
  out << "</p>\n";
}

void writeDiffPage(llvm::raw_ostream &out, const DiffReport &report, const viz::ErrorCurve &curve,
                   StringRef command) {
  out << Head;
  writeVerdict(out, report);
  out << "<h2>How the error grows</h2>\n" << viz::drawErrorCurve(curve);
  writeRows(out, report, curve);
  for (const auto &[transform, names] : namesByTransform(report))
    writeNames(out, "Of the reference brought to our layout by " + transform, names);
  writeNames(out, "Only in ours", report.oursOnly);
  writeNames(out, "Only in the reference", report.referenceOnly);
  if (!report.notes.empty()) {
    out << "<h2>Notes</h2>\n<ul>\n";
    for (const std::string &note : report.notes)
      out << "<li>" << viz::html(note) << "</li>\n";
    out << "</ul>\n";
  }
  out << "<h2>Made by</h2>\n<pre>" << viz::html(command) << "</pre>\n"
      << Sort << "</body></html>\n";
}

} // namespace vetro::cli
