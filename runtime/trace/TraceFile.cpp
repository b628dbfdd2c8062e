// The frame of a trace: folder or zip file.
#include "runtime/trace/TraceFile.h"
#include "runtime/trace/Zip.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <optional>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace vetro {

using Json = nlohmann::ordered_json;
static constexpr const char *documentName = "trace.json";

// ---- writing ----

static llvm::Error failed(const llvm::Twine &path, std::error_code code) {
  return llvm::createStringError(path + ": " + code.message());
}

static std::string textOf(const Json &document) {
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {
class FolderWriter : public TraceWriter {
public:
  explicit FolderWriter(llvm::StringRef folder) : folder(folder.str()) {}
  llvm::Error add(llvm::StringRef name, llvm::StringRef bytes) override {
    llvm::SmallString<128> file(folder);
    path::append(file, name);
    if (std::error_code code = fs::create_directories(path::parent_path(file)))
      return failed(file, code);
    std::error_code code;
    llvm::raw_fd_ostream out(file, code);
    if (!code)
      out << bytes, out.close(), code = out.error();
    out.clear_error();
    return code ? failed(file, code) : llvm::Error::success();
  }
  llvm::Error finish(const Json &document) override { return add(documentName, textOf(document)); }

private:
  std::string folder;
};

/// Under another name until it is complete.
class ZipFileWriter : public TraceWriter {
public:
  explicit ZipFileWriter(llvm::StringRef target) : target(target.str()) {}
  ~ZipFileWriter() override {
    std::ignore = close();
    if (temporary)
      llvm::consumeError(temporary->discard());
  }
  llvm::Error open() {
    auto made = fs::TempFile::create(target + ".%%%%%%");
    if (!made)
      return llvm::createStringError(target + ": " + llvm::toString(made.takeError()));
    temporary.emplace(std::move(*made));
    out = std::make_unique<llvm::raw_fd_ostream>(temporary->FD, /*shouldClose=*/false);
    zip = std::make_unique<ZipWriter>(*out);
    return llvm::Error::success();
  }
  llvm::Error add(llvm::StringRef name, llvm::StringRef bytes) override {
    zip->add(name, bytes, /*pack=*/!name.ends_with(".safetensors"));
    return llvm::Error::success();
  }
  llvm::Error finish(const Json &document) override {
    zip->add(documentName, textOf(document), true);
    if (llvm::Error error = zip->finish())
      return llvm::createStringError(target + ": " + llvm::toString(std::move(error)));
    if (std::error_code code = close())
      return failed(target, code);
    llvm::Error error = temporary->keep(target);
    temporary.reset();
    return error;
  }

private:
  /// What could not be written.
  std::error_code close() {
    if (!out)
      return {};
    out->flush();
    std::error_code code = out->error();
    out->clear_error();
    zip.reset(), out.reset();
    return code;
  }

  std::string target;
  std::optional<fs::TempFile> temporary;
  std::unique_ptr<llvm::raw_fd_ostream> out;
  std::unique_ptr<ZipWriter> zip;
};
} // namespace

llvm::Expected<std::unique_ptr<TraceWriter>> TraceWriter::create(llvm::StringRef target) {
  if (target.ends_with(".vtrace")) {
    auto writer = std::make_unique<ZipFileWriter>(target);
    if (llvm::Error error = writer->open())
      return std::move(error);
    return writer;
  }
  std::error_code code;
  bool isEmpty =
      !fs::exists(target) || fs::directory_iterator(target, code) == fs::directory_iterator();
  llvm::SmallString<128> old(target);
  path::append(old, documentName);
  if (code || !(isEmpty || fs::exists(old)))
    return llvm::createStringError(target + ": is there and is no trace; name a new folder, or a "
                                            "file that ends in .vtrace");
  fs::remove(old); // until the new one is complete there is none
  if ((code = fs::create_directories(target)))
    return failed(target, code);
  return std::make_unique<FolderWriter>(target);
}

llvm::Error TraceWriter::add(llvm::StringRef name, llvm::ArrayRef<RawTensor> tensors,
                             const std::vector<std::pair<std::string, std::string>> &metadata) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  writeRawSafetensors(out, tensors, metadata);
  return add(name, bytes);
}

llvm::Error TraceWriter::addLater(llvm::StringRef name, Make make) {
  auto bytes = make();
  return bytes ? add(name, *bytes) : bytes.takeError();
}

// ---- reading ----

llvm::Expected<std::shared_ptr<const Bytes>> TraceFile::bytesOf(llvm::StringRef file) const {
  if (isFolder) {
    // A name from the file may not lead out of the folder.
    if (path::is_absolute(file) || file.contains("..") || file.contains('\\'))
      return llvm::createStringError(name + ": names " + printable(file) +
                                     ", which is no file of "
                                     "the trace");
    llvm::SmallString<128> full(name);
    path::append(full, file);
    return Bytes::ofFile(full);
  }
  auto found = members.find(file.str());
  if (auto make = later.find(file.str()); make != later.end() && found == members.end()) {
    auto bytes = make->second();
    if (!bytes)
      return bytes.takeError();
    found = members.emplace(file.str(), Bytes::ofText(file, std::move(*bytes))).first;
  }
  if (found == members.end())
    return llvm::createStringError(name + ": has no file " + printable(file));
  return found->second;
}

llvm::Expected<std::string> TraceFile::read(llvm::StringRef file) const {
  auto bytes = bytesOf(file);
  if (!bytes)
    return bytes.takeError();
  std::string text((*bytes)->size(), '\0');
  if (llvm::Error error = (*bytes)->read(0, text.data(), text.size()))
    return std::move(error);
  return text;
}

llvm::Expected<std::unique_ptr<TensorFile>> TraceFile::tensors(llvm::StringRef file) const {
  auto bytes = bytesOf(file);
  if (!bytes)
    return bytes.takeError();
  TensorTable table;
  if (llvm::Error error = readSafetensors(*bytes, table))
    return std::move(error);
  return TensorFile::of((*bytes)->path(), std::move(table));
}

static llvm::Error checkDocument(const std::string &path, const Json &json) {
  auto field = [&](const char *key) { return json.is_object() && json.contains(key); };
  if (!field("format") || json["format"] != "vetro-trace")
    return llvm::createStringError(path + ": is no trace of Vetro's");
  if (!field("version") || !json["version"].is_number_integer())
    return llvm::createStringError(path + ": does not tell its version");
  if (int64_t version = json["version"]; version > traceVersion || version < 1)
    return llvm::createStringError(path + ": is of version " + llvm::Twine(version) +
                                   ", this Vetro reads up to " + llvm::Twine(traceVersion) +
                                   ": open it with the one that made it, or a newer one");
  if (std::string wrong = wrongInTrace(json); !wrong.empty())
    return llvm::createStringError(path + ": is damaged: " + documentName + ": " + wrong);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<TraceFile>> TraceFile::open(llvm::StringRef path) {
  std::unique_ptr<TraceFile> trace(new TraceFile());
  trace->name = path.str();
  trace->isFolder = fs::is_directory(path);
  if (!trace->isFolder) {
    auto file = Bytes::ofFile(path);
    if (!file)
      return file.takeError();
    auto members = readZip(*file);
    if (!members)
      return members.takeError();
    for (ZipMember &member : *members)
      trace->members[member.name] = std::move(member.bytes);
  }
  if (llvm::Error error = trace->readDocument())
    return std::move(error);
  return trace;
}

llvm::Expected<std::unique_ptr<TraceFile>>
TraceFile::of(llvm::StringRef path, Members members,
              std::map<std::string, TraceWriter::Make> later) {
  std::unique_ptr<TraceFile> trace(new TraceFile());
  trace->name = path.str();
  trace->members = std::move(members);
  trace->later = std::move(later);
  if (llvm::Error error = trace->readDocument())
    return std::move(error);
  return trace;
}

llvm::Error TraceFile::readDocument() {
  auto text = read(documentName);
  if (!text)
    return text.takeError();
  json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return llvm::createStringError(name + ": is damaged: " + documentName + " is no JSON");
  return checkDocument(name, json);
}

// ---- in memory ----

llvm::Error MemoryTrace::add(llvm::StringRef name, llvm::StringRef bytes) {
  members[name.str()] = Bytes::ofText(name, bytes.str());
  return llvm::Error::success();
}

llvm::Error MemoryTrace::addLater(llvm::StringRef name, Make make) {
  later[name.str()] = std::move(make);
  return llvm::Error::success();
}

llvm::Error MemoryTrace::finish(const Json &document) {
  return add(documentName, textOf(document));
}

llvm::Expected<std::unique_ptr<TraceFile>> MemoryTrace::take() {
  return TraceFile::of("the run", std::move(members), std::move(later));
}

} // namespace vetro
