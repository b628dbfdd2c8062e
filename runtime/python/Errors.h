// From llvm::Error to Python's vetro.Error.
#pragma once

#include "llvm/Support/Error.h"
#include <nanobind/nanobind.h>
#include <string>

namespace vetro::python {

/// What was going on when an error came: it decides the kind of an error that tells none itself.
enum class During { Load, Call };

/// Becomes Python's vetro.Error.
struct Failure {
  std::string kind; ///< "input", "file", "model", "system"
  std::string message;
};

/// Becomes KeyboardInterrupt, or what the program's own handler of SIGINT raises.
struct Interrupt {};

/// Throws the error, Interrupt where its code is std::errc::interrupted. Its kind: "file" where the
/// GGUF file cannot be read or is malformed; "system" where the operating system refused (the error
/// carries its code); else "model" while a model is loaded, and "input" for what is asked of a
/// loaded one.
[[noreturn]] void raise(llvm::Error error, During during);
/// Throws an error about an argument.
[[noreturn]] void refuse(std::string message);

inline void check(llvm::Error error, During during) {
  if (error)
    raise(std::move(error), during);
}

template <typename T> T take(llvm::Expected<T> value, During during) {
  if (!value)
    raise(value.takeError(), during);
  return std::move(*value);
}

} // namespace vetro::python
