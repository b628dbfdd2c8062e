// The kinds of errors, and their translation.
#include "runtime/python/Errors.h"
#include "frontends/gguf/GgufError.h"
#include "runtime/python/Bind.h"

#include "llvm/ADT/StringExtras.h"

namespace nb = nanobind;

namespace vetro::python {

static std::string kindOf(const llvm::ErrorInfoBase &error, During during) {
  if (error.isA<gguf::GgufError>())
    return static_cast<const gguf::GgufError &>(error).kind() == gguf::ErrorKind::Override ? "input"
                                                                                           : "file";
  if (error.convertToErrorCode() != llvm::inconvertibleErrorCode())
    return "system";
  return during == During::Load ? "model" : "input";
}

/// Needs no GIL. Of several joined errors the first decides the kind, and all are told in one line.
void raise(llvm::Error error, During during) {
  Failure failure;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    if (info.convertToErrorCode() == std::errc::interrupted)
      throw Interrupt();
    if (failure.kind.empty())
      failure.kind = kindOf(info, during);
    else
      failure.message += "; ";
    std::string text = info.message();
    llvm::StringRef message = text;
    message.consume_front("--"); // of a flag, which is called like the argument
    failure.message += message;
  });
  throw failure;
}

void refuse(std::string message) { throw Failure{"input", std::move(message)}; }

void bindErrors(nb::module_ &module) {
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Interrupt &) {
      if (!PyErr_CheckSignals())
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const Failure &failure) {
      nb::object type = nb::module_::import_("vetro.errors").attr("Error");
      nb::object message = nb::steal(PyUnicode_DecodeUTF8(
          failure.message.data(), Py_ssize_t(failure.message.size()), "backslashreplace"));
      nb::object error = type(message, failure.kind.c_str());
      PyErr_SetObject(type.ptr(), error.ptr());
    }
  });
}

} // namespace vetro::python
