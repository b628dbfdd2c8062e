// The parts of the extension module, one file each; Module.cpp calls them in order.
#pragma once

#include <nanobind/nanobind.h>

namespace vetro::python {

void bindErrors(nanobind::module_ &module);
void bindEdit(nanobind::module_ &module);
void bindModel(nanobind::module_ &module);
void bindSession(nanobind::module_ &module);
void bindGenerate(nanobind::module_ &module);
void bindDump(nanobind::module_ &module);
void bindGraph(nanobind::module_ &module);

} // namespace vetro::python
