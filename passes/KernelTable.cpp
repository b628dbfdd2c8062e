// The kernel table. Quantised weights multiply with int8 records, plain ones with f32.
#include "passes/KernelTable.h"

namespace vetro {

#define VT_FLOAT(F) {F, "f32", "rows16", "vt_matmul_" F}
#define VT_INT8(F)                                                                                 \
  {F, "a8", "rows16", "vt_matmul_" F}, { F, "a8x2", "rows16", "vt_matmul_" F }
static constexpr KernelChoice table[] = {
    VT_FLOAT("f32"), VT_FLOAT("f16"), VT_FLOAT("bf16"), VT_INT8("q8_0"),   VT_INT8("q4_0"),
    VT_INT8("q4_1"), VT_INT8("q5_0"), VT_INT8("q5_1"),  VT_INT8("q2_K"),   VT_INT8("q3_K"),
    VT_INT8("q4_K"), VT_INT8("q5_K"), VT_INT8("q6_K"),  VT_INT8("iq4_nl"),
};
#undef VT_FLOAT
#undef VT_INT8

llvm::ArrayRef<KernelChoice> kernelsFor(llvm::StringRef format) {
  llvm::ArrayRef<KernelChoice> rest = table;
  rest = rest.drop_until([&](const KernelChoice &c) { return c.format == format; });
  return rest.take_while([&](const KernelChoice &c) { return c.format == format; });
}

static constexpr ActivationRule rules[] = {
    {"^logits$", "a8x2", "an error here is an error of the answer"},
    {"\\.[qkv]$", "a8x2", "an error here moves attention"},
};

llvm::ArrayRef<ActivationRule> activationRules() { return rules; }

bool shareActivation(llvm::StringRef a, llvm::StringRef b) {
  llvm::ArrayRef<KernelChoice> ofA = kernelsFor(a), ofB = kernelsFor(b);
  return !ofA.empty() && !ofB.empty() && ofA[0].activation == ofB[0].activation;
}

} // namespace vetro
