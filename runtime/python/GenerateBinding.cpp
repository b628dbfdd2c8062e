// Generation: the token's seven stages for Python.
#include "runtime/engine/Editor.h"
#include "runtime/engine/Engine.h"
#include "runtime/python/Arrays.h"
#include "runtime/python/Bind.h"
#include "runtime/python/Computing.h"
#include "runtime/python/Errors.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace vetro::python {

/// Calls Python after each token. An exception of the callback is kept, since no C++ frame of the
/// engine may be left by it, and the callback is not called again.
class TokenCallback {
public:
  explicit TokenCallback(nb::object function) : function(std::move(function)) {}
  void operator()(llvm::StringRef text) {
    if (function.is_none() || thrown)
      return;
    nb::gil_scoped_acquire gil;
    try {
      function(nb::bytes(text.data(), text.size()));
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  void rethrow() {
    if (thrown)
      std::rethrow_exception(thrown);
  }

private:
  nb::object function;
  std::exception_ptr thrown;
};

/// (ids, UTF-8 of the text, why it stopped, ms to the first logits, ms of each token after them).
static nb::tuple generateFrom(Handle &handle, const Ids &ids, const GenerateOptions &options,
                              nb::object onText, const std::vector<Edit> &edits) {
  TokenCallback callback(std::move(onText));
  SessionOptions session;
  session.nCtx = handle.model->options().nCtx;
  Generation result = compute(handle.computing, [&] {
    auto model = take(modelFor(handle.model, edits), During::Load);
    auto editor = take(Editor::create(*model, edits, int64_t(ids.size())), During::Call);
    auto evaluator = take(Session::create(model, session), During::Call);
    if (!edits.empty())
      evaluator->observe(editor.get());
    GenerateOptions capped = options; // more than the context holds cannot come
    capped.nPredict = std::min(options.nPredict, evaluator->nCtx() + 1);
    Generation done =
        take(generate(*evaluator, model->tokenizer(), refOf(ids), capped, callback), During::Call);
    check(editor->checkUsed(), During::Call);
    return done;
  });
  callback.rethrow();
  if (result.stop == StopReason::Interrupt)
    throw Interrupt();
  int64_t count = int64_t(result.ids.size());
  return nb::make_tuple(toArray(std::move(result.ids), {count}),
                        nb::bytes(result.text.data(), result.text.size()), stopName(result.stop),
                        result.timings.promptMs, result.timings.tokenMs);
}

static void bindOptions(nb::module_ &module) {
  nb::class_<GenerateOptions> options(module, "GenerateOptions", "Sampling and when to end.");
  options.def(nb::init<>());
  options.def_rw("n", &GenerateOptions::nPredict);
  options.def_rw("ignore_eos", &GenerateOptions::ignoreEos);
  auto add = [&](const char *name, auto member) {
    using T = std::remove_reference_t<decltype(SamplingOptions().*member)>;
    options.def_prop_rw(
        name, [member](const GenerateOptions &o) { return o.sampling.*member; },
        [member](GenerateOptions &o, T value) { o.sampling.*member = std::move(value); });
  };
  add("temp", &SamplingOptions::temperature);
  add("top_k", &SamplingOptions::topK);
  add("top_p", &SamplingOptions::topP);
  add("min_p", &SamplingOptions::minP);
  add("repeat_penalty", &SamplingOptions::repeatPenalty);
  add("frequency_penalty", &SamplingOptions::frequencyPenalty);
  add("presence_penalty", &SamplingOptions::presencePenalty);
  add("repeat_last_n", &SamplingOptions::penaltyLastN);
  add("logit_bias", &SamplingOptions::logitBias);
  add("seed", &SamplingOptions::seed);
}

void bindGenerate(nb::module_ &module) {
  bindOptions(module);
  module.def(
      "generate", &generateFrom, nb::arg("model"), nb::arg("ids"), nb::arg("options"),
      nb::arg("on_text").none(), nb::arg("edits"),
      "Continues ids int32 [n]; on_text gets the bytes of each token. Gives (ids, bytes of the "
      "text, stop, prompt_ms, [token_ms]).");
}

} // namespace vetro::python
