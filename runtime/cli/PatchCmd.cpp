// vetro patch: run a prompt without and with edits, and show what they change.
#include "runtime/cli/Output.h"
#include "runtime/cli/Prompt.h"
#include "runtime/compare/Metrics.h"
#include "runtime/engine/Editor.h"
#include "runtime/engine/Engine.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>

namespace vetro::cli {

namespace {
struct PatchOptions {
  ModelOptions model;
  SessionOptions session;
  PromptOptions prompt;
  GenerateOptions generate;
  std::vector<std::string> edits;
  uint32_t top = 5;
  bool json = false;
};

/// What a run of the prompt led to.
struct Outcome {
  std::vector<float> logits; ///< of the prompt's last token
  Generation generation;
};

struct Patched {
  std::vector<int32_t> ids;
  std::vector<std::string> switchedOff; ///< passes, to reach values inside fused steps
  std::shared_ptr<const Model> model;
  Outcome before, after;
  LogitDifference difference;
};

struct Candidate {
  int32_t id;
  double p; ///< probability
};
} // namespace

/// The likeliest tokens, and what follows greedily; `editor` may be null.
static llvm::Expected<Outcome> runPrompt(const PatchOptions &o, std::shared_ptr<const Model> model,
                                         llvm::ArrayRef<int32_t> ids, Editor *editor) {
  auto session = Session::create(model, o.session);
  if (!session)
    return session.takeError();
  (*session)->observe(editor);
  std::vector<BatchToken> batch;
  for (int32_t id : ids)
    batch.push_back({id});
  batch.back().output = true;
  Outcome outcome;
  if (llvm::Error error = (*session)->decode(batch, [&](size_t, llvm::ArrayRef<float> logits) {
        outcome.logits.assign(logits.begin(), logits.end());
      }))
    return std::move(error);
  (*session)->truncate(0, 0);
  auto generation =
      generate(**session, model->tokenizer(), ids, o.generate, [](llvm::StringRef) {});
  if (!generation)
    return generation.takeError();
  outcome.generation = std::move(*generation);
  return outcome;
}

static llvm::Expected<Patched> patch(PatchOptions &o, llvm::ArrayRef<Edit> edits) {
  o.model.nCtx = o.session.nCtx;
  auto model = Model::load(o.model);
  if (!model)
    return model.takeError();
  auto ids = promptIds(o.prompt, (*model)->tokenizer());
  if (!ids)
    return ids.takeError();
  auto edited = modelFor(*model, edits);
  if (!edited)
    return edited.takeError();
  auto editor = Editor::create(**edited, edits, int64_t(ids->size()));
  if (!editor)
    return editor.takeError();
  auto before = runPrompt(o, *model, *ids, nullptr);
  if (!before)
    return before.takeError();
  auto after = runPrompt(o, *edited, *ids, editor->get());
  if (!after)
    return after.takeError();
  if (llvm::Error error = (*editor)->checkUsed())
    return std::move(error);
  auto off = llvm::ArrayRef((*edited)->options().disable).drop_front(o.model.disable.size());
  auto difference = logitDifference(1, after->logits, before->logits);
  return Patched{std::move(*ids),    off.vec(),         *model,
                 std::move(*before), std::move(*after), difference};
}

/// The `n` likeliest tokens.
static std::vector<Candidate> likeliest(llvm::ArrayRef<float> logits, uint32_t n) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  n = std::min<uint32_t>(n, uint32_t(ids.size()));
  std::partial_sort(ids.begin(), ids.begin() + n, ids.end(), [&](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  double sum = 0, most = logits[ids[0]];
  for (float logit : logits)
    sum += std::exp(logit - most);
  std::vector<Candidate> best;
  for (int32_t id : llvm::ArrayRef(ids).take_front(n))
    best.push_back({id, std::exp(logits[id] - most) / sum});
  return best;
}

static Json outcomeJson(const Outcome &outcome, const Patched &p, uint32_t top) {
  Json tokens = Json::array();
  for (const Candidate &c : likeliest(outcome.logits, top))
    tokens.push_back({{"id", c.id},
                      {"piece", p.model->tokenizer().piece(c.id)},
                      {"logit", outcome.logits[c.id]},
                      {"p", c.p}});
  return {{"top", tokens}, {"ids", outcome.generation.ids}, {"text", outcome.generation.text}};
}

static void printPatchedJson(const PatchOptions &o, const Patched &p) {
  printJson({{"edits", o.edits},
             {"switched_off", p.switchedOff},
             {"prompt_ids", p.ids},
             {"kl", p.difference.meanKl},
             {"same_first_choice", p.difference.top1 == 1},
             {"before", outcomeJson(p.before, p, o.top)},
             {"after", outcomeJson(p.after, p, o.top)}});
}

static void printPatched(const PatchOptions &o, const Patched &p) {
  llvm::raw_ostream &out = llvm::outs();
  out << llvm::format("    %-34s %s\n", "before", "after");
  auto before = likeliest(p.before.logits, o.top), after = likeliest(p.after.logits, o.top);
  auto cell = [&](const Candidate &c) {
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::format("%6.2f %%  ", 100 * c.p) << quotedText(p.model->tokenizer().piece(c.id));
    return text;
  };
  for (size_t i = 0; i < before.size(); ++i)
    out << llvm::format("%2zu  %-34s %s\n", i + 1, cell(before[i]).c_str(), cell(after[i]).c_str());
  out << llvm::format("KL of after from before: %.4g nats\n", p.difference.meanKl);
  if (o.generate.nPredict > 0)
    out << "before: " << quotedText(p.before.generation.text)
        << "\nafter:  " << quotedText(p.after.generation.text) << "\n";
  for (const std::string &item : p.switchedOff)
    out << "off, to reach a value inside a fused step: " << item << "\n";
}

static int patchPrompt(PatchOptions &o) {
  if (llvm::Error error = readPrompt(o.prompt))
    return fail(std::move(error));
  auto edits = readEdits(o.edits);
  if (!edits)
    return fail(edits.takeError());
  Progress progress(o.model, o.session);
  auto patched = patch(o, *edits);
  progress.clear();
  if (!patched)
    return fail(patched.takeError());
  o.json ? printPatchedJson(o, *patched) : printPatched(o, *patched);
  return Done;
}

void addPatch(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<PatchOptions>();
  CLI::App *c = program.add_subcommand("patch", "change values of a run and see what it does");
  addModelOptions(*c, o->model);
  addPromptOptions(*c, o->prompt);
  addEditOption(*c, o->edits);
  c->get_option("--edit")->required();
  o->generate.nPredict = 8;
  c->add_option("-n,--predict", o->generate.nPredict, "tokens to generate, before and after")
      ->check(range(0u, 1u << 20))
      ->capture_default_str();
  c->add_option("--top", o->top, "likeliest tokens to show")
      ->check(range(1u, 1000u))
      ->capture_default_str();
  addSessionOptions(*c, o->session);
  c->add_flag("--json", o->json,
              "one object: edits, switched_off, prompt_ids, kl, same_first_choice, before, after");
  c->footer("NAME[TOKENS,HEADS,...] = NUMBER, += or *=, names as docs/tensor-names.md has them (* "
            "and ? match),\nplaces as in Python, those left out meant whole; @FILE takes the "
            "value of another run's dump.\n"
            "Examples:\n"
            "  vetro patch model.gguf -p 'The capital of France is' -e 'blk.5.attn_ctx[:,2] = 0'\n"
            "  vetro patch model.gguf -p 'Rome is in' -e 'blk.9.l_out[-1] = @paris.safetensors'\n"
            "  vetro patch model.gguf -p 'I feel' -e 'blk.7.l_out += @steer.safetensors:joy'");
  c->callback([o, &exitCode] { exitCode = patchPrompt(*o); });
}

} // namespace vetro::cli
