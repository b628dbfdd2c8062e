// Tokens first, then the accumulated errors, then the isolated ones, then the verdict.
#include "runtime/compare/Diff.h"
#include "compiler/ir/Names.h"
#include "runtime/engine/RoundedModel.h"
#include "runtime/trace/Align.h"

#include "llvm/ADT/StringSet.h"

namespace vetro {
namespace {

/// The prompt's ids: given, or as a file tells. Error: the files tell different ones.
llvm::Expected<std::vector<int32_t>> commonIds(const TensorFile &ours, const TensorFile &reference,
                                               const DiffOptions &options) {
  auto a = idsOf(ours), b = idsOf(reference);
  if (!a || !b)
    return llvm::joinErrors(a ? llvm::Error::success() : a.takeError(),
                            b ? llvm::Error::success() : b.takeError());
  for (auto [i, id] : llvm::enumerate(*a))
    if (i < b->size() && (*b)[i] != id)
      return llvm::createStringError("the tokens differ: token " + llvm::Twine(i) + " is " +
                                     llvm::Twine(id) + " in " + ours.path() + " and " +
                                     llvm::Twine((*b)[i]) + " in " + reference.path() +
                                     "; make both from the same --ids");
  if (!a->empty() && !b->empty() && a->size() != b->size())
    return llvm::createStringError("the tokens differ: " + ours.path() + " has " +
                                   llvm::Twine(a->size()) + ", " + reference.path() + " has " +
                                   llvm::Twine(b->size()) + "; make both from the same --ids");
  if (!options.ids.empty())
    return options.ids;
  return a->empty() ? *b : *a;
}

llvm::Expected<DiffRow> compareValue(const TensorFile &ours, const TensorFile &reference,
                                     llvm::StringRef name) {
  auto pair = align(ours, reference, name);
  if (!pair)
    return pair.takeError();
  DiffRow row;
  row.name = name.str(), row.shape = pair->ours.shape;
  row.label = ours.metadata(("label:" + name).str()).str();
  row.transforms = std::move(pair->transforms);
  row.difference = difference(row.shape, pair->ours.data, pair->theirs.data);
  row.rounded = roundedType(pair->ours.data, pair->theirs.data);
  if (name == "logits")
    row.logits = logitDifference(row.shape[0], pair->ours.data, pair->theirs.data);
  return row;
}

llvm::Error compareValues(const TensorFile &ours, const TensorFile &reference,
                          const DiffOptions &options, DiffReport &report) {
  for (auto [i, entry] : llvm::enumerate(ours.entries())) {
    if (options.progress)
      options.progress("comparing", double(i) / double(ours.entries().size()));
    if (!reference.find(entry.name)) {
      report.oursOnly.push_back(entry.name);
      continue;
    }
    auto row = compareValue(ours, reference, entry.name);
    if (!row)
      return row.takeError();
    report.rows.push_back(std::move(*row));
  }
  for (const TensorEntry &entry : reference.entries())
    if (!ours.find(entry.name))
      report.referenceOnly.push_back(entry.name);
  report.complete = report.oursOnly.empty() || options.common;
  if (report.rows.empty())
    return llvm::createStringError(ours.path() + " and " + reference.path() +
                                   " have no name in common; docs/tensor-names.md lists them");
  return llvm::Error::success();
}

llvm::Expected<std::vector<Proof>> judgeGraph(const TensorFile &reference, Subject &subject,
                                              llvm::ArrayRef<int32_t> ids, DiffReport &report) {
  auto type = referenceTypeOf(reference);
  if (!type)
    return type.takeError();
  if (ranOnKernels(reference)) {
    report.notes.push_back("no graph errors: the reference was run by kernels that round "
                           "activations; make it with PyTorch or --reference");
    return std::vector<Proof>();
  }
  auto proofs = graphErrors(*subject.interpreter, reference, ids, **type);
  if (proofs)
    for (const Proof &proof : *proofs)
      if (proof.ties)
        report.notes.push_back(
            proof.name + ": " + std::to_string(proof.ties) +
            (proof.ties == 1 ? " choice" : " choices") +
            " between scores that do not differ, taken as the reference made them");
  return proofs;
}

llvm::Expected<std::vector<Proof>> judgeKernels(const TensorFile &ours, Subject &subject,
                                                llvm::ArrayRef<int32_t> ids, DiffReport &report) {
  if (!ranOnKernels(ours)) {
    report.notes.push_back("no kernel errors: ours was not run by kernels, its labels say");
    return std::vector<Proof>();
  }
  if (llvm::StringRef edits = ours.metadata("edits"); !edits.empty()) {
    report.notes.push_back(("no kernel errors: ours ran with edits (" + edits + ")").str());
    return std::vector<Proof>();
  }
  return kernelErrors(*subject.model, subject.open, &ours, ids);
}

/// Values of the plan alone, which no reference can have, are not missing there.
void allowPlanValues(const Graph &graph, const DiffOptions &options, DiffReport &report) {
  llvm::StringSet<> known;
  for (auto &[name, op] : namesOf(graph))
    known.insert(name);
  llvm::erase_if(report.oursOnly, [&](const std::string &name) {
    if (!known.contains(name))
      report.notes.push_back(name + " is of the plan alone, no reference has it");
    return !known.contains(name);
  });
  report.complete = report.oursOnly.empty() || options.common;
}

llvm::Error judge(const TensorFile &ours, const TensorFile &reference, const DiffOptions &options,
                  Subject &subject, llvm::ArrayRef<int32_t> ids, DiffReport &report) {
  if (ids.empty())
    return llvm::createStringError("neither file tells its tokens; name them with --ids");
  auto graphProofs = judgeGraph(reference, subject, ids, report);
  if (!graphProofs)
    return graphProofs.takeError();
  auto kernelProofs = judgeKernels(ours, subject, ids, report);
  if (!kernelProofs)
    return kernelProofs.takeError();
  auto graphWorst = worstByName(*graphProofs), kernelWorst = worstByName(*kernelProofs);
  for (DiffRow &row : report.rows) {
    if (auto it = graphWorst.find(row.name); it != graphWorst.end())
      row.graph = it->second;
    if (auto it = kernelWorst.find(row.name); it != kernelWorst.end())
      row.kernel = it->second;
  }
  const Graph &graph = subject.interpreter->graph();
  allowPlanValues(graph, options, report);
  report.first = findFirst(graph, graphWorst, kernelWorst);
  return report.first ? explain(*report.first, *subject.model, graphWorst) : llvm::Error::success();
}

} // namespace

llvm::Expected<Subject> Subject::load(const ModelOptions &options, const SessionOptions &session,
                                      const std::string &kvType) {
  ModelOptions exact = options;
  exact.kvType = kvType, exact.round.clear();
  auto interpreter = Reference::create(exact, session);
  if (!interpreter)
    return interpreter.takeError();
  auto model = Model::load(options);
  if (!model)
    return model.takeError();
  auto open = [model = *model, session](uint32_t nTokens) {
    SessionOptions o = session;
    o.nOutputs = o.nUbatch = std::min(o.nUbatch, std::max(nTokens, 1u));
    return Session::create(model, o);
  };
  return Subject{std::move(*interpreter), *model, open};
}

/// A reference that computed in a coarser type has its rounding in nearly all of its values (a
/// softmax in F32 is none).
static void noteRounding(DiffReport &report) {
  llvm::StringMap<size_t> counts;
  for (const DiffRow &row : report.rows)
    counts[row.rounded] += 1;
  for (llvm::StringRef type : roundingTypes())
    if (counts.lookup(type) * 10 > report.rows.size() * 9)
      report.notes.push_back("the reference's numbers are all of " + type.str() +
                             ": it rounds where ours does not; vetro dump --reference --round " +
                             type.str() + " rounds with it");
}

/// Tokens and accumulated errors, then what `verdict(ids, report)` makes of them.
static llvm::Expected<DiffReport>
diffThen(const TensorFile &ours, const TensorFile &reference, const DiffOptions &options,
         llvm::function_ref<llvm::Error(llvm::ArrayRef<int32_t>, DiffReport &)> verdict) {
  auto ids = commonIds(ours, reference, options);
  if (!ids)
    return ids.takeError();
  DiffReport report;
  if (llvm::Error error = compareValues(ours, reference, options, report))
    return std::move(error);
  if (llvm::Error error = verdict(*ids, report))
    return std::move(error);
  noteRounding(report);
  return report;
}

llvm::Expected<DiffReport> diff(const TensorFile &ours, const TensorFile &reference,
                                const DiffOptions &options, Subject &subject) {
  return diffThen(ours, reference, options, [&](llvm::ArrayRef<int32_t> ids, DiffReport &report) {
    return judge(ours, reference, options, subject, ids, report);
  });
}

/// Without a model there is the accumulated error only.
static void judgeAccumulated(const DiffOptions &options, DiffReport &report) {
  report.notes.push_back("no isolated errors: they need the model (--model)");
  for (const DiffRow &row : report.rows)
    if (!report.first && !(row.difference.snrDb() >= options.leastSnrDb))
      report.first = FirstBad{row.name, "accumulated"};
}

llvm::Expected<DiffReport> diff(const TensorFile &ours, const TensorFile &reference,
                                const DiffOptions &options) {
  return diffThen(ours, reference, options,
                  [&](llvm::ArrayRef<int32_t> ids, DiffReport &report) -> llvm::Error {
                    if (options.model.path.empty())
                      return judgeAccumulated(options, report), llvm::Error::success();
                    auto kvType = kvTypeOf(reference);
                    if (!kvType)
                      return kvType.takeError();
                    auto subject = Subject::load(options.model, options.session, *kvType);
                    if (!subject)
                      return subject.takeError();
                    return judge(ours, reference, options, *subject, ids, report);
                  });
}

} // namespace vetro
