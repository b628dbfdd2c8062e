// The table of the sixteen steps.
#include "runtime/screens/Cycle.h"
#include "runtime/screens/Draw.h"

namespace vetro::screens {

llvm::ArrayRef<CycleStep> cycle() {
  static constexpr CycleStep steps[] = {
      {1, "machine", "load", drawMachine},
      {2, "file", "load", drawFile},
      {3, "architecture", "load", drawArchitecture},
      {4, "parameters", "load", drawParameters},
      {5, "vocabulary", "load", drawVocabulary},
      {6, "tensors", "load", drawTensors},
      {7, "context", "load", drawContext},
      {8, "prompt", "tokenize", drawPrompt},
      {9, "tokenize", "tokenize", drawTokenize},
      {10, "batch", "batch", drawBatch},
      {11, "embed", "layers", drawEmbed},
      {12, "micro-batch", "batch", drawMicroBatches},
      {13, "compute", "layers", drawCompute},
      {14, "logits", "logits", drawLogits},
      {15, "sample", "sample", drawSample},
      {16, "text", "text", drawText},
  };
  return steps;
}

llvm::Expected<Screen> draw(Recording &recording, const Place &place) {
  const CycleStep &step = cycle()[place.step - 1];
  bool runs = place.token < recording.nRun();
  // Of the token that was drawn last the batch's screen says why there is nothing.
  auto screen = (place.step == 11 || place.step == 13) && !runs ? drawBatch(recording, place)
                                                                : step.draw(recording, place);
  if (screen) {
    screen->step = place.step;
    screen->title = std::to_string(step.number) + " " + step.name;
  }
  return screen;
}

std::string placeText(const Recording &recording, const Place &place) {
  std::string words = std::to_string(place.step);
  if (place.step == 13)
    words += " " + opName(recording.document(), place.op);
  return words + " token " + std::to_string(place.token);
}

llvm::Expected<Place> readPlace(const Recording &recording, llvm::StringRef words, Place place) {
  const Json &d = recording.document();
  place.row = 0, place.inside = false, place.tab = Tab::Values;
  llvm::SmallVector<llvm::StringRef> parts;
  words.split(parts, ' ', -1, /*KeepEmpty=*/false);
  for (size_t i = 0; i < parts.size(); ++i) {
    size_t number;
    bool isNumber = !parts[i].getAsInteger(10, number);
    if (parts[i] == "token" && i + 1 < parts.size() && !parts[i + 1].getAsInteger(10, number)) {
      if (number >= d["tokens"].size())
        return llvm::createStringError("there is no token %zu: the last one is %zu", number,
                                       d["tokens"].size() - 1);
      place.token = number, ++i;
    } else if (isNumber && number >= 1 && number <= cycle().size()) {
      place.step = unsigned(number);
    } else if (auto op = opWith(d, parts[i])) {
      place.step = 13, place.op = *op;
    } else {
      return llvm::createStringError("there is no place " + shown(words) +
                                     ": expected a step from 1 to 16, a value's name, token N");
    }
  }
  return place;
}

} // namespace vetro::screens
