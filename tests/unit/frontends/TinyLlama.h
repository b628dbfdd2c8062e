// A small valid llama file that tests change key by key and tensor by tensor, and its graph.
#pragma once
#include "frontends/Architecture.h"
#include "frontends/gguf/Write.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace vetro::test {

/// Keys and tensors by name, in file order. Starts as 2 layers of width 64, 4 heads of 16, 2 KV
/// heads, feed-forward 96, 320 tokens, F32, with an output matrix.
class TinyLlama {
public:
  explicit TinyLlama(unsigned layers = 2);

  template <typename T> TinyLlama &key(const std::string &name, T value) {
    return put(name, [=](gguf::Writer &w) { w.add<T>(name, value); });
  }
  TinyLlama &text(const std::string &name, std::string value) {
    return put(name, [=](gguf::Writer &w) { w.addString(name, value); });
  }
  TinyLlama &array(const std::string &name, std::vector<int32_t> values) {
    return put(name, [=](gguf::Writer &w) { w.addArray<int32_t>(name, values); });
  }
  /// A vocabulary of 320 tokens, bytes among them, so that the file can be run.
  TinyLlama &vocabulary();
  TinyLlama &dropKey(const std::string &name);

  /// Adds or replaces a tensor; shape row-major; filled with small numbers.
  TinyLlama &tensor(const std::string &name, std::vector<uint64_t> shape,
                    Format format = Format::F32);
  /// The same of F32, every element `value`.
  TinyLlama &constant(const std::string &name, std::vector<uint64_t> shape, float value);
  /// Sets element `index` of a tensor of F32 that is there.
  TinyLlama &element(const std::string &name, uint64_t index, float value);
  TinyLlama &dropTensor(const std::string &name);
  /// Replaces the feed-forwards by `experts` experts of `width`, of which `used` are used.
  TinyLlama &experts(unsigned experts, unsigned used, uint64_t width = 32,
                     Format format = Format::F32);

  /// The file's bytes.
  std::string bytes() const;

private:
  using Add = std::function<void(gguf::Writer &)>;
  struct Tensor {
    std::string name;
    Format format;
    std::vector<uint64_t> shape;
    std::vector<uint8_t> data;
  };
  TinyLlama &put(const std::string &name, Add add);
  TinyLlama &put(Tensor tensor);

  std::vector<std::pair<std::string, Add>> keys;
  std::vector<Tensor> tensors;
  unsigned nLayer;
};

/// A graph and what owns it.
struct Built {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphReport report;

  /// The module as text, with names as locations.
  std::string text() const;
};

/// Builds the graph, or fails the test and shows the message.
Built built(const TinyLlama &file, const GraphOptions &options = {});

/// The message with which the file, or its graph, is refused; fails the test where it is not, or
/// where the message is no single clean line.
std::string refusal(const TinyLlama &file, const GraphOptions &options = {});

} // namespace vetro::test
