// The two isolated errors, which answer different questions. Accumulated error convicts nobody: a
// value is also wrong because what it was made of was.
//
// graph error: our op, by the interpreter, on the *reference's* inputs, against the reference's
// value. Is the model right: frontend, metadata, weights? One walk finds it for all names: after
// each named value the reference's takes the place of ours, so that everything below starts anew.
//
// kernel error: our value against the interpreter's op on *our* inputs. Is the machine code right?
// The prompt runs again, each step is recorded and proved (runtime/engine/Hooks.h).
#pragma once

#include "runtime/compare/Floors.h"
#include "runtime/engine/Hooks.h"
#include "runtime/trace/TensorFile.h"

namespace vetro {

/// Of every name that the reference has and that is wanted (null: all are), in the order of
/// computation; the walk begins anew at these only. The interpreter must be fresh and keep its
/// state as the reference did (kvTypeOf); it is used up. The reference must hold all rows of the
/// prompt `ids`. Proof::ran is the reference's number, Proof::recomputed ours, Proof::worst the
/// larger of the ratios to both floors (Floors.h). Error: what the interpreter or the reference
/// refuses.
llvm::Expected<std::vector<Proof>>
graphErrors(Reference &interpreter, const TensorFile &reference, llvm::ArrayRef<int32_t> ids,
            const ReferenceType &type, const std::function<bool(llvm::StringRef)> &wanted = {});

/// A value of the reference as the graph has it there, of this shape; `isChoice`: a table of
/// numbers of rows, which are read as ids too. Error: it does not fit.
llvm::Expected<ref::Tensor> readForGraph(const TensorFile &reference, llvm::StringRef name,
                                         const ref::Shape &shape, bool isChoice);

/// The type that a reference's metadata "dtype" names, F32 where it names none. Error: unknown.
llvm::Expected<const ReferenceType *> referenceTypeOf(const TensorFile &reference);
/// How a reference kept keys and values: as its metadata "run" tells, F32 where it tells nothing.
/// Error: what takeRunOptions() refuses.
llvm::Expected<std::string> kvTypeOf(const TensorFile &reference);
/// Whether a file holds what kernels made: then it is no measure for the graph.
bool ranOnKernels(const TensorFile &file);

/// Opens a session of the model that is judged, for this many tokens and rows of logits.
using OpenSession = std::function<llvm::Expected<std::unique_ptr<Session>>(uint32_t nTokens)>;

/// Of every step's results, in the order of computation, when `ids` run in fresh sessions; memory
/// is bounded by running the prompt once for as many steps as 512 MB hold. Then of every value in
/// `ours` (null: none) that is not what ran here now: its ratio is infinite. With `only` the step
/// of that value alone is looked at.
llvm::Expected<std::vector<Proof>> kernelErrors(const Model &model, const OpenSession &open,
                                                const TensorFile *ours, llvm::ArrayRef<int32_t> ids,
                                                llvm::StringRef only = "");

} // namespace vetro
