// The token's seven stages: tokenize, batch, micro-batch, run, logits, sample, detokenize.
//
//   text -> ids            Tokenizer::encode, by the caller: a prompt may come as ids
//   ids -> batch           promptBatch
//   batch -> micro-batch   Session::decode splits it
//   micro-batch -> logits  PlanRunner::run walks the plan
//   logits -> id           Chain::sample
//   id -> text             StreamDecoder
//   id -> batch            the token enters again
#include "runtime/engine/Engine.h"
#include "runtime/memory/Signals.h"

#include <chrono>

namespace vetro {

using Clock = std::chrono::steady_clock;

const char *stopName(StopReason reason) {
  static constexpr const char *names[] = {"length", "eog", "context", "interrupt"};
  return names[int(reason)];
}

static std::vector<BatchToken> promptBatch(llvm::ArrayRef<int32_t> prompt) {
  std::vector<BatchToken> batch;
  for (int32_t id : prompt)
    batch.push_back({id});
  batch.back().output = true; // only the last position's logits are sampled
  return batch;
}

namespace {
class Generator {
public:
  Generator(Evaluator &evaluator, const Tokenizer &tokenizer, const GenerateOptions &options,
            llvm::function_ref<void(llvm::StringRef)> onText, GenerationWatcher *watcher,
            Chain chain)
      : evaluator(evaluator), tokenizer(tokenizer), options(options), onText(onText),
        watcher(watcher), chain(std::move(chain)), decoder(tokenizer) {
    result.ids.reserve(options.nPredict);
    result.timings.tokenMs.reserve(options.nPredict);
  }

  llvm::Expected<Generation> run(llvm::ArrayRef<int32_t> prompt);

private:
  llvm::Error step(llvm::ArrayRef<BatchToken> batch, double &ms);
  llvm::Error sample(llvm::ArrayRef<float> logits);
  bool emit(int32_t id);

  Evaluator &evaluator;
  const Tokenizer &tokenizer;
  const GenerateOptions &options;
  llvm::function_ref<void(llvm::StringRef)> onText;
  GenerationWatcher *watcher; ///< may be null
  Chain chain;
  StreamDecoder decoder;
  std::vector<float> kept; ///< logits, until what watches the batch is done
  int32_t next = -1;
  Generation result;
};
} // namespace

/// Logits to the next token.
llvm::Error Generator::sample(llvm::ArrayRef<float> logits) {
  if (!watcher) {
    llvm::Expected<int32_t> id = chain.sample(logits);
    next = id ? *id : -1;
    return id.takeError();
  }
  SamplingState before = chain.state();
  llvm::Expected<int32_t> id = chain.sample(logits, watcher->record());
  if (!id)
    return id.takeError();
  next = *id;
  return watcher->sampled(next, before, logits);
}

/// Batch to logits to the next token.
llvm::Error Generator::step(llvm::ArrayRef<BatchToken> batch, double &ms) {
  if (watcher)
    if (llvm::Error error = watcher->beforeBatch(batch))
      return error;
  Clock::time_point start = Clock::now();
  kept.clear();
  llvm::Error sampling = llvm::Error::success();
  next = -1;
  llvm::Error error = evaluator.decode(batch, [&](size_t, llvm::ArrayRef<float> logits) {
    ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (watcher)
      kept.assign(logits.begin(), logits.end());
    else
      sampling = llvm::joinErrors(std::move(sampling), sample(logits));
  });
  if (watcher && !error && !kept.empty()) {
    sampling = llvm::joinErrors(std::move(sampling), watcher->afterBatch(ms));
    sampling = llvm::joinErrors(std::move(sampling), sample(kept));
  }
  return llvm::joinErrors(std::move(error), std::move(sampling));
}

/// Takes the sampled token into the result; false if it ends the generation.
bool Generator::emit(int32_t id) {
  result.ids.push_back(id);
  chain.accept(id);
  if (tokenizer.isEog(id) && !options.ignoreEos) {
    result.stop = StopReason::EndOfGeneration;
    return false;
  }
  std::string text = decoder.push(id);
  result.text += text;
  onText(text);
  return true;
}

llvm::Expected<Generation> Generator::run(llvm::ArrayRef<int32_t> prompt) {
  for (int32_t id : prompt)
    chain.accept(id);
  if (llvm::Error error = step(promptBatch(prompt), result.timings.promptMs))
    return std::move(error);
  while (result.ids.size() < options.nPredict) {
    if (next < 0 || interrupted()) {
      result.stop = StopReason::Interrupt;
      break;
    }
    if (!emit(next) || result.ids.size() == options.nPredict)
      break;
    if (evaluator.length(0) >= evaluator.nCtx()) {
      result.stop = StopReason::Context;
      break;
    }
    BatchToken token{result.ids.back(), 0, true};
    double ms = 0;
    if (llvm::Error error = step(token, ms))
      return std::move(error);
    result.timings.tokenMs.push_back(ms);
  }
  std::string rest = decoder.flush();
  result.text += rest;
  onText(rest);
  return std::move(result);
}

llvm::Expected<Generation> generate(Evaluator &evaluator, const Tokenizer &tokenizer,
                                    llvm::ArrayRef<int32_t> prompt, const GenerateOptions &options,
                                    llvm::function_ref<void(llvm::StringRef)> onText,
                                    GenerationWatcher *watcher) {
  if (prompt.empty())
    return llvm::createStringError("the prompt has no tokens; give some text with -p or ids with "
                                   "--ids");
  auto chain = Chain::create(options.sampling, tokenizer.nTokens());
  if (!chain)
    return chain.takeError();
  return Generator(evaluator, tokenizer, options, onText, watcher, std::move(*chain)).run(prompt);
}

} // namespace vetro
