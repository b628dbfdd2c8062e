// Edits for Python: a line, or a target with numbers of an array.
#include "runtime/engine/Editor.h"
#include "runtime/python/Arrays.h"
#include "runtime/python/Bind.h"
#include "runtime/python/Errors.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace vetro::python {

using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

/// The numbers take the place of the number that the line ends with.
static void setTensor(Edit &edit, const Floats &numbers) {
  auto tensor = std::make_shared<NamedTensor>();
  tensor->name = "the array";
  for (size_t axis = 0; axis < numbers.ndim(); ++axis)
    tensor->shape.push_back(int64_t(numbers.shape(axis)));
  tensor->data.assign(numbers.data(), numbers.data() + numbers.size());
  edit.tensor = std::move(tensor);
}

void bindEdit(nb::module_ &module) {
  nb::class_<Edit>(module, "Edit", "A change of a value of a run.")
      .def(
          "__init__",
          [](Edit *self, const std::string &text) {
            new (self) Edit(take(parseEdit(text), During::Call));
          },
          nb::arg("text"))
      .def("set_tensor", &setTensor, nb::arg("numbers"),
           "Takes float32 numbers in place of the line's number.")
      .def_ro("text", &Edit::text, "the line");
}

} // namespace vetro::python
