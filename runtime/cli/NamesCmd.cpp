// vetro names: the values of an architecture, and where the Hugging Face model has each.
#include "frontends/Architecture.h"
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

static Json rowJson(const ValueAlignment &row) {
  llvm::SmallVector<llvm::StringRef> parts;
  row.transforms.split(parts, ',', -1, /*KeepEmpty=*/false);
  Json transforms = Json::array();
  for (llvm::StringRef part : parts)
    transforms.push_back(part.str());
  return {{"name", row.name.str()},
          {row.ofFunction ? "function" : "module", row.module.str()},
          {"port", row.port.str()},
          {"transforms", transforms}};
}

static int names(const std::string &arch, bool json) {
  const Architecture *architecture = findArchitecture(arch);
  if (!architecture)
    return fail("unknown architecture " + quotedText(arch) + ", known are " +
                llvm::join(architectureNames(), ", "));
  std::vector<ValueAlignment> rows = alignmentOf(*architecture);
  Json list = Json::array();
  for (const ValueAlignment &row : rows)
    list.push_back(rowJson(row));
  if (json)
    printJson({{"arch", arch}, {"names", list}});
  else
    for (const ValueAlignment &row : rows)
      llvm::outs() << llvm::format(
          "%-22s %-46s %-7s %s\n", row.name.data(),
          (row.module + (row.ofFunction ? " (function)" : "")).str().c_str(), row.port.data(),
          row.transforms.data());
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
              "transforms)");
  c->footer("* stands for the layer. The transforms lead from PyTorch's layout to ours.\n"
            "Examples:\n"
            "  vetro names llama\n"
            "  vetro names gemma3 --json");
  c->callback([o, &exitCode] { exitCode = names(o->arch, o->json); });
}

} // namespace vetro::cli
