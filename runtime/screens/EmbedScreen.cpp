// Step 11: a row of the embedding, from the bytes of its blocks to floats.
#include "runtime/abi/Dequantize.h"
#include "runtime/screens/Draw.h"

namespace vetro::screens {

/// The step that reads the embedding: the first one with a weight.
static size_t embedOp(const Json &d) {
  for (size_t i = 0; i < d["steps"].size(); ++i)
    if (!d["steps"][i]["weights"].empty())
      return i;
  return 0;
}

Table blockTable(const gguf::File &file, const gguf::TensorInfo &tensor, uint64_t row,
                 size_t block) {
  const FormatInfo &info = formatInfo(tensor.format);
  const BlockReader &reader = blockReaders[unsigned(tensor.format)];
  const uint8_t *bytes = file.data(tensor).data() + row * rowBytes(tensor.format, tensor.ne[0]) +
                         block * info.blockBytes;
  size_t first = block * info.blockLen;
  Table table{"block " + std::to_string(block) + " of " + shown(tensor.name) + ", " + info.name +
                  ": " + std::to_string(info.blockBytes) + " bytes for " +
                  std::to_string(info.blockLen) + " numbers",
              {heading("element", true), heading("scale", true), heading("code", true),
               heading("offset", true), heading("number", true)}};
  std::vector<float> numbers(info.blockLen);
  reader.dequantize(bytes, numbers.data());
  for (unsigned i = 0; i < info.blockLen; ++i) {
    BlockValue v = reader.value(bytes, int(i));
    std::string at = std::to_string(row) + "," + std::to_string(first + i);
    table.rows.push_back({{std::to_string(first + i), Tone::Dim, true},
                          number(tensor.name, at + ".scale", v.scale),
                          number(tensor.name, at + ".code", v.code),
                          reader.hasOffset ? number(tensor.name, at + ".offset", v.offset) : Cell(),
                          number(tensor.name, at, numbers[i])});
    table.rows.back().back().tone = Tone::Strong;
  }
  return table;
}

Drawn drawEmbed(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  const Json &step = d["steps"][embedOp(d)];
  std::string weight = step["weights"].empty() ? "" : step["weights"][0].get<std::string>();
  s.sentence = {text("Token "),
                fact(d, pointer("tokens", place.token, "id"), Tone::Strong),
                text(" ("),
                fact(d, pointer("tokens", place.token, "piece"), Tone::Strong),
                text(") becomes row "),
                fact(d, pointer("tokens", place.token, "id")),
                text(" of " + weight + ": "),
                keyFact(d, "embedding_length"),
                text(" numbers, which all layers will add to.")};
  std::vector<std::string> names;
  for (const Json &name : step["values"])
    names.push_back(name);
  auto values = r.values(place.token, names);
  if (!values)
    return values.takeError();
  Table table{"what the step wrote", valueHeader()};
  for (const HookValue &value : *values)
    table.rows.push_back(valueRow(value));
  s.tables = {table};
  const gguf::TensorInfo *tensor = r.model() ? r.model()->file().findTensor(weight) : nullptr;
  if (tensor && tensor->supported && canDequantize(tensor->format)) {
    size_t nBlocks = tensor->ne[0] / formatInfo(tensor->format).blockLen;
    Table blocks{"blocks of the row", {heading("block", true), heading("first number", true)}};
    blocks.chooses = true;
    for (size_t i = 0; i < nBlocks; ++i)
      blocks.rows.push_back(
          {{std::to_string(i), Tone::Plain, true},
           {std::to_string(i * formatInfo(tensor->format).blockLen), Tone::Dim, true}});
    uint64_t row = d["tokens"][place.token]["id"];
    s.tables.push_back(blocks);
    s.tables.push_back(
        blockTable(r.model()->file(), *tensor, row, std::min(place.row, nBlocks - 1)));
  } else {
    s.tables.push_back({"blocks",
                        {},
                        {{text("the bytes of the row are in the model's file: open the trace "
                               "with --model to see them",
                               Tone::Dim)}}});
  }
  return s;
}

} // namespace vetro::screens
