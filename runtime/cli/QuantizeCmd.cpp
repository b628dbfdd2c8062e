// vetro quantize: a model in smaller formats.
#include "frontends/gguf/FileType.h"
#include "frontends/gguf/Quantize.h"
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct QuantizeOptions {
  ModelOptions model;
  std::string type, output;
  bool json = false;
};
} // namespace

static llvm::Error quantize(QuantizeOptions &o) {
  if (llvm::Error error = checkOutput(o.output, "-o", {o.model.path}))
    return error;
  auto type = gguf::fileTypeByName(o.type);
  if (!type)
    return type.takeError();
  auto file = openFile(o.model);
  if (!file)
    return file.takeError();
  ModelOptions none;
  Progress bar(none);
  llvm::Error error = gguf::quantize(**file, **type, o.output,
                                     [&](double fraction) { bar.show("writing", fraction); });
  bar.clear();
  if (error)
    return error;
  if (llvm::Error changed = (*file)->checkUnchanged())
    return changed;
  auto written = gguf::File::open(o.output);
  if (!written)
    return written.takeError();
  uint64_t before = (*file)->fileBytes(), after = (*written)->fileBytes();
  if (o.json)
    printJson({{"path", o.output}, {"bytes", after}, {"bytes_before", before}});
  else
    llvm::outs() << llvm::formatv("{0}: {1:f1} MB, was {2:f1} MB\n", o.output, after / 1e6,
                                  before / 1e6);
  return llvm::Error::success();
}

void addQuantize(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<QuantizeOptions>();
  CLI::App *command = program.add_subcommand("quantize", "write a model in smaller formats");
  addFileOptions(*command, o->model);
  std::vector<llvm::StringRef> names = gguf::fileTypeNames();
  command
      ->add_option("--type", o->type, "format of the matrices, or a mix of formats such as Q4_K_M")
      ->required()
      ->check(
          CLI::IsMember(std::vector<std::string>(names.begin(), names.end()), CLI::ignore_case));
  command->add_flag("--json", o->json, "one object: path, bytes, bytes_before");
  command->add_option("-o,--output", o->output, "the file to write")->required();
  command->footer("Examples:\n  vetro quantize model.f16.gguf --type Q4_K_M -o model.gguf");
  command->callback([o, &exitCode] {
    llvm::Error error = quantize(*o);
    exitCode = error ? fail(std::move(error)) : int(Done);
  });
}

} // namespace vetro::cli
