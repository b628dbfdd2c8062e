// Tables of choices, such as which experts compute for a token: ids, best first.
//
//   scores 0.3 0.3 0.1, bound 0: [0, 1] and [1, 0] are both right, [0, 2] is not.
#pragma once

#include "compiler/reference/Bounds.h"

namespace vetro {

/// Between scores whose bounds overlap a choice may fall either way. Where `theirs` chooses another
/// place than `ours`, and both have such scores, theirs becomes ours; a row of theirs that names a
/// place twice, or one that there is not, is left as it is. How many choices were such ties.
/// `scores` [rows, places], choices [rows, chosen].
uint64_t settleTies(const ref::Bounded &scores, const ref::Tensor &theirs, ref::Tensor &ours);

} // namespace vetro
