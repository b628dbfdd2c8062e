// Options and errors that subcommands share.
#include "runtime/cli/Command.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <unistd.h>

namespace vetro::cli {

int fail(llvm::Error error) {
  llvm::errs() << "vetro: " << llvm::toString(std::move(error)) << "\n";
  return InputError;
}

/// $XDG_CACHE_HOME/vetro, else ~/.cache/vetro; empty where neither is known.
static std::string defaultCacheDir() {
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

void addModelOptions(CLI::App &command, ModelOptions &o) {
  o.cacheDir = defaultCacheDir();
  command.add_option("MODEL", o.path, "a GGUF file; of a split model the first part")->required();
  command.add_option("--threads", o.nThreads, "threads, this one included")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--kv", o.kvType, "how keys and values are kept: f16 or f32")
      ->check(CLI::IsMember({"f16", "f32"}))
      ->capture_default_str();
  command.add_option("--disable", o.disable,
                     "switch a pass off: fuse-qkv, or fuse-qkv@blk.3 at one layer");
  command.add_option("--level", o.level, "instruction set level (default: the best this cpu runs)")
      ->check(CLI::IsMember({"scalar", "avx2", "avx512", "vnni"}));
  command.add_option("--override-kv", o.open.overrides, "set a metadata key: KEY=TYPE:VALUE");
  command.add_option("--cache-dir", o.cacheDir, "folder of compiled plans; empty: none")
      ->capture_default_str();
  command.add_flag("!--no-mmap", o.open.mmap, "read the file instead of mapping it");
  command.add_flag("--mlock", o.open.mlock, "keep the file's pages in memory");
  command.add_flag("--direct-io", o.open.directIO, "read past the page cache");
  command.add_flag("--check-tensors", o.open.checkTensors, "refuse weights that are not finite");
  command.add_flag("--allow-trailing", o.open.allowTrailing, "accept bytes that no tensor claims");
  command.add_flag("!--no-pin", o.pin, "do not bind threads to processors");
}

} // namespace vetro::cli
