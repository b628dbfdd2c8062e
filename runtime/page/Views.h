// What the page shows, view by view, as JSON: the sixteen screens as they are, and the pictures
// that a terminal has no room for. Numbers stand as cells (runtime/screens/Screen.h) or as lists
// beside which stand the names and places that they belong to.
#pragma once

#include "runtime/screens/Draw.h"
#include "runtime/screens/Stepper.h"

#include <map>

namespace vetro::page {

using Json = nlohmann::ordered_json;

/// What the page asks for: "tensor" of {"name": "blk.3.q", "token": "5"}.
struct Request {
  std::string view;
  std::map<std::string, std::string> args;

  /// "tensor?name=blk.3.q&token=5", arguments by name; nothing is encoded. It is what an exported
  /// page finds its answers by.
  std::string key() const;
  /// An argument; empty: it was not given.
  std::string text(llvm::StringRef arg) const;
  /// A whole number below `limit`; not given: 0. Error: it is none.
  llvm::Expected<size_t> number(llvm::StringRef arg, size_t limit) const;
};

/// Answers what a page asks of one recording.
class Viewer {
public:
  /// `stepper` must outlive it.
  explicit Viewer(screens::Stepper &stepper) : stepper(stepper) {}

  /// Errors: no such view, an argument that is none, what computing values refuses.
  llvm::Expected<Json> answer(const Request &request);
  /// Edits a value (runtime/engine/Edit.h) at a token and runs again. Errors: what editing refuses.
  llvm::Error edit(size_t token, llvm::StringRef text);
  /// Takes the last edit back. Error: there is none.
  llvm::Error undo();

  screens::Stepper &walk() { return stepper; }
  Recording &recording() { return stepper.recording(); }
  const Json &document() { return recording().document(); }
  /// What the run was compared with; null: nothing.
  const Json &diff() { return recording().comparison(); }

private:
  screens::Stepper &stepper;
};

using Answer = llvm::Expected<Json>;
using View = Answer(Viewer &, const Request &);

// One function a view; each says in the comment which arguments it takes.
View aboutView;    ///< none: the run's frame, from which the page is built
View screenView;   ///< step, token, op, inside, tab, pass, row: one of the sixteen screens
View diffView;     ///< none: the comparison
View flowView;     ///< op: the steps that it reads from, and those that read it
View mapView;      ///< token, inside: layers by values
View tensorView;   ///< token, name, pool: heat map, histogram, shapes
View sliceView;    ///< token, name, at: numbers from a place on
View headsView;    ///< token, name: each head's attention to each position
View triangleView; ///< name, head: one head's attention at each token
View weightView;   ///< name, row, block: the bytes of a weight's block and what they stand for
View lensView;     ///< token: what each layer would say
View funnelView;   ///< token: the sampler's stages, and the fate of each likely candidate
View whyView;      ///< token, piece: the fate of any piece
View irView;       ///< layer, pass: a layer's ops before and after a pass
View rewritesView; ///< layer, pass: what the pass did there, with its source
View graphView;    ///< layer, stage, beside: the drawing of a layer, with "time" or "bytes" beside

/// Numbers as the page reads them: base64 of little-endian f32.
std::string packed(llvm::ArrayRef<float> numbers);
/// The number of the layer that a name belongs to ("blk.3.q": 3); -1: none.
int64_t layerOf(llvm::StringRef name);
/// A value at a token. Errors: it cannot be seen there; what computing refuses.
llvm::Expected<HookValue> valueAt(Viewer &viewer, size_t token, const std::string &name);

} // namespace vetro::page
