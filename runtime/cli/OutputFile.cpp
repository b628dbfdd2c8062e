// Files written as a whole.
#include "runtime/cli/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace fs = llvm::sys::fs;
using llvm::StringRef;

namespace vetro::cli {

llvm::Error checkOutput(StringRef path, StringRef option, llvm::ArrayRef<std::string> inputs) {
  if (path.empty())
    return llvm::createStringError(option + ": found no name, expected the file to write");
  for (const std::string &input : inputs)
    if (!input.empty() && fs::equivalent(path, input))
      return llvm::createStringError(option + ": " + path +
                                     " is read by this command; write to "
                                     "another file");
  fs::file_status status;
  bool there = !fs::status(path, status);
  if (there && fs::is_directory(status))
    return llvm::createStringError(path + ": is a folder, expected the file to write; name a file "
                                          "in it");
  if (there && !fs::is_regular_file(status))
    return llvm::createStringError(path + ": is no regular file, expected the file to write; write "
                                          "to a new one and copy it");
  StringRef folder = llvm::sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  if (std::error_code code = fs::access(folder, fs::AccessMode::Exist))
    return llvm::createStringError(path + ": the folder is missing: " + code.message() +
                                   "; make it first: mkdir -p " + folder);
  if (std::error_code code = fs::access(folder, fs::AccessMode::Write))
    return llvm::createStringError(path + ": cannot be written: " + code.message() +
                                   "; write to another folder");
  return llvm::Error::success();
}

static llvm::Error failure(StringRef path, std::error_code code) {
  return llvm::createStringError(path + ": cannot be written: " + code.message() +
                                 "; free some space or write elsewhere");
}

llvm::Error writeOutput(StringRef path,
                        llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  llvm::SmallString<128> part;
  int fd = -1;
  if (std::error_code code = fs::createUniqueFile(path + ".%%%%%%.part", fd, part))
    return failure(path, code);
  llvm::raw_fd_ostream out(fd, /*shouldClose=*/true);
  llvm::Error error = write(out);
  out.close();
  std::error_code code = out.error();
  out.clear_error(); // else its destructor ends the process
  if (error) {
    fs::remove(part);
    return error;
  }
  if (!code)
    code = fs::rename(part, path);
  if (!code)
    return llvm::Error::success();
  fs::remove(part);
  return failure(path, code);
}

} // namespace vetro::cli
