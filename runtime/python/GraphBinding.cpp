// Drawings of a model's graph, and the table of an architecture's values.
#include "frontends/Architecture.h"
#include "runtime/engine/AlignmentJson.h"
#include "runtime/engine/ModelDrawing.h"
#include "runtime/engine/Svg.h"
#include "runtime/python/Bind.h"
#include "runtime/python/Computing.h"
#include "runtime/python/Errors.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace vetro::python {

static std::string dotOf(Handle &handle, const std::string &stage, const std::string &layer,
                         const std::string &around, unsigned hops) {
  viz::DotOptions options;
  options.layer = layer, options.around = around, options.hops = hops;
  return compute(handle.computing, [&] {
    const Model &model = *handle.model;
    return take(drawModel(model.file(), model.options(), stage, options), During::Call);
  });
}

static std::string svgOf(const std::string &dot, unsigned deadlineSec) {
  nb::gil_scoped_release release;
  return take(drawSvg(dot, deadlineSec), During::Call).svg;
}

static std::string alignmentOf(const std::string &arch) {
  return alignmentJson(*take(requireArchitecture(arch), During::Call));
}

void bindGraph(nb::module_ &module) {
  module.def("graph", &dotOf, nb::arg("model"), nb::arg("stage"), nb::arg("layer"),
             nb::arg("around"), nb::arg("hops"), "The graph as Graphviz's DOT.");
  module.def("svg", &svgOf, nb::arg("dot"), nb::arg("deadline_s"),
             "DOT drawn by Graphviz's programs.");
  module.def("alignment", &alignmentOf, nb::arg("arch"), "What `vetro names ARCH --json` prints.");
}

} // namespace vetro::python
