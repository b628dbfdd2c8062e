// Screens as data.
#include "runtime/screens/Screen.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <utf8proc.h>

namespace vetro::screens {

/// Whether a code point is drawn by itself and leaves what is around it where it is.
static bool isDrawn(utf8proc_int32_t c) {
  switch (utf8proc_category(c)) {
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CO:
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  default:
    return true;
  }
}

static std::string escaped(utf8proc_int32_t c) {
  switch (c) {
  case '\n':
    return "\\n";
  case '\t':
    return "\\t";
  case '\r':
    return "\\r";
  default:
    return llvm::formatv("\\u{{{0}}", llvm::utohexstr(uint64_t(c), /*LowerCase=*/true)).str();
  }
}

std::string shown(llvm::StringRef text) {
  std::string out;
  auto *at = reinterpret_cast<const utf8proc_uint8_t *>(text.data());
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t c;
    utf8proc_ssize_t n = utf8proc_iterate(at + i, utf8proc_ssize_t(text.size() - i), &c);
    if (n <= 0) {
      out += "\\x" + llvm::utohexstr(uint8_t(text[i]), true, 2);
      ++i;
      continue;
    }
    out += isDrawn(c) ? text.substr(i, size_t(n)).str() : escaped(c);
    i += size_t(n);
  }
  return out;
}

template <typename Each> static void forEachCell(const Screen &screen, Each each) {
  auto row = [&](const Row &cells) {
    for (const Cell &cell : cells)
      each(cell);
  };
  row(screen.sentence);
  auto table = [&](const Table &t) {
    row(t.header);
    for (const Row &cells : t.rows)
      row(cells);
  };
  llvm::for_each(screen.tables, table);
  table(screen.map);
}

static Json dataJson(const std::vector<Datum> &data) {
  Json list = Json::array();
  for (const Datum &d : data)
    list.push_back({{"name", d.name}, {"index", d.index}, {"value", d.value}});
  return list;
}

Json dataOf(const Screen &screen) {
  Json list = Json::array();
  forEachCell(screen, [&](const Cell &cell) {
    for (Json &datum : dataJson(cell.data))
      list.push_back(std::move(datum));
  });
  return list;
}

Json toJson(const Cell &cell) {
  static constexpr const char *tones[] = {"plain", "dim", "strong", "good", "bad", "accent"};
  Json json = {{"text", cell.text}};
  if (cell.tone != Tone::Plain)
    json["tone"] = tones[int(cell.tone)];
  if (cell.right)
    json["right"] = true;
  if (cell.shade >= 0)
    json["shade"] = cell.shade;
  if (cell.bar >= 0)
    json["bar"] = cell.bar;
  if (!cell.data.empty())
    json["data"] = dataJson(cell.data);
  if (!cell.target.empty())
    json["target"] = cell.target;
  return json;
}

static Json rowJson(const Row &row) {
  Json cells = Json::array();
  for (const Cell &cell : row)
    cells.push_back(toJson(cell));
  return cells;
}

Json toJson(const Table &table) {
  Json rows = Json::array();
  for (const Row &row : table.rows)
    rows.push_back(rowJson(row));
  return {{"title", table.title},
          {"header", rowJson(table.header)},
          {"rows", rows},
          {"chooses", table.chooses},
          {"map", table.isMap}};
}

Json toJson(const Screen &screen) {
  Json tables = Json::array();
  for (const Table &table : screen.tables)
    tables.push_back(toJson(table));
  return {{"step", screen.step},
          {"title", screen.title},
          {"sentence", rowJson(screen.sentence)},
          {"tables", tables},
          {"map", toJson(screen.map)}};
}

} // namespace vetro::screens
