// The sixteen steps of a token's cycle, from file to text, and the screen of each.
#pragma once

#include "runtime/engine/Recording.h"
#include "runtime/screens/Screen.h"

namespace vetro::screens {

/// What of an op is looked at.
enum class Tab { Values, Heads, Ir, Assembly };

/// What the cells of the layer map are shaded by.
enum class Metric { Rms, AbsMax, Time, Difference };
/// Each with the map's title, in this order.
llvm::ArrayRef<std::pair<Metric, const char *>> metrics();

/// Where one is in a recording.
struct Place {
  unsigned step = 1;   ///< of the cycle, 1 to 16
  size_t token = 0;    ///< its position
  size_t op = 0;       ///< step of the plan that is looked at
  bool inside = false; ///< the values that the op swallowed are shown too
  Tab tab = Tab::Values;
  size_t pass = 0; ///< of the compiler, whose text Tab::Ir shows: an index of the document's passes
  size_t row = 0;  ///< where the cursor stands in the table that chooses
  Metric metric = Metric::Rms;

  friend bool operator==(const Place &, const Place &) = default;
};

/// A step of the cycle.
struct CycleStep {
  unsigned number;   ///< 1 to 16
  const char *name;  ///< "tokenize"
  const char *group; ///< "tokenize": the token's seven stages, and "load" before them
  llvm::Expected<Screen> (*draw)(Recording &, const Place &);
};

/// All sixteen, in order.
llvm::ArrayRef<CycleStep> cycle();

/// The screen of a place. Errors: what computing the values that it shows refuses.
llvm::Expected<Screen> draw(Recording &recording, const Place &place);

/// The text of a place that readPlace() reads: "13 blk.3.q_rope token 7".
std::string placeText(const Recording &recording, const Place &place);
/// What it does not say is as in `from`. Error: a step, a token or a value that is not there.
llvm::Expected<Place> readPlace(const Recording &recording, llvm::StringRef text, Place from);

/// Whether a list of the document has this text.
bool listHas(const Json &list, llvm::StringRef text);
/// The step of the plan that computes a value or has it inside; none: no such value.
std::optional<size_t> opWith(const Json &document, llvm::StringRef name);
/// What one calls a step of the plan: its name, or where it has none that of what it reads.
std::string opName(const Json &document, size_t op);
/// The name of the probabilities of each head that a step computed; empty: it has no heads.
std::string headsOf(const Json &document, size_t op);
/// The layer of a step of the plan, from its name; -1: none.
int64_t layerOf(const Json &document, size_t op);

} // namespace vetro::screens
