// The error curve: well-formed for every input, text that stays in its element, where marks lie.
#include "viz/ErrorCurve.h"
#include "tests/unit/Catch.h"
#include "viz/Label.h"

#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <vector>

using namespace vetro;
using llvm::StringRef;

namespace {
constexpr double Equal = INFINITY;

/// What is wrong with a text that should be one XML element; "" if nothing is. Knows what the
/// writer uses: elements, attributes in double quotes, the five entities.
std::string xmlFault(StringRef text) {
  std::vector<std::string> open;
  bool ended = false;
  while (!text.trim().empty()) {
    size_t at = text.find('<');
    StringRef words = text.take_front(at);
    if (open.empty() ? !words.trim().empty() : words.contains('>'))
      return "text outside: " + words.str();
    for (size_t amp = words.find('&'); amp != StringRef::npos; amp = words.find('&', amp + 1))
      if (StringRef rest = words.drop_front(amp + 1);
          !rest.starts_with("lt;") && !rest.starts_with("gt;") && !rest.starts_with("amp;") &&
          !rest.starts_with("quot;"))
        return "entity in: " + words.str();
    if (at == StringRef::npos)
      break;
    size_t end = text.find('>', at);
    if (end == StringRef::npos || ended)
      return "after the end: " + text.str();
    StringRef tag = text.slice(at + 1, end);
    text = text.drop_front(end + 1);
    if (tag.contains('<') || tag.count('"') % 2)
      return "tag: " + tag.str();
    if (tag.consume_front("/")) {
      if (open.empty() || open.back() != tag)
        return "closes what is not open: " + tag.str();
      open.pop_back();
      ended = open.empty();
    } else if (!tag.ends_with("/"))
      open.push_back(tag.take_until([](char c) { return c == ' '; }).str());
  }
  return open.empty() && ended ? "" : "left open";
}

viz::CurvePoint point(std::string name, double snrDb) {
  return {std::move(name), {snrDb, false, "max abs 0.5"}, {}, {}};
}

std::string draw(std::vector<viz::CurvePoint> points) {
  std::string svg = viz::drawErrorCurve({"errors", std::move(points)});
  REQUIRE(xmlFault(svg) == "");
  return svg;
}

/// The attribute of the element with this tooltip, as a number.
double attributeOf(const std::string &svg, const std::string &tooltip, const std::string &name) {
  size_t title = svg.find("<title>" + tooltip);
  REQUIRE(title != std::string::npos);
  size_t at = svg.find(" " + name + "=\"", svg.rfind('<', title - 1));
  REQUIRE(at < title);
  return std::stod(svg.substr(at + name.size() + 3));
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST_CASE("the check of the drawing's text refuses what is not well-formed", "[viz]") {
  REQUIRE(xmlFault("<a b=\"c\"><d/>&lt;</a>\n") == "");
  for (const char *bad : {"", "<a>", "<a></b>", "<a><b></a></b>", "<a>&x</a>", "<a/>x",
                          "<a></a><b></b>", "<a b=\"></a>", "<a b=\"<\"></a>", "<a>></a>"}) {
    INFO(bad);
    REQUIRE(xmlFault(bad) != "");
  }
}

TEST_CASE("a curve of no values is a drawing", "[viz]") { REQUIRE(has(draw({}), ">no values<")); }

TEST_CASE("equal values lie at the top edge, numbers below in order", "[viz]") {
  std::string svg = draw({point("embed", Equal), point("blk.0.q", 60), point("blk.0.k", -12),
                          point("blk.0.v", NAN), point("blk.1.q", -INFINITY)});
  auto y = [&](const std::string &name) { return attributeOf(svg, name + ": accumulated", "cy"); };
  REQUIRE(y("embed") < y("blk.0.q"));
  REQUIRE(y("blk.0.q") < y("blk.0.k"));
  REQUIRE(y("blk.0.k") < y("blk.0.v"));
  REQUIRE(y("blk.0.v") == y("blk.1.q"));
  REQUIRE(attributeOf(svg, "blk.0.q: accumulated", "cx") <
          attributeOf(svg, "blk.0.k: accumulated", "cx"));
  REQUIRE(has(svg, "<title>embed: accumulated equal, max abs 0.5</title>"));
  REQUIRE(has(svg, "<title>blk.0.v: accumulated is no number"));
  REQUIRE(has(draw({point("embed", Equal)}), ">equal</text>"));
  // Far apart as numbers can be, and all the same.
  draw({point("a", 3233), point("b", -3083)});
  draw({point("a", 40), point("b", 40)});
}

TEST_CASE("layer outputs are joined, layers numbered", "[viz]") {
  std::string svg = draw({point("blk.0.q", 50), point("blk.0.l_out", 60), point("blk.1.q", 50),
                          point("blk.1.l_out", 40), point("logits", 30)});
  REQUIRE(has(svg, "class=\"line\""));
  size_t line = svg.find("class=\"line\"");
  StringRef path = StringRef(svg).slice(line, svg.find("/>", line));
  REQUIRE(path.count('M') == 1);
  REQUIRE(path.count('L') == 1);
  REQUIRE(has(svg, ">0</text>"));
  REQUIRE(has(svg, ">1</text>"));
  REQUIRE_FALSE(has(draw({point("logits", 30)}), "class=\"line\""));
}

TEST_CASE("what passes its floor is named in the warning colour", "[viz]") {
  viz::CurvePoint wrong = point("blk.0.q_rope", 30), right = point("blk.0.k_rope", 30);
  wrong.graph = viz::CurveMark{60, true, "140 times its floor"};
  wrong.kernel = right.graph = viz::CurveMark{Equal, false, "0 times its floor"};
  std::string svg = draw({wrong, right});
  REQUIRE(has(svg, "<title>blk.0.q_rope: graph 60.0 dB, 140 times its floor</title>"));
  REQUIRE(has(svg, "class=\"graph bad\""));
  REQUIRE_FALSE(has(svg, "class=\"kernel bad\""));
  REQUIRE(has(svg, ">blk.0.q_rope</text>"));
  REQUIRE_FALSE(has(svg, ">blk.0.k_rope</text>"));
  REQUIRE(has(svg, ">passes its floor</text>"));
  REQUIRE_FALSE(has(draw({right}), ">passes its floor</text>"));
}

TEST_CASE("names from files stay in their elements", "[viz]") {
  std::string evil = "</title><script>alert(\"1\")</script>&\n\xff\xef\xbf\xbf";
  viz::CurvePoint wrong = point(evil, 20);
  wrong.accumulated.passed = true;
  std::string svg = viz::drawErrorCurve({evil, {wrong}});
  REQUIRE(xmlFault(svg) == "");
  REQUIRE_FALSE(has(svg, "<script"));
  REQUIRE(has(svg, "&lt;script&gt;"));
  REQUIRE_FALSE(has(svg, "\xff"));
  REQUIRE_FALSE(has(svg, "\xef\xbf\xbf")); // U+FFFF, which XML refuses
  // A long name is cut between characters, so that none comes out as broken bytes.
  viz::CurvePoint dots = point("a" + std::string(90, '.'), 20), umlauts = point("a", 20);
  for (int i = 0; i < 40; ++i)
    umlauts.name += "ö";
  dots.accumulated.passed = umlauts.accumulated.passed = true;
  for (const viz::CurvePoint &p : {dots, umlauts}) {
    svg = draw({p});
    REQUIRE(has(svg, "…</text>"));
    REQUIRE_FALSE(has(svg, "\\x"));
  }
}
