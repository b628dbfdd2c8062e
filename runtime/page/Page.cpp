// Puts the page together. Nothing in it comes from a model or a trace but the packed answers, which
// no browser runs.
#include "runtime/page/Page.h"
#include "runtime/page/Assets.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/SHA256.h"

namespace vetro::page {

/// All scripts as one, in a function of its own.
static std::string script() {
  std::string text = "(() => {\n\"use strict\";\n";
  for (llvm::StringRef path : scripts())
    text += asset(path);
  return text + "})();\n";
}

static llvm::StringRef style() { return asset("runtime/page/assets/page.css"); }

/// "'sha256-...'", by which a policy allows a text.
static std::string hashOf(llvm::StringRef text) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "'sha256-" + llvm::encodeBase64(digest) + "'";
}

std::string contentPolicy(bool connects) {
  return "default-src 'none'; script-src " + hashOf(asset("d3.min.js")) + " " + hashOf(script()) +
         "; style-src " + hashOf(style()) + "; img-src data:; base-uri 'none'; form-action 'none'" +
         (connects ? "; connect-src 'self'" : "");
}

static std::string page(const std::string &recorded, bool connects) {
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
                     contentPolicy(connects) +
                     "\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
                     "<link rel=\"icon\" href=\"data:,\">\n<title>vetro</title>\n<style>";
  text += style();
  text += "</style>\n</head>\n<body>\n<p class=\"opening\">opening the run</p>\n<noscript>This "
          "page is drawn by its script.</noscript>\n" +
          recorded + "<script>";
  text += asset("d3.min.js");
  return text + "</script>\n<script>" + script() + "</script>\n</body>\n</html>\n";
}

std::string servedPage() { return page("", true); }

std::string exportedPage(llvm::StringRef recorded) {
  llvm::SmallVector<uint8_t> packed;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(recorded), packed,
                                    llvm::compression::zlib::BestSizeCompression);
  return page("<script type=\"application/octet-stream\" id=\"recorded\">" +
                  llvm::encodeBase64(packed) + "</script>\n",
              false);
}

} // namespace vetro::page
