// vetro._vetro: the C++ half of the Python package. runtime/python/vetro adds what is Python's own.
#include "runtime/python/Bind.h"

NB_MODULE(_vetro, module) {
  module.doc() = "Vetro's engine. Use the package vetro, which prepares arguments for it.";
  module.attr("__version__") = VETRO_VERSION;
  vetro::python::bindErrors(module);
  vetro::python::bindEdit(module);
  vetro::python::bindModel(module);
  vetro::python::bindSession(module);
  vetro::python::bindGenerate(module);
  vetro::python::bindDump(module);
  vetro::python::bindGraph(module);
}
