// File of an entry: a text line "vetro-object 2 <bytes of plan> <bytes of object> <hash>", the plan
// as JSON, the object code.
#include "runtime/jit/ObjectCache.h"
#include "runtime/jit/PlanFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"
#include <link.h>

using namespace llvm;

namespace vetro {

static constexpr StringRef magic = "vetro-object 2 ";

static std::string hashOf(ArrayRef<StringRef> parts) {
  BLAKE3 hash;
  for (StringRef part : parts) {
    hash.update(part);
    hash.update(StringRef("\0", 1));
  }
  return toHex(hash.final<16>(), /*LowerCase=*/true);
}

/// Whether a loaded program or library holds this very code.
static bool isOurs(const dl_phdr_info &info) {
  auto here = reinterpret_cast<uintptr_t>(&magic);
  for (const auto &segment : ArrayRef(info.dlpi_phdr, info.dlpi_phnum))
    if (uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
        segment.p_type == PT_LOAD && here >= begin && here - begin < segment.p_memsz)
      return true;
  return false;
}

/// The linker's build id of the program, or of the library inside another program, that this code
/// was linked into: another build never reads this one's entries.
static std::string buildId() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        if (!isOurs(*info))
          return 0;
        for (const auto &segment : ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
          if (segment.p_type != PT_NOTE)
            continue;
          auto *note = reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
          static_cast<std::string *>(data)->append(note, segment.p_memsz);
        }
        return 1;
      },
      &id);
  return id;
}

std::string ObjectCache::key(StringRef description) {
  std::string features;
  for (auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      features += feature.first().str() + ",";
  // In a fixed order: the map's order depends on its history.
  SmallVector<StringRef> sorted;
  StringRef(features).split(sorted, ',');
  sort(sorted);
  std::string cpu = join(sorted, ",");
  return hashOf({description, buildId(), sys::getHostCPUName(), cpu});
}

std::string ObjectCache::path(StringRef key) const {
  SmallString<128> file(folder);
  sys::path::append(file, key + ".vobj");
  return std::string(file);
}

/// The entry in a file's bytes; nothing if any of it is not as written.
static std::optional<CacheEntry> parse(StringRef bytes) {
  auto [line, rest] = bytes.split('\n');
  uint64_t planBytes = 0, objectBytes = 0;
  if (!line.consume_front(magic) || line.consumeInteger(10, planBytes) ||
      !line.consume_front(" ") || line.consumeInteger(10, objectBytes) || !line.consume_front(" "))
    return {};
  if (planBytes > rest.size() || objectBytes != rest.size() - planBytes)
    return {};
  StringRef planText = rest.take_front(planBytes), object = rest.drop_front(planBytes);
  if (hashOf({planText, object}) != line)
    return {};
  Expected<json::Value> json = json::parse(planText);
  if (!json)
    return consumeError(json.takeError()), std::nullopt;
  Expected<Plan> plan = planFromJson(*json);
  if (!plan)
    return consumeError(plan.takeError()), std::nullopt;
  return CacheEntry{MemoryBuffer::getMemBufferCopy(object, "vetro_steps"), std::move(*plan)};
}

std::optional<CacheEntry> ObjectCache::find(StringRef key) const {
  if (folder.empty())
    return {};
  auto file = MemoryBuffer::getFile(path(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return {};
  std::optional<CacheEntry> entry = parse((*file)->getBuffer());
  if (!entry)
    sys::fs::remove(path(key));
  return entry;
}

Error ObjectCache::store(StringRef key, StringRef object, const Plan &plan) const {
  if (folder.empty())
    return Error::success();
  if (std::error_code code = sys::fs::create_directories(folder))
    return createStringError(code, "%s: cannot make the folder", folder.c_str());
  std::string text;
  raw_string_ostream(text) << planToJson(plan);
  return writeToOutput(path(key), [&](raw_ostream &out) {
    out << magic << text.size() << " " << object.size() << " " << hashOf({text, object}) << "\n"
        << text << object;
    return Error::success();
  });
}

} // namespace vetro
