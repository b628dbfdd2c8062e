// vetro make-tiny: write a random model.
#include "frontends/Architecture.h"
#include "frontends/gguf/FileType.h"
#include "frontends/tiny/Tiny.h"
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct MakeTinyOptions {
  TinyOptions tiny;
  std::string output;
  bool json = false;
};
} // namespace

static int makeTiny(const MakeTinyOptions &o) {
  if (llvm::Error error = checkOutput(o.output))
    return fail(std::move(error));
  ModelOptions none;
  Progress bar(none);
  auto progress = [&](double fraction) { bar.show("writing", fraction); };
  llvm::Error error = vetro::makeTiny(o.tiny, o.output, progress);
  bar.clear();
  if (error)
    return fail(std::move(error));
  uint64_t bytes = 0;
  if (std::error_code code = llvm::sys::fs::file_size(o.output, bytes))
    return fail(o.output + ": " + code.message());
  if (o.json)
    printJson({{"path", o.output}, {"bytes", bytes}});
  else
    llvm::outs() << llvm::formatv("{0}: {1:f1} MB\n", o.output, bytes / 1e6);
  return Done;
}

static std::vector<std::string> strings(llvm::ArrayRef<llvm::StringRef> names) {
  return {names.begin(), names.end()};
}

void addMakeTiny(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<MakeTinyOptions>();
  TinyOptions &t = o->tiny;
  CLI::App *c = program.add_subcommand("make-tiny", "write a random model, for tests and timing");
  c->add_option("--arch", t.arch, "architecture")
      ->required()
      ->check(CLI::IsMember(strings(architectureNames())));
  c->add_option("--type", t.type, "format of the matrices, or a mix of formats such as Q4_K_M")
      ->required()
      ->check(CLI::IsMember(strings(gguf::fileTypeNames()), CLI::ignore_case));
  c->add_option("--shape", t.shape, "sizes: those of common models, or tiny")
      ->check(CLI::IsMember(strings(tinyShapes())))
      ->capture_default_str();
  c->add_option("--layers", t.layers, "layers, instead of the shape's")
      ->check(range<int64_t>(1, 1024));
  c->add_option("--seed", t.seed, "the same seed gives the same bytes")
      ->check(range<uint64_t>(0, UINT64_MAX))
      ->capture_default_str();
  c->add_flag("--optional", t.optional,
              "add the tensors that files may lack: biases, a head of its own");
  c->add_option("--override-kv", t.overrides, "set a metadata key: KEY=TYPE:VALUE");
  c->add_flag("--json", o->json, "one object: path, bytes");
  c->add_option("-o,--output", o->output, "the file to write")->required();
  c->footer("Examples:\n  vetro make-tiny --arch gemma3 --type Q4_K_M -o tiny.gguf");
  c->callback([o, &exitCode] { exitCode = makeTiny(*o); });
}

} // namespace vetro::cli
