// A trace: one run written down, so that it can be looked at again, elsewhere, by other programs.
// docs/trace.md describes the format; this file reads and writes its frame: a folder, or the same
// as one zip file (.vtrace), with trace.json and the files that it names.
#pragma once

#include "runtime/trace/Safetensors.h"
#include "runtime/trace/TensorFile.h"

#include <nlohmann/json.hpp>

namespace vetro {

/// Version of the format. A reader takes its own and older ones.
inline constexpr int traceVersion = 1;

class TraceWriter {
public:
  virtual ~TraceWriter() = default;
  /// Begins a trace; by its name ".vtrace" one file, else a folder. Nothing that is no trace is
  /// overwritten. Error: it cannot be written.
  static llvm::Expected<std::unique_ptr<TraceWriter>> create(llvm::StringRef path);
  /// Adds a file, "ir/03-fuse-rope.mlir".
  virtual llvm::Error add(llvm::StringRef name, llvm::StringRef bytes) = 0;
  /// Makes a file's bytes when they are asked for.
  using Make = std::function<llvm::Expected<std::string>()>;
  /// Adds a file that takes long to make: what keeps the trace in memory may make it later.
  virtual llvm::Error addLater(llvm::StringRef name, Make make);
  /// Adds tensors.
  llvm::Error add(llvm::StringRef name, llvm::ArrayRef<RawTensor> tensors,
                  const std::vector<std::pair<std::string, std::string>> &metadata);
  /// Adds trace.json; until then there is no trace.
  virtual llvm::Error finish(const nlohmann::ordered_json &document) = 0;
};

class TraceFile {
public:
  using Members = std::map<std::string, std::shared_ptr<const Bytes>>;
  /// Of files in memory. Error as open()'s.
  static llvm::Expected<std::unique_ptr<TraceFile>>
  of(llvm::StringRef path, Members members, std::map<std::string, TraceWriter::Make> later = {});
  /// Opens a folder or a .vtrace file. Error: it is neither, it was made by a newer Vetro, it is
  /// damaged: one line that says what is wrong, and where.
  static llvm::Expected<std::unique_ptr<TraceFile>> open(llvm::StringRef path);

  const std::string &path() const { return name; }
  /// trace.json, of which all fields that docs/trace.md calls required are there and of their type.
  const nlohmann::ordered_json &document() const { return json; }
  /// A file of the trace; one thread at a time. Error: the trace lacks it.
  llvm::Expected<std::string> read(llvm::StringRef file) const;
  /// One of its safetensors files. Errors as TensorFile::open().
  llvm::Expected<std::unique_ptr<TensorFile>> tensors(llvm::StringRef file) const;

private:
  TraceFile() = default;
  llvm::Error readDocument();
  llvm::Expected<std::shared_ptr<const Bytes>> bytesOf(llvm::StringRef file) const;

  std::string name;
  nlohmann::ordered_json json;
  mutable Members members;                        ///< of a .vtrace or in memory; empty: a folder
  std::map<std::string, TraceWriter::Make> later; ///< become members when they are read first
  bool isFolder = false;
};

/// Keeps a trace in memory.
class MemoryTrace : public TraceWriter {
public:
  using TraceWriter::add;
  llvm::Error add(llvm::StringRef name, llvm::StringRef bytes) override;
  llvm::Error addLater(llvm::StringRef name, Make make) override;
  llvm::Error finish(const nlohmann::ordered_json &document) override;
  /// What finish() completed, given away. Error as TraceFile::open()'s.
  llvm::Expected<std::unique_ptr<TraceFile>> take();

private:
  TraceFile::Members members;
  std::map<std::string, Make> later;
};

/// What is wrong with a trace.json, "tokens[3].id: expected a whole number"; empty: nothing.
std::string wrongInTrace(const nlohmann::ordered_json &document);

} // namespace vetro
