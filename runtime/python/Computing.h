// While C++ computes for Python: other Python threads run, one of them computes with a model at a
// time, and Ctrl-C reaches both sides.
#pragma once

#include "runtime/python/Handle.h"

#include <nanobind/nanobind.h>

namespace vetro::python {

/// Gives the GIL away, waits for the model and, on Python's main thread, takes Ctrl-C as the
/// engine's flag. Made and destroyed with the GIL held.
class Computing {
public:
  explicit Computing(std::recursive_mutex &model);
  ~Computing();
  Computing(const Computing &) = delete;
  Computing &operator=(const Computing &) = delete;

private:
  bool watches; ///< for Ctrl-C
  std::unique_lock<std::recursive_mutex> owns;
  PyThreadState *state;
};

/// Computes with a model as Computing says. A Ctrl-C meanwhile goes to Python's handler afterwards:
/// it throws KeyboardInterrupt or whatever the program has set.
template <typename Function> auto compute(std::recursive_mutex &model, Function function) {
  auto result = [&] {
    Computing computing(model);
    return function();
  }();
  if (PyErr_CheckSignals())
    throw nanobind::python_error();
  return result;
}

} // namespace vetro::python
