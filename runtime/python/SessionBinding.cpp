// A session: a sequence that grows, and its logits.
#include "runtime/engine/Editor.h"
#include "runtime/python/Arrays.h"
#include "runtime/python/Bind.h"
#include "runtime/python/Computing.h"
#include "runtime/python/Errors.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace vetro::python {

namespace {
struct PythonSession {
  std::shared_ptr<Handle> handle;
  std::vector<Edit> edits;
  std::unique_ptr<Editor> editor; ///< from the first run on, where there are edits
  std::unique_ptr<Session> session;

  PythonSession(std::shared_ptr<Handle> h, uint32_t nCtx, uint32_t nUbatch, std::vector<Edit> e)
      : handle(std::move(h)), edits(std::move(e)) {
    SessionOptions options;
    options.nCtx = nCtx, options.nUbatch = nUbatch, options.nOutputs = nUbatch;
    session = compute(handle->computing, [&] {
      auto model = take(modelFor(handle->model, edits), During::Load);
      return take(Session::create(model, options), During::Call);
    });
  }

  /// Places from the end count from the end of the first run, whose every edit must change
  /// something.
  void decode(llvm::ArrayRef<BatchToken> batch,
              llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) {
    bool first = !edits.empty() && !editor;
    if (first)
      editor = take(Editor::create(session->model(), edits, int64_t(batch.size())), During::Call);
    session->observe(editor.get());
    check(session->decode(batch, onLogits), During::Call);
    if (llvm::Error unused = first ? editor->checkUsed() : llvm::Error::success()) {
      session->truncate(0, 0);
      check(std::move(unused), During::Call);
    }
  }
};
} // namespace

/// Logits of the ids that want them, in order. A run that Ctrl-C ended leaves the sequence as it
/// was.
static nb::ndarray<nb::numpy, float> run(PythonSession &s, const Ids &ids, bool all) {
  std::vector<BatchToken> batch;
  for (int32_t id : refOf(ids))
    batch.push_back({id, 0, all});
  if (!batch.empty())
    batch.back().output = true;
  size_t rows = all ? batch.size() : !batch.empty(), nVocab = s.handle->model->plan().nVocab;
  std::vector<float> logits;
  bool complete = compute(s.handle->computing, [&] {
    logits.reserve(rows * nVocab);
    uint32_t before = s.session->length(0);
    s.decode(batch, [&](size_t, llvm::ArrayRef<float> row) {
      logits.insert(logits.end(), row.begin(), row.end());
    });
    if (logits.size() < rows * nVocab)
      s.session->truncate(0, before);
    return logits.size() == rows * nVocab;
  });
  if (!complete)
    throw Interrupt();
  return toArray(std::move(logits), {int64_t(rows), int64_t(nVocab)});
}

void bindSession(nb::module_ &module) {
  nb::class_<PythonSession>(module, "Session", "One sequence of a model, with its KV cache.")
      .def(nb::init<std::shared_ptr<Handle>, uint32_t, uint32_t, std::vector<Edit>>(),
           nb::arg("model"), nb::arg("n_ctx"), nb::arg("ubatch"), nb::arg("edits"))
      .def("run", &run, nb::arg("ids"), nb::arg("all"),
           "Appends ids int32 [n]; logits float32 [n or 1, n_vocab].")
      .def(
          "truncate", [](PythonSession &s, uint32_t n) { s.session->truncate(0, n); }, nb::arg("n"),
          "Forgets positions from n on.")
      .def_prop_ro(
          "length", [](const PythonSession &s) { return s.session->length(0); },
          "positions in the sequence")
      .def_prop_ro(
          "n_ctx", [](const PythonSession &s) { return s.session->nCtx(); },
          "positions that it can hold");
}

} // namespace vetro::python
