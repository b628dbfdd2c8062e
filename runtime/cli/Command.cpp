// Options and errors that subcommands share.
#include "runtime/cli/Command.h"
#include "runtime/builtin/Builtin.h"
#include "runtime/engine/RoundedModel.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

namespace vetro::cli {

std::string oneLine(const llvm::Twine &text) {
  std::string line;
  for (char c : text.str())
    if (c == '\n')
      line += "; "; // several joined errors are one line too
    else if (static_cast<unsigned char>(c) < ' ' || c == 127)
      line += "\\x" + llvm::utohexstr(static_cast<unsigned char>(c), /*LowerCase=*/true, 2);
    else
      line += c;
  return line;
}

int fail(const llvm::Twine &message) {
  llvm::outs().flush();
  llvm::errs() << "vetro: " << oneLine(message) << "\n";
  return InputError;
}

int fail(llvm::Error error) { return fail(llvm::toString(std::move(error))); }

std::string defaultCacheDir() {
  llvm::SmallString<128> folder;
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    folder = cache;
  else if (const char *home = std::getenv("HOME"); home && *home)
    llvm::sys::path::append(folder, home, ".cache");
  else
    return "";
  llvm::sys::path::append(folder, "vetro");
  return std::string(folder);
}

void addFileOptions(CLI::App &command, ModelOptions &o, const std::string &model) {
  // A check is where a path passes whatever the command; it is never refused for what the file
  // holds.
  auto takeBuiltin = [&o](const std::string &path) {
    return llvm::toString(useBuiltin(path, o.open));
  };
  command
      .add_option(model, o.path,
                  "a GGUF file, of a split model the first part; tiny: the model inside Vetro")
      ->required(model == "MODEL")
      ->check(CLI::Validator(takeBuiltin, ""));
  command.add_option("--override-kv", o.open.overrides, "set a metadata key: KEY=TYPE:VALUE")
      ->allow_extra_args(false);
  command.add_flag_callback(
      "--no-mmap", [&o] { o.open.mmap = false; }, "read the file instead of mapping it");
  command.add_flag("--mlock", o.open.mlock, "keep the file's pages in memory");
  command.add_flag("--direct-io", o.open.directIO, "read past the page cache");
  command.add_flag("--check-tensors", o.open.checkTensors, "refuse weights that are not finite");
  command.add_flag("--allow-trailing", o.open.allowTrailing, "accept bytes that no tensor claims");
}

void addPlanOptions(CLI::App &command, ModelOptions &o) {
  command.add_option("--kv", o.kvType, "how keys and values are kept: f16 or f32")
      ->check(CLI::IsMember({"f16", "f32"}))
      ->capture_default_str();
  command
      .add_option("--disable", o.disable,
                  "switch a pass off: fuse-qkv, or fuse-qkv@blk.3 at one layer")
      ->allow_extra_args(false);
  command
      .add_option(
          "--activation", o.activations,
          "REGEX=FORMAT: how the inputs of quantised matmuls whose names match are rounded: "
          "a8 (7 bits) or a8x2 (15 bits, twice the work)")
      ->allow_extra_args(false);
  addLevelOption(command, o.level);
}

void addRoundOption(CLI::App &command, ModelOptions &o) {
  std::vector<std::string> types;
  for (llvm::StringRef type : roundingTypes())
    types.push_back(type.str());
  command
      .add_option("--round", o.round,
                  "round where a PyTorch model of this type does, to meet its values")
      ->check(CLI::IsMember(types))
      ->needs(command.get_option("--reference"));
}

void addLevelOption(CLI::App &command, std::string &level) {
  command.add_option("--level", level, "instruction set level (default: the best this cpu runs)")
      ->check(CLI::IsMember({"scalar", "avx2", "avx512", "vnni"}));
}

void addModelOptions(CLI::App &command, ModelOptions &o, const std::string &model) {
  addFileOptions(command, o, model);
  addPlanOptions(command, o);
  o.cacheDir = defaultCacheDir();
  command.add_option("--threads", o.nThreads, "threads, this one included")
      ->check(range(1u, 1024u))
      ->capture_default_str();
  command.add_flag_callback(
      "--no-pin", [&o] { o.pin = false; }, "do not bind threads to processors");
  command.add_option("--cache-dir", o.cacheDir,
                     "folder of compiled plans; '': keep none (default: ~/.cache/vetro)");
}

void addSessionOptions(CLI::App &command, SessionOptions &o) {
  command.add_option("-c,--ctx", o.nCtx, "context in tokens, at most the model's; 0: the model's")
      ->check(range(0u, 1u << 30))
      ->capture_default_str();
  command.add_option("--ubatch", o.nUbatch, "tokens per micro-batch")
      ->check(range(1u, 1u << 20))
      ->capture_default_str();
}

/// For a shell: as it is where no character means anything there, else in single quotes.
static std::string shellWord(llvm::StringRef word) {
  auto isPlain = [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_-./=:,@%+").contains(c);
  };
  if (!word.empty() && llvm::all_of(word, isPlain))
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string commandLine(const CLI::App &command, llvm::ArrayRef<llvm::StringRef> without) {
  std::string positionals, options;
  for (const CLI::Option *option : command.get_options()) {
    if (llvm::is_contained(without, option->get_name()))
      continue;
    bool isFlag = option->get_items_expected_max() == 0;
    std::string &line = option->get_positional() ? positionals : options;
    for (const std::string &value : option->results()) {
      if (!option->get_positional())
        line += " " + option->get_name();
      if (!isFlag)
        line += " " + shellWord(value);
    }
  }
  return "vetro " + command.get_name() + positionals + options;
}

llvm::Expected<std::shared_ptr<gguf::File>> openFile(ModelOptions &o) {
  catchFaults(o);
  return gguf::File::open(o.path, o.open);
}

} // namespace vetro::cli
