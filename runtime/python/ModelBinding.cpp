// A model: loading, metadata, tokens.
#include "runtime/builtin/Builtin.h"
#include "runtime/engine/Hooks.h"
#include "runtime/python/Arrays.h"
#include "runtime/python/Bind.h"
#include "runtime/python/Computing.h"
#include "runtime/python/Errors.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace vetro::python {

/// Bytes of a file as text; those that are no UTF-8 survive a round trip (surrogateescape).
static nb::object toText(llvm::StringRef bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "surrogateescape"));
}

static nb::object toPython(const gguf::Value &value) {
  if (auto flag = value.asBool())
    return nb::bool_(*flag);
  if (auto number = value.asUInt())
    return nb::int_(*number);
  if (auto number = value.asInt())
    return nb::int_(*number);
  if (auto number = value.asFloat())
    return nb::float_(*number);
  if (auto text = value.asString())
    return toText(*text);
  nb::list list;
  if (auto texts = value.asStrings())
    for (llvm::StringRef text : *texts)
      list.append(toText(text));
  else if (auto floats = value.asArray<float>())
    for (float number : *floats)
      list.append(nb::float_(number));
  else if (auto doubles = value.asArray<double>())
    for (double number : *doubles)
      list.append(nb::float_(number));
  else if (auto flags = value.asArray<bool>())
    for (bool flag : *flags)
      list.append(nb::bool_(flag));
  else if (auto large = value.asArray<uint64_t>())
    for (uint64_t number : *large)
      list.append(nb::int_(number));
  else if (auto numbers = value.asInts(value.size()))
    for (int64_t number : *numbers)
      list.append(nb::int_(number));
  return list;
}

static nb::dict metadata(const Handle &handle) {
  nb::dict dict;
  for (const gguf::KeyValue &key : handle.model->file().keys())
    dict[toText(key.key)] = toPython(key.value);
  return dict;
}

static std::shared_ptr<Handle> load(ModelOptions options) {
  if (options.kvType != "f16" && options.kvType != "f32")
    refuse("kv: found '" + options.kvType + "', expected 'f16' or 'f32'");
  if (llvm::Error error = useBuiltin(options.path, options.open))
    refuse(llvm::toString(std::move(error)));
  auto handle = std::make_shared<Handle>();
  compute(handle->computing, [&] {
    handle->model = take(Model::load(std::move(options)), During::Load);
    return true;
  });
  return handle;
}

static std::vector<std::string> hookNames(Handle &handle) {
  return compute(handle.computing, [&] {
    std::vector<std::string> names;
    for (Hook &hook : take(HookRecorder::list(*handle.model), During::Call))
      names.push_back(std::move(hook.name));
    return names;
  });
}

static void bindLoading(nb::class_<Handle> &model) {
  model.def(nb::new_([](nb::bytes path, unsigned threads, std::string kv, uint32_t nCtx,
                        std::vector<std::string> disable, std::vector<std::string> activations,
                        nb::bytes cacheDir, std::vector<std::string> overrideKv) {
              ModelOptions o;
              o.path.assign(path.c_str(), path.size()), o.nThreads = threads,
                                                        o.kvType = std::move(kv);
              o.nCtx = nCtx, o.disable = std::move(disable);
              o.activations = std::move(activations),
              o.cacheDir.assign(cacheDir.c_str(), cacheDir.size());
              o.open.overrides = std::move(overrideKv);
              return load(std::move(o));
            }),
            nb::arg("path"), nb::arg("threads"), nb::arg("kv"), nb::arg("n_ctx"),
            nb::arg("disable"), nb::arg("activations"), nb::arg("cache_dir"),
            nb::arg("override_kv"), "Opens, compiles and repacks a GGUF file.");
}

void bindModel(nb::module_ &module) {
  nb::class_<Handle> model(module, "Model", "A loaded model; immutable, shared by its sessions.");
  bindLoading(model);
  model.def("metadata", &metadata, "All keys of the file with their values, overrides applied.");
  model.def("hooks", &hookNames, "Names of all values that a run computes, in its order.");
  model.def_prop_ro(
      "n_vocab", [](const Handle &h) { return h.model->plan().nVocab; }, "logits of a position");
  model.def_prop_ro(
      "n_ctx_train", [](const Handle &h) { return h.model->trainContext(); },
      "positions that the model was trained on; 0: the file does not tell");
  model.def(
      "tokenize",
      [](const Handle &h, nb::bytes text, bool addSpecial, bool parseSpecial) {
        auto ids =
            h.model->tokenizer().encode({text.c_str(), text.size()}, addSpecial, parseSpecial);
        int64_t count = int64_t(ids.size());
        return toArray(std::move(ids), {count});
      },
      nb::arg("text"), nb::arg("add_special"), nb::arg("parse_special"), "Ids int32 [n] of UTF-8.");
  model.def(
      "detokenize",
      [](const Handle &h, const Ids &ids, bool special) {
        std::string text = h.model->tokenizer().decode(refOf(ids), special);
        return nb::bytes(text.data(), text.size());
      },
      nb::arg("ids"), nb::arg("special"), "The bytes that the ids print.");
}

} // namespace vetro::python
