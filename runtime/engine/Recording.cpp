// Visits to tokens of a run.
#include "runtime/engine/Recording.h"
#include "runtime/engine/RunOptions.h"
#include "runtime/engine/TraceModel.h"

#include <cmath>

namespace vetro {

using Json = nlohmann::ordered_json;

Recording::Recording(std::unique_ptr<TraceFile> trace) : file(std::move(trace)) {
  ran = size_t(llvm::count_if(document()["tokens"], [](const Json &t) { return t["batch"] >= 0; }));
}

std::unique_ptr<Recording> Recording::of(std::unique_ptr<TraceFile> trace) {
  return std::unique_ptr<Recording>(new Recording(std::move(trace)));
}

llvm::Error Recording::attach(std::shared_ptr<const Model> model, SessionOptions options) {
  owner = std::move(model);
  auto all = HookRecorder::list(*owner);
  if (!all)
    return all.takeError();
  for (Hook &hook : *all)
    hooks.try_emplace(hook.name, hook);
  options.nSequences = 1;
  auto made = Session::create(owner, options);
  if (!made)
    return made.takeError();
  session = std::move(*made);
  return llvm::Error::success();
}

/// Edits of tokens that may come after the prompt: places counted from its end become positions.
static std::vector<Edit> countFromStart(std::vector<Edit> edits, int64_t nPrompt) {
  for (Edit &edit : edits)
    if (!edit.slices.empty()) {
      Slice &tokens = edit.slices.front();
      tokens.begin += tokens.begin < 0 ? nPrompt : 0;
      if (tokens.end && *tokens.end < 0)
        *tokens.end += nPrompt;
    }
  return edits;
}

llvm::Expected<std::unique_ptr<Recording>> Recording::record(std::shared_ptr<const Model> model,
                                                             const TracedPrompt &prompt,
                                                             const RecordOptions &options) {
  auto edited = modelFor(std::move(model), options.edits);
  if (!edited)
    return edited.takeError();
  SessionOptions sessionOptions = options.session;
  sessionOptions.nSequences = 1;
  auto session = Session::create(*edited, sessionOptions);
  if (!session)
    return session.takeError();
  MemoryTrace memory;
  auto tracer = Tracer::create(memory, {}, **session, prompt, options.generate.sampling);
  if (!tracer)
    return tracer.takeError();
  std::vector<Edit> edits = countFromStart(options.edits, int64_t(prompt.ids.size()));
  auto editor = Editor::create(**edited, edits, (*session)->nCtx());
  if (!editor)
    return editor.takeError();
  if (!edits.empty())
    (*session)->observe(editor->get());
  auto onText = [&](llvm::StringRef text) {
    if (options.onText)
      options.onText(text);
  };
  auto generation = generate(**session, (*edited)->tokenizer(), prompt.ids, options.generate,
                             onText, tracer->get());
  (*session)->observe(nullptr);
  if (!generation)
    return generation.takeError();
  if (llvm::Error error = (*editor)->checkUsed())
    return std::move(error);
  for (const Edit &edit : options.edits)
    (*tracer)->noteEdit(edit.text);
  if (llvm::Error error = (*tracer)->finish(*generation))
    return std::move(error);
  auto trace = memory.take();
  if (!trace)
    return trace.takeError();
  std::unique_ptr<Recording> recording(new Recording(std::move(*trace)));
  if (llvm::Error error = recording->attach(std::move(*edited), (*session)->options()))
    return std::move(error);
  recording->session = std::move(*session);
  recording->edits = std::move(edits);
  return recording;
}

llvm::Expected<std::unique_ptr<Recording>> Recording::of(std::unique_ptr<TraceFile> trace,
                                                         std::shared_ptr<const Model> model) {
  const Json &document = trace->document();
  std::string hash = modelHash(model->file());
  if (hash != document["model"]["hash"].get_ref<const std::string &>())
    return llvm::createStringError(
        trace->path() + ": is of another model (" +
        printable(document["model"]["path"].get<std::string>()) + ", hash " +
        printable(document["model"]["hash"].get<std::string>()) + "), and " +
        model->options().path + " has hash " + hash + ": name the one that it was made with");
  if (Json::parse(describeRun(model->options())) != document["options"])
    return llvm::createStringError(trace->path() +
                                   ": was made with other options: " + document["options"].dump() +
                                   ", not " + describeRun(model->options()));
  for (const Json &token : document["tokens"])
    if (std::max(token["id"].get<int64_t>(),
                 token.contains("sampled") ? token["sampled"]["id"].get<int64_t>() : 0) >=
        model->tokenizer().nTokens())
      return llvm::createStringError(trace->path() +
                                     ": is damaged: it has ids that the model has not");
  if (document.contains("edits"))
    return llvm::createStringError(trace->path() + ": its run was edited, which only the session "
                                                   "that made it can visit again; open it without "
                                                   "--model");
  std::unique_ptr<Recording> recording(new Recording(std::move(trace)));
  SessionOptions options;
  options.nCtx = recording->document()["kv"]["context"];
  if (llvm::Error error = recording->attach(std::move(model), options))
    return std::move(error);
  std::vector<BatchToken> batch;
  for (size_t i = 0; i < recording->ran; ++i)
    batch.push_back({recording->document()["tokens"][i]["id"].get<int32_t>()});
  if (llvm::Error error = recording->session->decode(batch, [](size_t, llvm::ArrayRef<float>) {}))
    return std::move(error);
  return recording;
}

// ---- a comparison ----

/// Whether it is a row of `vetro diff --json`, as far as viewers read it.
static bool isRow(const Json &row) {
  auto has = [](const Json &object, const char *key, auto... kinds) {
    return object.contains(key) && ((object[key].type() == kinds) || ...);
  };
  auto isNumber = [](const Json &object, const char *key) {
    return object.contains(key) && (object[key].is_number() || object[key].is_null());
  };
  bool sound = row.is_object() && has(row, "name", Json::value_t::string) &&
               has(row, "equal", Json::value_t::boolean) &&
               has(row, "shape", Json::value_t::array) && isNumber(row, "snr_db") &&
               isNumber(row, "max_abs");
  for (const char *error : {"graph", "kernel"})
    sound = sound && has(row, error, Json::value_t::null, Json::value_t::object) &&
            (row[error].is_null() || isNumber(row[error], "ratio"));
  return sound;
}

llvm::Error Recording::compareWith(Json diff) {
  bool sound = diff.is_object() && diff.contains("rows") && diff["rows"].is_array();
  if (!sound || !llvm::all_of(diff["rows"], isRow))
    return llvm::createStringError("is not what vetro diff --json prints");
  compared = std::move(diff);
  comparedRows.clear();
  for (size_t i = 0; i < compared["rows"].size(); ++i)
    comparedRows.try_emplace(compared["rows"][i]["name"].get_ref<const std::string &>(), i);
  return llvm::Error::success();
}

std::optional<size_t> Recording::comparisonRow(llvm::StringRef name) const {
  auto row = comparedRows.find(name);
  return row == comparedRows.end() ? std::nullopt : std::optional(row->second);
}

// ---- a trace's run again ----

/// The counterpart of what Tracer writes. False: something is missing or no number.
static bool readSampling(const Json &json, SamplingOptions &o) {
  auto read = [&](const char *key, auto &value) {
    bool sound = json.contains(key) && json[key].is_number();
    if (sound)
      value = json[key];
    return sound;
  };
  bool sound = read("penalty_last_n", o.penaltyLastN) && read("repeat_penalty", o.repeatPenalty) &&
               read("frequency_penalty", o.frequencyPenalty) &&
               read("presence_penalty", o.presencePenalty) && read("top_k", o.topK) &&
               read("top_p", o.topP) && read("min_p", o.minP) &&
               read("temperature", o.temperature) && json.contains("logit_bias") &&
               json["logit_bias"].is_array();
  for (size_t i = 0; sound && i < json["logit_bias"].size(); ++i) {
    const Json &bias = json["logit_bias"][i];
    sound = bias.is_object() && bias.contains("id") && bias["id"].is_number_integer() &&
            bias.contains("bias") && (bias["bias"].is_number() || bias["bias"].is_null());
    if (sound) // JSON has no infinity: null bans the token
      o.logitBias.push_back({bias["id"].get<int32_t>(),
                             bias["bias"].is_null() ? -INFINITY : bias["bias"].get<float>()});
  }
  return sound && json.contains("seed") && json["seed"].is_string() &&
         !llvm::StringRef(json["seed"].get_ref<const std::string &>()).getAsInteger(10, o.seed);
}

llvm::Expected<RecordOptions> optionsOf(const Json &document) {
  RecordOptions options;
  if (!readSampling(document["sampler"]["options"], options.generate.sampling))
    return llvm::createStringError("sampler.options is damaged: expected the options of a sampler");
  const Json &tokens = document["tokens"];
  size_t nPrompt = document["prompt"]["ids"].size();
  options.generate.nPredict = unsigned(tokens.size() - std::min(tokens.size(), nPrompt));
  for (size_t i = 0; i + 2 < tokens.size(); ++i) // something came after the end
    if (tokens[i].contains("sampled") && tokens[i]["sampled"]["eog"] == true)
      options.generate.ignoreEos = true;
  options.session.nCtx = document["kv"]["context"];
  return options;
}

// ---- values ----

bool Recording::has(size_t position, llvm::StringRef name) const {
  if (position >= ran)
    return false;
  if (owner)
    return hooks.contains(name);
  const Json &batch = document()["batches"][document()["tokens"][position]["batch"].get<size_t>()];
  const Json &kept = document()["hooks"];
  return batch.contains("values") && std::find(kept.begin(), kept.end(), name.str()) != kept.end();
}

bool Recording::isRan(size_t position, llvm::StringRef name) const {
  auto hook = hooks.find(name);
  return has(position, name) && (hook == hooks.end() || hook->second.ran);
}

/// Row `row` of a value, without its first axis.
static HookValue rowOf(NamedTensor tensor, std::string label, uint64_t row) {
  HookValue value{{tensor.name, {}, {}}, std::move(label)};
  uint64_t width = tensor.shape.empty() || tensor.shape[0] == 0
                       ? 0
                       : tensor.data.size() / uint64_t(tensor.shape[0]);
  if (row * width >= tensor.data.size())
    return value;
  value.tensor.shape.assign(tensor.shape.begin() + 1, tensor.shape.end());
  value.tensor.data.assign(tensor.data.begin() + row * width,
                           tensor.data.begin() + (row + 1) * width);
  return value;
}

llvm::Error Recording::readKept(size_t position, llvm::ArrayRef<std::string> names) {
  const Json &token = document()["tokens"][position];
  const Json &batch = document()["batches"][token["batch"].get<size_t>()];
  auto tensors = file->tensors(batch["values"].get<std::string>());
  if (!tensors)
    return tensors.takeError();
  for (const std::string &name : names) {
    auto tensor = (*tensors)->read(name);
    if (!tensor)
      return tensor.takeError();
    uint64_t row = token["row"], rows = tensor->shape.empty() ? 0 : uint64_t(tensor->shape[0]);
    // Values by output have rows only for tokens that wanted logits: the last one.
    uint64_t nTokens = batch["tokens"];
    kept[name] = rowOf(std::move(*tensor), "ran", rows == nTokens ? row : row + rows - nTokens);
  }
  return llvm::Error::success();
}

llvm::Error Recording::visit(size_t position, StepObserver *observer, llvm::ArrayRef<Edit> with,
                             llvm::function_ref<llvm::Error(llvm::ArrayRef<float>)> look) {
  const Json &tokens = document()["tokens"];
  auto editor = Editor::create(*owner, with, session->nCtx());
  if (!editor)
    return editor.takeError();
  (*editor)->next = observer;
  session->observe(editor->get());
  llvm::Error error =
      session->revisit(uint32_t(position), tokens[position]["id"].get<int32_t>(), look);
  session->observe(nullptr);
  return error;
}

llvm::Error Recording::run(size_t position, llvm::ArrayRef<std::string> names) {
  std::vector<Hook> wanted;
  for (const std::string &name : names)
    wanted.push_back(hooks.find(name)->second);
  auto recorder = HookRecorder::create(*owner, wanted);
  if (!recorder)
    return recorder.takeError();
  return visit(position, recorder->get(), edits, [&](llvm::ArrayRef<float>) -> llvm::Error {
    auto values = (*recorder)->values(*session);
    if (!values)
      return values.takeError();
    for (HookValue &value : *values) {
      std::string name = value.tensor.name;
      // The one that ran; of a value over cells the last one, which is the token's own.
      uint64_t rows = value.tensor.shape.empty() ? 1 : uint64_t(value.tensor.shape[0]);
      kept[name] = rowOf(std::move(value.tensor), std::move(value.label), rows - 1);
    }
    return llvm::Error::success();
  });
}

llvm::Expected<std::vector<HookValue>> Recording::values(size_t position,
                                                         llvm::ArrayRef<std::string> names) {
  if (keptPosition != position)
    kept.clear();
  keptPosition = position;
  std::vector<std::string> missing;
  for (const std::string &name : names)
    if (has(position, name) && !kept.contains(name))
      missing.push_back(name);
  if (!missing.empty())
    if (llvm::Error error = owner ? run(position, missing) : readKept(position, missing))
      return std::move(error);
  std::vector<HookValue> result;
  for (const std::string &name : names) {
    auto found = kept.find(name);
    result.push_back(found == kept.end() ? HookValue{{name, {}, {}}, ""} : found->second);
  }
  return result;
}

llvm::Expected<std::vector<Proof>> Recording::prove(size_t position, uint32_t step) {
  auto recorder = HookRecorder::ofSteps(*owner, step, step + 1);
  if (!recorder)
    return recorder.takeError();
  std::vector<Proof> proofs;
  llvm::Error error =
      visit(position, recorder->get(), edits, [&](llvm::ArrayRef<float>) -> llvm::Error {
        auto found = (*recorder)->prove(*session);
        if (found)
          proofs = std::move(*found);
        return found.takeError();
      });
  if (error)
    return std::move(error);
  // What an edit replaced is not what the step computed.
  llvm::erase_if(proofs, [&](const Proof &proof) {
    return llvm::any_of(edits, [&](const Edit &e) { return editMatches(e, proof.name); });
  });
  return proofs;
}

llvm::Expected<std::vector<float>> Recording::logitsWith(size_t position, llvm::StringRef name,
                                                         const HookValue &row) {
  std::vector<Edit> with = edits;
  Edit edit;
  edit.name = name.str();
  edit.text = edit.name + "[" + std::to_string(position) + "] = a row";
  edit.slices = {{int64_t(position), {}, true}};
  edit.tensor = std::make_shared<NamedTensor>(row.tensor);
  with.push_back(std::move(edit));
  std::vector<float> logits;
  llvm::Error error = visit(position, nullptr, with, [&](llvm::ArrayRef<float> found) {
    logits = found.vec();
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return logits;
}

// ---- the sampler ----

/// The chain as it stood before it drew after a token.
static llvm::Expected<Chain> chainAt(const Json &document, size_t position, size_t nVocab) {
  auto options = optionsOf(document);
  if (!options)
    return options.takeError();
  auto chain = Chain::create(options->generate.sampling, nVocab);
  if (!chain)
    return chain.takeError();
  const Json &tokens = document["tokens"], &words = tokens[position]["sampled"]["rng"];
  SamplingState state = chain->state();
  bool sound = words.size() == std::size(state.rng.s);
  for (size_t i = 0; sound && i < words.size(); ++i)
    sound =
        !llvm::StringRef(words[i].get_ref<const std::string &>()).getAsInteger(16, state.rng.s[i]);
  if (!sound)
    return llvm::createStringError("tokens/%zu/sampled/rng is damaged: expected %zu words in hex",
                                   position, std::size(state.rng.s));
  for (size_t i = 0; i <= position; ++i)
    state.history.accept(tokens[i]["id"]);
  chain->restore(state);
  return chain;
}

llvm::Expected<std::vector<SampleRecord::Stage>> Recording::sampleAgain(size_t position) {
  std::vector<SampleRecord::Stage> stages;
  auto look = [&](llvm::ArrayRef<float> logits) -> llvm::Error {
    auto chain = chainAt(document(), position, logits.size());
    if (!chain)
      return chain.takeError();
    SampleRecord record(logits.size(), logits.size());
    auto drawn = chain->sample(logits, &record);
    if (!drawn)
      return drawn.takeError();
    stages = record.stages().vec();
    return llvm::Error::success();
  };
  if (llvm::Error error = visit(position, nullptr, edits, look))
    return std::move(error);
  return stages;
}

} // namespace vetro
