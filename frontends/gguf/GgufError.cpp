// Builds the one-line messages; all text that comes from a file passes escaped().
#include "frontends/gguf/GgufError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>

namespace vetro::gguf {

char GgufError::ID = 0;

llvm::StringRef errorKindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::File:
    return "file";
  case ErrorKind::Header:
    return "header";
  case ErrorKind::Metadata:
    return "metadata";
  case ErrorKind::TensorTable:
    return "tensor table";
  case ErrorKind::Data:
    return "tensor data";
  case ErrorKind::Values:
    return "weight values";
  case ErrorKind::Limit:
    return "limit";
  case ErrorKind::Override:
    return "override";
  }
  llvm_unreachable("all kinds are named");
}

void GgufError::log(llvm::raw_ostream &os) const { os << message_; }

std::error_code GgufError::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

/// Appends `text`, with all but printable ASCII as \xNN.
static void appendEscaped(std::string &out, llvm::StringRef text) {
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (llvm::isPrint(static_cast<char>(c))) {
      out += static_cast<char>(c);
      continue;
    }
    out += "\\x";
    out += llvm::hexdigit(c >> 4, /*LowerCase=*/true);
    out += llvm::hexdigit(c & 15, /*LowerCase=*/true);
  }
}

std::string escaped(llvm::StringRef text, size_t most) {
  std::string out = "\"";
  appendEscaped(out, text.take_front(most));
  out += '"';
  if (text.size() > most)
    out += "... (" + std::to_string(text.size()) + " bytes)";
  return out;
}

/// A path as it was given, but with control characters escaped and no quotes around it.
static std::string printablePath(llvm::StringRef path) {
  std::string out;
  for (char c : path) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)
      out += c;
    else
      appendEscaped(out, llvm::StringRef(&c, 1));
  }
  return out;
}

llvm::Error makeError(ErrorKind kind, llvm::StringRef path, const llvm::Twine &what) {
  return llvm::make_error<GgufError>(
      kind, (printablePath(path) + ": " + errorKindName(kind) + ": " + what).str());
}

llvm::Error makeError(ErrorKind kind, llvm::StringRef path, uint64_t offset,
                      const llvm::Twine &what) {
  return llvm::make_error<GgufError>(kind, (printablePath(path) + ": " + errorKindName(kind) +
                                            " at byte " + llvm::Twine(offset) + ": " + what)
                                               .str());
}

static const char *nextStep(int errnoValue) {
  switch (errnoValue) {
  case ENOENT:
  case ENOTDIR:
    return "; check the path";
  case EACCES:
  case EPERM:
    return "; check its permissions";
  case ENOSPC:
    return "; free some space";
  default:
    return "";
  }
}

llvm::Error makeSystemError(llvm::StringRef path, llvm::StringRef action, int errnoValue) {
  return makeError(ErrorKind::File, path,
                   "could not " + action + ": " + std::generic_category().message(errnoValue) +
                       nextStep(errnoValue));
}

} // namespace vetro::gguf
