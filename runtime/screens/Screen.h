// What a viewer shows, as plain data: text in cells, and beside each cell what it is a picture of.
// The terminal and the page draw the same screens, and a test holds every cell against the trace.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vetro::screens {

using Json = nlohmann::ordered_json;

/// Where a shown number or text comes from. Of the trace's document `name` is "trace.json" and
/// `index` a JSON pointer, "/tokens/3/id"; of a value at a token `name` is the value's,
/// "blk.3.q_rope", and `index` a place of its row, "17", or what was counted over the row: "rms".
struct Datum {
  std::string name, index;
  Json value;
};

enum class Tone { Plain, Dim, Strong, Good, Bad, Accent };

struct Cell {
  std::string text = {}; ///< safe to print: see shown()
  Tone tone = Tone::Plain;
  bool right = false; ///< stands at the right of its column: numbers
  double shade = -1;  ///< 0 to 1: how dark; negative: no shade
  double bar = -1;    ///< 0 to 1: how much of the column is filled; negative: no bar
  std::vector<Datum> data = {};
  std::string target = {}; ///< name of the value that choosing this cell leads to; empty: nothing
};

using Row = std::vector<Cell>;

struct Table {
  std::string title = {};
  Row header = {}; ///< empty: none
  std::vector<Row> rows = {};
  bool chooses = false; ///< the cursor walks its rows
  bool isMap = false;   ///< cells are shades side by side
};

struct Screen {
  unsigned step = 1; ///< of the sixteen
  std::string title; ///< "13 compute"
  Row sentence;      ///< one sentence with this model's numbers, cell after cell
  std::vector<Table> tables;
  Table map; ///< of step 13: layers by values; else without rows
};

/// Text from a file, safe to show: control characters, marks that turn the direction of writing,
/// and bytes that are no UTF-8 become \n, \u{202e}, \xff.
std::string shown(llvm::StringRef text);

/// Everything that a screen shows, in order: [{"name", "index", "value"}].
Json dataOf(const Screen &screen);
/// The whole screen, a table, a cell: what the page draws.
Json toJson(const Screen &screen);
Json toJson(const Table &table);
Json toJson(const Cell &cell);

} // namespace vetro::screens
