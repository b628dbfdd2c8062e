// What is wrong with a GGUF file, as one line: file, byte offset, key or tensor, found, expected,
// and what to do. Used by every file of this folder.
#pragma once
#include "llvm/Support/Error.h"

namespace vetro::gguf {

/// Which part of the file an error is about.
enum class ErrorKind { File, Header, Metadata, TensorTable, Data, Values, Limit, Override };

/// Short name of a kind, as it stands in messages: "tensor table".
llvm::StringRef errorKindName(ErrorKind kind);

/// The error of everything in vetro::gguf.
class GgufError : public llvm::ErrorInfo<GgufError> {
public:
  static char ID;
  GgufError(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  ErrorKind kind() const { return kind_; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  ErrorKind kind_;
  std::string message_;
};

/// Text of a file between double quotes, made safe to print: printable ASCII as it is, all else as
/// \xNN, at most `most` bytes of it. Example: escaped("a\x1b") is "a\x1b" with quotes.
std::string escaped(llvm::StringRef text, size_t most = 80);

/// The error "PATH: KIND: what".
llvm::Error makeError(ErrorKind kind, llvm::StringRef path, const llvm::Twine &what);

/// The error "PATH: KIND at byte OFFSET: what".
llvm::Error makeError(ErrorKind kind, llvm::StringRef path, uint64_t offset,
                      const llvm::Twine &what);

/// The error of a failed system call: "PATH: could not ACTION: reason of errno".
llvm::Error makeSystemError(llvm::StringRef path, llvm::StringRef action, int errnoValue);

} // namespace vetro::gguf
