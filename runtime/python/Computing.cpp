// The GIL, the model's lock, and SIGINT.
#include "runtime/python/Computing.h"
#include "runtime/memory/Signals.h"

namespace nb = nanobind;

namespace vetro::python {

/// How many Computings watch for Ctrl-C: a callback may compute, and the outermost has the signal.
static thread_local int watching = 0;

/// Python runs signal handlers on its main thread only, and a program may have none.
static bool takesInterrupts() {
  nb::module_ threading = nb::module_::import_("threading");
  if (!threading.attr("current_thread")().is(threading.attr("main_thread")()))
    return false;
  nb::module_ signal = nb::module_::import_("signal");
  return PyCallable_Check(signal.attr("getsignal")(signal.attr("SIGINT")).ptr());
}

Computing::Computing(std::recursive_mutex &model)
    : watches(takesInterrupts()), owns(model, std::defer_lock), state(PyEval_SaveThread()) {
  owns.lock();
  if (watches && watching++ == 0)
    installInterruptHandler(SecondInterrupt::IsDropped);
}

Computing::~Computing() {
  bool pressed = false;
  if (watches && --watching == 0) {
    removeInterruptHandler();
    pressed = interrupted();
    clearInterrupted();
  }
  owns.unlock();
  PyEval_RestoreThread(state);
  if (pressed)
    PyErr_SetInterrupt();
}

} // namespace vetro::python
