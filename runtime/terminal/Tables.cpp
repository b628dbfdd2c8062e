// Rows of a given width.
#include "runtime/terminal/Tables.h"

#include "llvm/ADT/STLExtras.h"

namespace vetro::terminal {

using screens::Cell;
using screens::Row;
using screens::Table;
using screens::Tone;

/// "████▌": eighths of a column.
static std::string barText(double share, unsigned width) {
  static constexpr const char *parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  unsigned eighths = unsigned(std::clamp(share, 0.0, 1.0) * width * 8 + 0.5);
  std::string text;
  for (unsigned i = 0; i < eighths / 8; ++i)
    text += "█";
  return text + parts[eighths % 8];
}

static constexpr unsigned barWidth = 16;

static std::string cellText(const Cell &cell) {
  return cell.bar >= 0 && cell.text.empty() ? barText(cell.bar, barWidth) : cell.text;
}

static std::vector<unsigned> widthsOf(const Table &table) {
  std::vector<unsigned> widths;
  auto measure = [&](const Row &row) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].bar >= 0 ? barWidth : columns(row[i].text));
  };
  measure(table.header);
  for (const Row &row : table.rows)
    measure(row);
  return widths;
}

static Line rowLine(const Row &row, llvm::ArrayRef<unsigned> widths, bool chosen, unsigned width) {
  Line line = {{chosen ? "> " : "  ", {}}};
  for (size_t i = 0; i < row.size(); ++i) {
    std::string text = cellText(row[i]);
    std::string pad(widths[i] - std::min(widths[i], columns(text)), ' ');
    line.push_back({(row[i].right ? pad + text : text + pad) + (i + 1 < row.size() ? "  " : ""),
                    {row[i].tone, chosen}});
  }
  return exactly(std::move(line), width);
}

/// A row as a paragraph: "min -3.1   max 4.2".
static std::vector<Line> flowLines(const Table &table, const Row &row, bool chosen,
                                   unsigned width) {
  std::vector<Span> spans;
  for (size_t i = 0; i < row.size(); ++i) {
    if (cellText(row[i]).empty())
      continue;
    if (i > 0 && i < table.header.size() && !table.header[i].text.empty())
      spans.push_back({table.header[i].text + " ", {Tone::Dim, false}});
    spans.push_back({cellText(row[i]) + "   ", {row[i].tone, chosen && i == 0}});
  }
  std::vector<Line> lines = paragraph(spans, width - 4);
  for (size_t i = 0; i < lines.size(); ++i)
    lines[i].insert(lines[i].begin(), {i > 0 ? "    " : chosen ? "> " : "  ", {}});
  return lines;
}

static const char *shadeText(double shade) {
  static constexpr const char *levels[] = {"·", "░", "▒", "▓", "█"};
  return shade < 0 ? " " : levels[std::min(4, int(shade * 5))];
}

std::vector<Line> mapLines(const Table &map, unsigned width) {
  std::vector<Line> lines;
  unsigned label = 3, most = 0;
  for (const Row &row : map.rows)
    most = std::max(most, unsigned(row.size()));
  unsigned each = label + 2 + 2 * most <= width ? 2 : 1; // columns of a cell
  for (const Row &row : map.rows) {
    bool here = llvm::any_of(row, [](const Cell &c) { return c.tone == Tone::Accent; });
    std::string number = row.empty() ? "" : row[0].text;
    number.insert(0, label - std::min<size_t>(label, number.size()), ' ');
    Line line = {{(here ? ">" : " ") + number + " ", {here ? Tone::Accent : Tone::Dim, false}}};
    for (const Cell &cell : llvm::ArrayRef(row).drop_front()) {
      bool chosen = cell.tone == Tone::Accent;
      for (unsigned i = 0; i < each; ++i)
        line.push_back({shadeText(cell.shade), {cell.tone, chosen}});
    }
    lines.push_back(exactly(std::move(line), width));
  }
  return lines;
}

static void addTable(const Table &table, unsigned width, size_t chosen, std::vector<Line> &lines,
                     size_t &chosenLine) {
  if (!table.title.empty())
    lines.push_back({{fit(table.title, width), {Tone::Strong, false}}});
  if (table.isMap)
    return llvm::append_range(lines, mapLines(table, width));
  std::vector<unsigned> widths = widthsOf(table);
  unsigned needed = 2;
  for (unsigned w : widths)
    needed += w + 2;
  bool flows = needed > width + 2;
  if (!flows && !table.header.empty())
    lines.push_back(rowLine(table.header, widths, false, width));
  for (auto [i, row] : llvm::enumerate(table.rows)) {
    bool isChosen = table.chooses && i == chosen;
    if (isChosen)
      chosenLine = lines.size();
    if (flows)
      llvm::append_range(lines, flowLines(table, row, isChosen, width));
    else
      lines.push_back(rowLine(row, widths, isChosen, width));
  }
}

std::vector<Line> tableLines(llvm::ArrayRef<Table> tables, unsigned width, size_t chosen,
                             size_t &chosenLine) {
  std::vector<Line> lines;
  for (const Table &table : tables) {
    if (!lines.empty())
      lines.emplace_back();
    addTable(table, width, chosen, lines, chosenLine);
  }
  return lines;
}

} // namespace vetro::terminal
