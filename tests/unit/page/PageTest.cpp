// The page's text, and how it asks.
#include "runtime/page/Page.h"
#include "runtime/page/Assets.h"
#include "runtime/page/Views.h"
#include "tests/unit/Catch.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

using namespace vetro;

namespace {
/// The texts between two words, in order.
std::vector<std::string> between(llvm::StringRef text, llvm::StringRef begin, llvm::StringRef end) {
  std::vector<std::string> found;
  while (true) {
    size_t at = text.find(begin);
    if (at == llvm::StringRef::npos)
      return found;
    text = text.drop_front(at + begin.size());
    found.push_back(text.take_front(text.find(end)).str());
  }
}

std::string hashOf(llvm::StringRef text) {
  return "'sha256-" + llvm::encodeBase64(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text))) +
         "'";
}

bool has(llvm::StringRef text, llvm::StringRef part) { return text.contains(part); }
} // namespace

TEST_CASE("the page's policy allows its own scripts and styles, and nothing else") {
  for (const std::string &text : {page::servedPage(), page::exportedPage("{}")}) {
    std::vector<std::string> policies = between(text, "Content-Security-Policy\" content=\"", "\"");
    REQUIRE(policies.size() == 1);
    std::vector<std::string> scripts = between(text, "<script>", "</script>");
    REQUIRE(scripts.size() == 2);
    for (const std::string &script : scripts)
      REQUIRE(has(policies[0], hashOf(script)));
    for (const std::string &style : between(text, "<style>", "</style>"))
      REQUIRE(has(policies[0], hashOf(style)));
    REQUIRE(llvm::StringRef(policies[0]).starts_with("default-src 'none'"));
    REQUIRE(llvm::StringRef(policies[0]).count("sha256-") == 3);
    REQUIRE_FALSE(has(policies[0], "unsafe"));
  }
  REQUIRE(has(page::servedPage(), "connect-src 'self'"));
  REQUIRE_FALSE(has(page::exportedPage("{}"), "connect-src"));
}

TEST_CASE("what is recorded cannot end its element") {
  std::string evil = "{\"a\":\"</script><script>alert(1)</script><!--\"}";
  std::string text = page::exportedPage(evil);
  REQUIRE(llvm::StringRef(text).count("<script") == 3);
  std::vector<std::string> recorded = between(text, "id=\"recorded\">", "<");
  REQUIRE(recorded.size() == 1);
  std::vector<char> bytes;
  REQUIRE_FALSE(bool(llvm::decodeBase64(recorded[0], bytes)));
}

TEST_CASE("a request's key names its arguments in their order") {
  page::Request request{"tensor", {{"token", "5"}, {"name", "blk.3.q & more"}}};
  REQUIRE(request.key() == "tensor?name=blk.3.q & more&token=5");
  REQUIRE(page::Request{"about", {}}.key() == "about");
  REQUIRE(*request.number("token", 6) == 5);
  REQUIRE(*request.number("missing", 6) == 0);
  for (const char *bad : {"6", "-1", "x", "1e3", "99999999999999999999"}) {
    request.args["token"] = bad;
    auto number = request.number("token", 6);
    REQUIRE_FALSE(bool(number));
    REQUIRE(has(llvm::toString(number.takeError()), bad));
  }
}

TEST_CASE("numbers are packed as little-endian f32") {
  REQUIRE(page::packed({1.0f, -2.0f}) == "AACAPwAAAMA=");
  REQUIRE(page::packed({}).empty());
}

TEST_CASE("layers are read from names") {
  REQUIRE(page::layerOf("blk.12.q") == 12);
  for (const char *name : {"embed", "blk.", "blk.x.q", "blk.-1", "xblk.3.q", ""})
    REQUIRE(page::layerOf(name) < 0);
}

TEST_CASE("the program holds the sources of the passes") {
  REQUIRE(has(page::asset("passes/FuseQkv.cpp"), "namespace vetro"));
  REQUIRE(page::asset("passes/Nothing.cpp").empty());
  REQUIRE_FALSE(page::scripts().empty());
}
