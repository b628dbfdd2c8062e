// The sixteen screens, one function each; Cycle.cpp has the table.
#pragma once

#include "runtime/screens/Cells.h"
#include "runtime/screens/Cycle.h"

namespace vetro::screens {

using Drawn = llvm::Expected<Screen>;

Drawn drawMachine(Recording &, const Place &);
Drawn drawFile(Recording &, const Place &);
Drawn drawArchitecture(Recording &, const Place &);
Drawn drawParameters(Recording &, const Place &);
Drawn drawVocabulary(Recording &, const Place &);
Drawn drawTensors(Recording &, const Place &);
Drawn drawContext(Recording &, const Place &);
Drawn drawPrompt(Recording &, const Place &);
Drawn drawTokenize(Recording &, const Place &);
Drawn drawBatch(Recording &, const Place &);
Drawn drawEmbed(Recording &, const Place &);
Drawn drawMicroBatches(Recording &, const Place &);
Drawn drawCompute(Recording &, const Place &);
Drawn drawLogits(Recording &, const Place &);
Drawn drawSample(Recording &, const Place &);
Drawn drawText(Recording &, const Place &);

/// Tabs of drawCompute.
llvm::Error addValues(Recording &, const Place &, Screen &);
llvm::Error addIr(Recording &, const Place &, Screen &);
llvm::Error addAssembly(Recording &, const Place &, Screen &);
llvm::Error addHeads(Recording &, const Place &, Screen &);

/// Layers by values: a cell for each value of each layer that ran, shaded by the place's metric.
/// Its cells lead to their values.
llvm::Expected<Table> layerMap(Recording &, const Place &);

/// Elements of one block of a weight's row: scale, code and offset make the number. The format can
/// be dequantised, and row and block are there.
Table blockTable(const gguf::File &file, const gguf::TensorInfo &tensor, uint64_t row,
                 size_t block);

/// The trace's file with the module after a pass: that of the last one up to it that changed it;
/// and before it.
std::string irAfter(const Json &document, size_t pass);
std::string irBefore(const Json &document, size_t pass);

/// "/tokens/7" and such.
std::string pointer(llvm::StringRef list, size_t i, llvm::StringRef field = "");
/// A column of names and one of facts.
struct Facts {
  Table table;
  explicit Facts(llvm::StringRef title) { table.title = title.str(); }
  Facts &add(llvm::StringRef name, Cell cell, Cell more = {}) {
    cell.right = false;
    table.rows.push_back({text(name, Tone::Dim), std::move(cell), std::move(more)});
    return *this;
  }
};

/// The document's key "ARCHITECTURE.suffix", as an index of /model/metadata; none: -1.
int64_t keyIndex(const Json &document, llvm::StringRef suffix);
/// Its value.
Cell keyFact(const Json &document, llvm::StringRef suffix);

} // namespace vetro::screens
