// The passes in order, and how one is switched off.
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace vetro {

namespace {
/// One pass of the pipeline: its flag, and how to make it with its sites switched off.
struct Entry {
  StringRef flag;
  std::unique_ptr<Pass> (*create)(ArrayRef<std::string> disable, const PipelineOptions &options);
};

template <typename OptionsT, std::unique_ptr<Pass> (*make)(OptionsT)>
std::unique_ptr<Pass> create(ArrayRef<std::string> disable, const PipelineOptions &from) {
  OptionsT options;
  options.disable.assign(disable.begin(), disable.end());
  options.explain = from.explain;
  if constexpr (requires { options.activations; })
    options.activations.assign(from.activations.begin(), from.activations.end());
  return make(std::move(options));
}

#define VT_PASS(flag, Name) {flag, create<Name##Options, create##Name>}
constexpr Entry entries[] = {
    VT_PASS("fuse-rms-norm", FuseRMSNorm), VT_PASS("fuse-qkv", FuseQkv),
    VT_PASS("fuse-rope", FuseRope),        VT_PASS("fuse-attention", FuseAttention),
    VT_PASS("fuse-glu", FuseGlu),          VT_PASS("fuse-residual", FuseResidual),
    VT_PASS("fuse-head", FuseHead),        VT_PASS("select-kernels", SelectKernels),
    VT_PASS("plan-memory", PlanMemory),    VT_PASS("schedule", Schedule),
};
#undef VT_PASS

/// Of a module whose kernels are chosen.
bool isPlan(StringRef flag) { return flag == "plan-memory" || flag == "schedule"; }
/// Passes that the plan needs: they can be switched off at a site, not as a whole.
bool isNeeded(StringRef flag) { return flag == "select-kernels" || isPlan(flag); }

bool isIn(PipelinePart part, StringRef flag) {
  return part == PipelinePart::All || (part == PipelinePart::Plan ? isPlan(flag) : !isNeeded(flag));
}
} // namespace

std::vector<StringRef> passNames() {
  std::vector<StringRef> names;
  for (const Entry &entry : entries)
    names.push_back(entry.flag);
  return names;
}

llvm::Error addPipeline(PassManager &manager, const PipelineOptions &options) {
  for (StringRef item : options.disable)
    if (!llvm::is_contained(passNames(), item.split('@').first))
      return llvm::createStringError("--disable: no pass is called '%s'; known: %s",
                                     item.split('@').first.str().c_str(),
                                     llvm::join(passNames(), ", ").c_str());
    else if (!item.contains('@') && isNeeded(item))
      return llvm::createStringError("--disable: nothing runs without the pass '%s'; at a site it "
                                     "can be switched off: %s@blk.3",
                                     item.str().c_str(), item.str().c_str());
  for (const Entry &entry : entries) {
    std::vector<std::string> sites;
    bool off = !isIn(options.part, entry.flag);
    for (StringRef item : options.disable) {
      auto [flag, site] = item.split('@');
      if (flag == entry.flag)
        site.empty() ? void(off = true) : sites.push_back(site.str());
    }
    if (!off)
      manager.addPass(entry.create(sites, options));
  }
  return llvm::Error::success();
}

} // namespace vetro
