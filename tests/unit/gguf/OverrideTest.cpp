// KEY=TYPE:VALUE.
#include "tests/unit/gguf/TinyGguf.h"

using namespace vetro;
using namespace vetro::test;
using gguf::ErrorKind;

static std::shared_ptr<gguf::File> with(std::vector<std::string> overrides) {
  gguf::OpenOptions options;
  options.overrides = std::move(overrides);
  return accepted(openBytes(tinyGguf(), options));
}

/// Type and text of a key after one override.
static std::string after(const std::string &spec) {
  auto file = with({spec});
  const gguf::Value *value = file->find(llvm::StringRef(spec).split('=').first);
  REQUIRE(value);
  return value->typeName() + " " + value->toText();
}

TEST_CASE("overrides replace values") {
  CHECK(after("llama.context_length=int:4096") == "u32 4096");
  CHECK(after("t.i8=int:-128") == "i8 -128");
  CHECK(after("t.u64=int:18446744073709551615") == "u64 18446744073709551615");
  CHECK(after("t.ints=int:7") == "i32 7");
  CHECK(after("t.f64=float:2.5") == "f64 2.5");
  CHECK(after("llama.attention.layer_norm_rms_epsilon=float:0.25") == "f32 0.25");
  CHECK(after("t.bool=bool:false") == "bool false");
  CHECK(after("general.name=str:a=b:c") == "str \"a=b:c\"");
  CHECK(after("general.name=str:") == "str \"\"");
  CHECK(after("t.i32=u32:5") == "u32 5"); // a named type replaces the file's
  CHECK(after("t.i32=f64:-1e-3") == "f64 -0.001");
}

TEST_CASE("overrides add keys") {
  CHECK(after("new.key=int:4096") == "u32 4096");
  CHECK(after("new.key=int:-1") == "i32 -1");
  CHECK(after("new.key=int:4294967296") == "u64 4294967296");
  CHECK(after("new.key=int:-4294967296") == "i64 -4294967296");
  CHECK(after("new.key=float:1") == "f32 1");
  auto file = with({"new.a=int:1", "new.b=str:x", "new.a=int:2"});
  CHECK(file->keys().size() == 19 + 2);
  CHECK(file->find("new.a")->asInt() == 2);
  CHECK(file->keys()[19].key == "new.a");
  CHECK(file->keys()[19].overridden);
  CHECK_FALSE(file->keys()[0].overridden);
}

TEST_CASE("wrong overrides are refused with the reason") {
  auto message = [](const std::string &spec) {
    gguf::OpenOptions options;
    options.overrides = {spec};
    return refused(tinyGguf(), ErrorKind::Override, options);
  };
  for (const char *spec : {"", "a", "a=", "=int:1", "a=int", "a:int=1"})
    CHECK(has(message(spec), "expected KEY=TYPE:VALUE"));
  CHECK(has(message("a=i128:1"), "type \"i128\" is unknown"));
  CHECK(has(message("a=arr:1"), "type \"arr\" is unknown"));
  for (const char *text : {"", "x", "1.5", "0x10", "--1", "1 ", "18446744073709551616"})
    CHECK(has(message(std::string("a=int:") + text), "is no integer"));
  CHECK(has(message("a=u8:256"), "\"256\" does not fit in u8"));
  CHECK(has(message("a=u8:-1"), "does not fit in u8"));
  CHECK(has(message("a=i8:-129"), "does not fit in i8"));
  CHECK(has(message("a=i64:9223372036854775808"), "does not fit in i64"));
  CHECK(has(message("t.u8=int:300"), "does not fit in u8"));
  CHECK(has(message("general.name=int:1"), "the file has str there"));
  for (const char *text : {"", "x", "inf", "nan", "1e999"})
    CHECK(has(message(std::string("a=float:") + text), "is no finite number"));
  CHECK(has(message("a=f32:1e39"), "does not fit in f32"));
  CHECK(has(message("a=bool:1"), "is no bool"));
  CHECK(has(message("general.alignment=u32:64"), "cannot be overridden"));
  CHECK(has(message("split.count=u16:2"), "cannot be overridden"));
  CHECK(has(message("a=int:\x1b[2J"), "\\x1b[2J"));
}
