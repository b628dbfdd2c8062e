// What a Python object of a model holds.
#pragma once

#include "runtime/engine/Model.h"

#include <mutex>

namespace vetro::python {

/// A model and the lock that its sessions compute under: they share its threads.
struct Handle {
  std::shared_ptr<const Model> model;
  std::recursive_mutex computing; ///< recursive: a callback of a computation may compute
};

} // namespace vetro::python
