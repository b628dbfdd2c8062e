// vetro names: the values of an architecture, and where the Hugging Face model has each.
#include "frontends/Architecture.h"
#include "runtime/cli/Command.h"
#include "runtime/engine/AlignmentJson.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

static int names(const std::string &arch, bool json) {
  auto architecture = requireArchitecture(arch);
  if (!architecture)
    return fail(architecture.takeError());
  if (json)
    llvm::outs() << alignmentJson(**architecture) << "\n";
  else
    for (const ValueAlignment &row : alignmentOf(**architecture))
      llvm::outs() << llvm::format(
          "%-26s %-46s %-8s %s%s\n", row.name.data(),
          (row.module + (row.ofFunction ? " (function)" : "")).str().c_str(), row.port.data(),
          row.transforms.data(), (row.when.empty() ? "" : "  when " + row.when).str().c_str());
  return Done;
}

void addNames(CLI::App &program, int &exitCode) {
  struct Options {
    std::string arch;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App *c = program.add_subcommand(
      "names", "the values of an architecture and where PyTorch's model has them");
  c->add_option("ARCH", o->arch, "llama, gemma3: general.architecture of a file")->required();
  c->add_flag("--json", o->json,
              "one object: arch, names (name, module or function, port, "
              "transforms, when)");
  c->footer(
      "* stands for the layer. The transforms lead from PyTorch's layout to ours. Values \"when\"\n"
      "are those of layers that have that module, with ! of those that do not.\n"
      "Examples:\n"
      "  vetro names llama\n"
      "  vetro names gemma3 --json");
  c->callback([o, &exitCode] { exitCode = names(o->arch, o->json); });
}

} // namespace vetro::cli
