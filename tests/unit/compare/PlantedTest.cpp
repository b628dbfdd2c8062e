// Twelve kinds of fault, three sites each (or three sizes where there is one site): the first wrong
// value is named, and its kind; where there is no fault, nothing is.
#include "compiler/ir/Names.h"
#include "runtime/compare/Metrics.h"
#include "runtime/engine/Program.h"
#include "runtime/jit/Compile.h"
#include "tests/unit/compare/Faults.h"
#include "tests/unit/gguf/TinyGguf.h"
#include "tests/unit/tiny/TinyFile.h"

using namespace mlir;
using namespace vetro;
using namespace vetro::test;

namespace {

constexpr int layers = 4;
constexpr int sites[] = {0, layers / 2, layers - 1};

std::string at(int layer, const std::string &suffix) {
  return "blk." + std::to_string(layer) + "." + suffix;
}

/// Every layer sees a window of 6, grouped heads, norms of heads, a soft-capped head.
const TinyFile &gemma() {
  static TinyFile file({.arch = "gemma3",
                        .type = "F32",
                        .layers = layers,
                        .overrides = {"gemma3.attention.sliding_window_pattern=u32:100",
                                      "gemma3.final_logit_softcapping=f32:30"}});
  return file;
}
const TinyFile &llama() {
  static TinyFile file({.arch = "llama", .type = "Q4_0", .layers = layers});
  return file;
}

std::vector<int32_t> prompt(uint32_t seed = 3) { return randomIds(20, 400, seed); }

/// What bisect cut out shows the fault alone: of a wrong graph the interpreter gives another value
/// than the reference's; of a wrong kernel there are the inputs on which a sound one is right.
void expectRepro(const BisectReport &report) {
  REQUIRE(report.repro.has_value());
  TempDir dir;
  must(writeRepro(*report.repro, dir.file("repro")));
  auto values = must(TensorFile::open(dir.file("repro/tensors.safetensors")));
  auto program = must(Program::open(dir.file("repro/region.mlir")));
  must(program->bind(*values));
  ref::Bounded ours = std::move(must(program->interpret()).front());
  if (report.first->kind == "kernel") {
    CHECK(compare(must(program->run("scalar")), ours, {}).worst <= 1);
    return;
  }
  NamedTensor theirs = must(values->read(report.first->name));
  REQUIRE(report.repro->leastSnrDb.has_value());
  CHECK(difference(theirs.shape, ours.value.data, theirs.data).snrDb() < *report.repro->leastSnrDb);
}

/// Both diff and bisect name this value, and this kind.
void expectFound(const Verdicts &found, const std::string &name, const std::string &kind) {
  for (auto &[by, first] :
       {std::pair("diff", found.diff), std::pair("bisect", found.bisect.first)}) {
    INFO(by << " found " << (first ? first->name + ", " + first->kind : "nothing"));
    REQUIRE(first.has_value());
    CHECK(first->name == name);
    CHECK(first->kind == kind);
    CHECK(first->ratio > 1);
  }
  expectRepro(found.bisect);
}

void expectNothing(const Verdicts &found) {
  for (auto &[by, first] :
       {std::pair("diff", found.diff), std::pair("bisect", found.bisect.first)}) {
    INFO(by << " found " << (first ? first->name + ", " + first->kind : "nothing"));
    CHECK_FALSE(first.has_value());
  }
}

/// The fault `plant(forward, layer)` is found as a wrong graph at `suffix` of each site; `alone`:
/// no other value of the layer is wrong.
void expectAtSites(const TinyFile &file, const std::string &suffix, const std::string &op,
                   llvm::function_ref<void(func::FuncOp, int)> plant, bool alone = true) {
  for (int layer : sites) {
    INFO(suffix << " of layer " << layer);
    auto found =
        findGraphFault(file.path(), prompt(), [&](func::FuncOp forward) { plant(forward, layer); });
    expectFound(found, at(layer, suffix), "graph");
    CHECK(llvm::is_contained(found.bisect.first->ops, op));
    CHECK(found.bisect.blame == "the frontend");
    CHECK(llvm::StringRef(found.bisect.first->source).starts_with("frontends/arch/"));
    // Where nothing else is wrong, all after it is right once the reference's value is in place.
    REQUIRE(found.bisect.recovery.has_value());
    if (alone)
      CHECK(found.bisect.recovery->after >= found.bisect.recovery->before - 1);
  }
}

/// The three sizes of a fault with one site.
void expectSizes(const std::string &name, llvm::function_ref<void(func::FuncOp, float)> plant,
                 std::initializer_list<float> sizes) {
  for (float size : sizes) {
    INFO(name << " by " << size);
    expectFound(findGraphFault(gemma().path(), prompt(),
                               [&](func::FuncOp forward) { plant(forward, size); }),
                name, "graph");
  }
}

llvm::APFloat times(const llvm::APFloat &x, float factor) {
  return llvm::APFloat(x.convertToFloat() * factor);
}

} // namespace

TEST_CASE("1: the rotary base") {
  expectAtSites(llama(), "q_rope", "rope", [](func::FuncOp f, int layer) {
    auto rope = opOf<ir::RopeOp>(f, at(layer, "q_rope"));
    rope.setBase(times(rope.getBase(), 1.01f));
  });
}

TEST_CASE("2: the rotary style") {
  expectAtSites(llama(), "k_rope", "rope", [](func::FuncOp f, int layer) {
    opOf<ir::RopeOp>(f, at(layer, "k_rope")).setMode("neox");
  });
}

TEST_CASE("3: the scale of the embedding") {
  expectSizes("embed",
              [](func::FuncOp f, float factor) {
                auto scale = opOf<ir::ScaleOp>(f, "embed");
                scale.setS(times(scale.getS(), factor));
              },
              {1.001f, 1.1f, 0.0625f});
}

TEST_CASE("4: a norm's weight without its offset") {
  expectAtSites(gemma(), "ffn_norm", "mul", [](func::FuncOp f, int layer) {
    auto mul = opOf<ir::MulOp>(f, at(layer, "ffn_norm"));
    OpBuilder b(mul->getContext());
    b.setInsertionPointAfter(mul);
    auto sum =
        ir::AddOp::create(b, mul.getLoc(), mul.getType(), mul.getResult(), mul.getOperand(0));
    mul.getResult().replaceAllUsesExcept(sum.getResult(), sum);
  });
}

TEST_CASE("5: the map of KV heads") {
  expectAtSites(llama(), "attn_scores", "bmm", [](func::FuncOp f, int layer) {
    auto bmm = opOf<ir::BmmOp>(f, at(layer, "attn_scores"));
    Value k = bmm.getOperand(1);
    auto type = cast<RankedTensorType>(k.getType());
    OpBuilder b(bmm);
    SmallVector<int64_t> shape(type.getShape());
    int64_t heads = std::exchange(shape[0], 1);
    REQUIRE(heads == 2);
    auto one = RankedTensorType::get(shape, type.getElementType());
    auto unknown = b.getUnknownLoc();
    Value second = ir::SliceOp::create(b, unknown, one, k, 0, 1, 1);
    Value first = ir::SliceOp::create(b, unknown, one, k, 0, 0, 1);
    bmm.setOperand(1, ir::ConcatOp::create(b, unknown, type, second, first, 0));
  });
}

TEST_CASE("6: gate and up swapped") {
  expectAtSites(
      llama(), "ffn_gate", "matmul",
      [](func::FuncOp f, int layer) {
        auto gate = opOf<ir::MatmulOp>(f, at(layer, "ffn_gate"));
        auto up = opOf<ir::MatmulOp>(f, at(layer, "ffn_up"));
        Value w = gate.getW();
        up.getW().getDefiningOp()->moveBefore(w.getDefiningOp());
        gate.setOperand(1, up.getW());
        up.setOperand(1, w);
      },
      /*alone=*/false);
}

TEST_CASE("7: a window that is off by one") {
  expectAtSites(gemma(), "attn_probs", "attn_mask", [](func::FuncOp f, int layer) {
    auto mask = opOf<ir::AttnMaskOp>(f, at(layer, "attn_probs"));
    mask.setWindow(mask.getWindow() + 1);
  });
}

TEST_CASE("8: the scale of attention") {
  expectAtSites(llama(), "attn_scores", "scale", [](func::FuncOp f, int layer) {
    auto scale = opOf<ir::ScaleOp>(f, at(layer, "attn_scores"));
    scale.setS(times(scale.getS(), 1.01f));
  });
}

TEST_CASE("9: eps") {
  expectAtSites(llama(), "attn_norm", "rms_norm", [](func::FuncOp f, int layer) {
    auto norm = opOf<ir::RMSNormOp>(f, at(layer, "attn_norm"));
    norm.setEps(llvm::APFloat(1e-3f));
  });
}

TEST_CASE("10: a soft-cap left out or otherwise") {
  expectSizes("logits",
              [](func::FuncOp f, float factor) {
                auto outer = opOf<ir::ScaleOp>(f, "logits");
                if (factor == 0)
                  outer.getX().getDefiningOp()->setAttr("kind",
                                                        StringAttr::get(f.getContext(), "relu"));
                else
                  outer.setS(times(outer.getS(), factor));
              },
              {0, 1.001f, 2});
}

TEST_CASE("11: a wrong scale in one kernel") {
  for (int layer : sites) {
    INFO("layer " << layer);
    auto found = findKernelFault(llama().path(), prompt(), at(layer, "k"),
                                 [](auto result, auto, uint64_t width) {
                                   for (uint64_t i = 0; i < result.size(); ++i)
                                     if (i % width / 16 == 1) // one tile of rows
                                       result[i] *= 1.01f;
                                 });
    expectFound(found, at(layer, "k"), "kernel");
    CHECK(llvm::StringRef(found.bisect.blame).ends_with(", at every level"));
    CHECK(found.bisect.trials.size() >= levelsBelow(bestLevel()).size());
    CHECK(found.bisect.recovery->after > found.bisect.recovery->before);
  }
}

TEST_CASE("12: a value written too early") {
  for (int layer : sites) {
    INFO("layer " << layer);
    auto found = findKernelFault(llama().path(), prompt(), at(layer, "resid_mid"),
                                 [](auto result, auto before, uint64_t width) {
                                   for (uint64_t i = 0; i < width; ++i) // the first token's
                                     result[i] = before[i];
                                 });
    expectFound(found, at(layer, "resid_mid"), "kernel");
    CHECK(llvm::StringRef(found.bisect.blame).ends_with(", at every level"));
    CHECK(found.bisect.trials.size() >= levelsBelow(bestLevel()).size());
    CHECK(found.bisect.recovery->after > found.bisect.recovery->before);
  }
}

TEST_CASE("what a pass made wrong is the pass's") {
  auto expect = [](const std::string &pass, const std::string &site, const std::string &value,
                   llvm::function_ref<void(func::FuncOp, int)> plant) {
    for (int layer : sites) {
      BisectReport found =
          findPassFault(llama().path(), prompt(), pass, [&](func::FuncOp f) { plant(f, layer); });
      INFO(pass << " at layer " << layer << ": found "
                << (found.first ? found.first->name + ", " + found.first->kind : "nothing"));
      REQUIRE(found.first.has_value());
      CHECK(found.first->name == at(layer, value));
      CHECK(found.first->kind == "pass");
      CHECK(found.blame == pass + "@" + at(layer, site));
      CHECK(found.recovery->after > found.recovery->before);
      expectRepro(found);
    }
  };
  expect("fuse-glu", "ffn_act", "ffn_gate", [](func::FuncOp f, int layer) {
    auto glu = opOf<ir::GluOp>(f, at(layer, "ffn_act"));
    if (glu && ir::nameOf(glu) == at(layer, "ffn_act")) {
      Value gate = glu.getOperand(1);
      glu.setOperand(1, glu.getOperand(2));
      glu.setOperand(2, gate);
    }
  });
  expect("fuse-attention", "attn_ctx", "attn_scores", [](func::FuncOp f, int layer) {
    if (auto attention = opOf<ir::AttentionOp>(f, at(layer, "attn_ctx")))
      if (ir::nameOf(attention) == at(layer, "attn_ctx"))
        attention.setScale(times(attention.getScale(), 1.01f));
  });
  expect("fuse-rms-norm", "ffn_norm", "ffn_norm", [](func::FuncOp f, int layer) {
    if (auto norm = opOf<ir::RMSNormMulOp>(f, at(layer, "ffn_norm")))
      if (ir::nameOf(norm) == at(layer, "ffn_norm"))
        norm.setEps(llvm::APFloat(1e-2f));
  });
}

TEST_CASE("a mixture of experts, whose choices are values too") {
  TinyFile moe({.arch = "llama",
                .type = "Q4_0",
                .layers = 2,
                .overrides = {"llama.expert_count=u32:4", "llama.expert_used_count=u32:2"}});
  expectNothing(findGraphFault(moe.path(), prompt(), [](func::FuncOp) {}));
  expectNothing(findKernelFault(moe.path(), prompt(), at(0, "q"), nullptr));
  auto plant = [](func::FuncOp f) {
    auto softmax = opOf<ir::SoftmaxOp>(f, at(1, "ffn_moe_probs"));
    OpBuilder b(softmax->getContext());
    b.setInsertionPoint(softmax);
    Value x = softmax.getOperand(0);
    softmax.setOperand(
        0, ir::ScaleOp::create(b, b.getUnknownLoc(), x.getType(), x, llvm::APFloat(1.01f)));
  };
  expectFound(findGraphFault(moe.path(), prompt(), plant), at(1, "ffn_moe_probs"), "graph");
}

TEST_CASE("ten controls without a fault") {
  for (uint32_t seed = 0; seed < 5; ++seed) {
    INFO("seed " << seed);
    expectNothing(
        findGraphFault((seed % 2 ? llama() : gemma()).path(), prompt(seed), [](func::FuncOp) {}));
    expectNothing(findKernelFault((seed % 2 ? gemma() : llama()).path(), prompt(seed + 50),
                                  at(0, "q"), nullptr));
  }
}
