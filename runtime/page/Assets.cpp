// Finds what runtime/builtin/embed.py put in.
#include "runtime/page/Assets.h"

namespace vetro::page {

namespace {
struct Held {
  const char *path; ///< null: after the last one
  const char *begin, *end;
};
} // namespace
extern "C" const Held vt_page_assets[];

llvm::StringRef asset(llvm::StringRef path) {
  for (const Held *held = vt_page_assets; held->path; ++held)
    if (path == held->path)
      return llvm::StringRef(held->begin, size_t(held->end - held->begin));
  return "";
}

std::vector<llvm::StringRef> scripts() {
  std::vector<llvm::StringRef> paths;
  for (const Held *held = vt_page_assets; held->path; ++held)
    if (llvm::StringRef path(held->path);
        path.starts_with("runtime/page/assets/") && path.ends_with(".js"))
      paths.push_back(path);
  return paths;
}

} // namespace vetro::page
