// Named values of a prompt.
#include "runtime/engine/Dump.h"
#include "runtime/python/Arrays.h"
#include "runtime/python/Bind.h"
#include "runtime/python/Computing.h"
#include "runtime/python/Errors.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace vetro::python {

static Dump referenceDump(const Handle &handle, const SessionOptions &session,
                          llvm::ArrayRef<int32_t> ids, const HookGlobs &globs,
                          llvm::ArrayRef<Edit> edits) {
  const ModelOptions &options = handle.model->options();
  auto reference = take(Reference::create(options, session), During::Load);
  return take(dumpReference(*reference, options, ids, globs, edits), During::Call);
}

/// ([(name, array, label)], {key: value} of a file with these values).
static nb::tuple dump(Handle &handle, const Ids &ids, const std::vector<std::string> &hooks,
                      bool reference, const std::vector<Edit> &edits) {
  SessionOptions session;
  session.nCtx = handle.model->options().nCtx;
  Dump result = compute(handle.computing, [&] {
    HookGlobs globs = take(HookGlobs::create(hooks), During::Call);
    return reference ? referenceDump(handle, session, refOf(ids), globs, edits)
                     : take(dumpRun(handle.model, session, refOf(ids), globs, edits), During::Call);
  });
  nb::dict metadata;
  for (const auto &[key, value] : metadataOf(result, "all"))
    metadata[key.c_str()] = value;
  nb::list values;
  for (HookValue &value : result.values)
    values.append(nb::make_tuple(
        value.tensor.name, toArray(std::move(value.tensor.data), value.tensor.shape), value.label));
  return nb::make_tuple(values, metadata);
}

void bindDump(nb::module_ &module) {
  module.def("dump", &dump, nb::arg("model"), nb::arg("ids"), nb::arg("hooks"),
             nb::arg("reference"), nb::arg("edits"),
             "Runs ids int32 [n]; ([(name, float32 array, label)], metadata of a file of them).");
}

} // namespace vetro::python
