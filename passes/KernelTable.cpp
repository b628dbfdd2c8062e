// The kernel table. Quantised weights multiply with int8 records, plain ones with f32.
#include "passes/KernelTable.h"

namespace vetro {

static constexpr KernelChoice table[] = {
    {"f32", "f32", "rows16", "vt_matmul_f32"},   {"f16", "f32", "rows16", "vt_matmul_f16"},
    {"bf16", "f32", "rows16", "vt_matmul_bf16"}, {"q8_0", "a8", "rows16", "vt_matmul_q8_0"},
    {"q4_0", "a8", "rows16", "vt_matmul_q4_0"},  {"q4_1", "a8", "rows16", "vt_matmul_q4_1"},
    {"q5_0", "a8", "rows16", "vt_matmul_q5_0"},  {"q5_1", "a8", "rows16", "vt_matmul_q5_1"},
    {"q2_K", "a8", "rows16", "vt_matmul_q2_K"},  {"q3_K", "a8", "rows16", "vt_matmul_q3_K"},
    {"q4_K", "a8", "rows16", "vt_matmul_q4_K"},  {"q5_K", "a8", "rows16", "vt_matmul_q5_K"},
    {"q6_K", "a8", "rows16", "vt_matmul_q6_K"},  {"iq4_nl", "a8", "rows16", "vt_matmul_iq4_nl"},
};

const KernelChoice *kernelFor(llvm::StringRef format) {
  for (const KernelChoice &choice : table)
    if (choice.format == format)
      return &choice;
  return nullptr;
}

llvm::StringRef activationFor(llvm::StringRef format) {
  const KernelChoice *choice = kernelFor(format);
  return choice ? choice->activation : "";
}

} // namespace vetro
