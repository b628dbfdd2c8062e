// DOT's syntax.
#include "viz/DotWriter.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace vetro::viz {

StringRef DotWriter::kindColor(size_t kind) {
  static constexpr llvm::StringLiteral colors[] = {"#3B6FB5", "#C2571A", "#2E8B57",
                                                   "#8A4FBF", "#B03060", "#6B6B00"};
  return colors[kind % std::size(colors)];
}

// ---- the frame ----

/// Colours of the kinds of ops that the graph has.
std::string DotWriter::legend() const {
  std::string text;
  for (const Kind &kind : kinds())
    if (llvm::any_of(p.nodes(), [&](const Node &n) { return &n.text.kindOf() == &kind; }))
      text += llvm::formatv("<TD BGCOLOR=\"{0}\"><FONT POINT-SIZE=\"9\" COLOR=\"{1}\"> {2} "
                            "</FONT></TD>",
                            kind.fill, kind.border, kind.name);
  return text;
}

void DotWriter::begin(StringRef name, StringRef title) {
  out << "digraph " << quoted(name) << " {\n"
      << "  graph [rankdir=TB newrank=true bgcolor=white fontname=\"Helvetica\" fontsize=11 "
         "nodesep=0.3 ranksep=0.32 labelloc=t labeljust=l pad=0.3\n    label=<<TABLE BORDER=\"0\" "
         "CELLSPACING=\"3\">";
  if (!title.empty())
    out << "<TR><TD ALIGN=\"LEFT\" COLSPAN=\"12\"><FONT POINT-SIZE=\"15\"><B>" << html(title)
        << "</B></FONT></TD></TR>";
  out << "<TR>" << legend()
      << "<TD><FONT POINT-SIZE=\"9\" COLOR=\"#666666\">T tokens, C cache cells, R output rows"
         "</FONT></TD></TR></TABLE>>]\n"
      << "  node [shape=plain fontname=\"Helvetica\" fontsize=10]\n"
      << "  edge [color=\"#8C8C8C\" arrowsize=0.6 penwidth=1 fontname=\"Helvetica\" fontsize=9]\n";
}

void DotWriter::end() { out << "}\n"; }

void DotWriter::beginCluster(StringRef id, StringRef title, StringRef color) {
  out << "  subgraph " << quoted(id) << " {\n    graph [id=" << quoted(id)
      << " class=cluster label=<";
  out << "<B>" << html(title) << "</B>> fontcolor=" << quoted(color) << " color=" << quoted(color)
      << " style=rounded penwidth=1.2 labeljust=l fontsize=11 margin=12]\n";
}

void DotWriter::endCluster() { out << "  }\n"; }

void DotWriter::layer(int layer, StringRef title, StringRef color) {
  std::string id = "cluster_L" + std::to_string(layer);
  beginCluster(id, title, color);
  for (Part part : {Part::None, Part::Attn, Part::Ffn}) {
    StringRef half = part == Part::Attn ? "attn" : "ffn";
    if (part != Part::None)
      out << "  subgraph " << quoted((id + "_" + half).str())
          << " {\n    graph [label=" << quoted(half)
          << " style=\"rounded,filled\" color=\"#E4E4E4\" fillcolor=\"#FBFBFB\" "
             "fontcolor=\"#999999\" labeljust=r]\n";
    for (unsigned i : p.nodesOf(layer))
      if (p.nodes()[i].part == part)
        node(i);
    if (part != Part::None)
      endCluster();
  }
  endCluster();
}

// ---- nodes ----

SmallVector<unsigned> DotWriter::reached(unsigned i) const {
  SmallVector<unsigned> operands;
  for (const Edge &e : p.edges())
    if (e.to == i)
      operands.push_back(e.operand);
  return operands;
}

/// The label with the overlay's number below it.
std::string DotWriter::marked(const Node &n, std::string label) const {
  auto mark =
      overlay ? overlay->marks.find(n.id) : llvm::StringMap<Overlay::Mark>::const_iterator();
  if (!overlay || mark == overlay->marks.end())
    return label;
  return llvm::formatv("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
                       "CELLPADDING=\"2\" BGCOLOR=\"{0}\"><TR><TD>{1}</TD></TR><TR><TD><FONT "
                       "POINT-SIZE=\"10\" COLOR=\"#222222\"><B>{2}</B></FONT></TD></TR></TABLE>",
                       Overlay::colour(mark->second.share), label, html(mark->second.text));
}

void DotWriter::node(unsigned i, bool highlighted) {
  const Node &n = p.nodes()[i];
  std::string label = marked(n, labelOf(n, reached(i)));
  if (highlighted)
    label = "<TABLE BORDER=\"2\" COLOR=\"#D40000\" STYLE=\"ROUNDED\" CELLBORDER=\"0\" "
            "CELLPADDING=\"3\"><TR><TD PORT=\"center\">" +
            label + "</TD></TR></TABLE>";
  out << "    " << quoted(n.id) << " [id=" << quoted(n.id)
      << " class=" << quoted(n.text.kindOf().name) << " URL=" << quoted("#" + inUrl(n.id))
      << "\n      tooltip=" << quoted(tooltipOf(n)) << "\n      label=<" << label << ">]\n";
}

void DotWriter::run(StringRef id, StringRef layers, size_t count, StringRef letter, size_t kind,
                    size_t nodes) {
  std::string times = count > 1 ? " ×" + std::to_string(count) : "";
  out << "    " << quoted(id) << " [id=" << quoted(id)
      << " class=layers tooltip=" << quoted((layers + times + ", layer kind " + letter).str())
      << "\n      label=<"
      << llvm::formatv("<TABLE BORDER=\"2\" COLOR=\"{0}\" BGCOLOR=\"white\" STYLE=\"ROUNDED\" "
                       "CELLBORDER=\"0\" CELLPADDING=\"4\"><TR><TD><FONT POINT-SIZE=\"12\" "
                       "COLOR=\"{0}\"><B>{1}{2}</B></FONT></TD></TR><TR><TD><FONT "
                       "POINT-SIZE=\"10\" COLOR=\"#555555\">layer kind {3}, {4} ops each</FONT>"
                       "</TD></TR></TABLE>",
                       kindColor(kind), html(layers), times, letter, nodes)
      << ">]\n";
}

void DotWriter::pill(StringRef id, StringRef text, StringRef note) {
  std::string more = note.empty() ? "" : "<BR/><FONT POINT-SIZE=\"8\">" + html(note) + "</FONT>";
  out << "    " << quoted(id) << " [id=" << quoted(id)
      << " class=outside shape=box style=\"rounded,dashed\" color=\"#AAAAAA\" "
         "fontcolor=\"#777777\" height=0.3 margin=\"0.12,0.06\" tooltip="
      << quoted(text) << " label=<" << html(text) << more << ">]\n";
}

// ---- edges ----

std::string DotWriter::source(const Edge &e) const {
  const Node &n = p.nodes()[e.from];
  bool port = n.text.results.size() > 1 && !n.text.isShape();
  return quoted(n.id) + (port ? ":r" + std::to_string(e.result) + ":s" : "");
}

std::string DotWriter::target(const Edge &e) const {
  const Node &n = p.nodes()[e.to];
  unsigned named = 0;
  for (unsigned i : reached(e.to))
    named += !n.text.operands[i].port.empty();
  bool port = named > 1 && !n.text.isShape();
  return quoted(n.id) + (port ? ":i" + std::to_string(e.operand) + ":n" : "");
}

/// The residual stream, which runs through all layers: drawn thick.
static bool isStream(StringRef name) {
  return name == "embed" || name.ends_with(".resid_mid") || name.ends_with(".l_out");
}

void DotWriter::arrow(const std::string &from, const std::string &to, const Edge &e, bool cut) {
  const auto &[name, type] = p.valueOf(e);
  std::string tip = name.empty() ? type : name + " " + type;
  out << "    " << from << " -> " << to << " [tooltip=" << quoted(tip);
  if (cut)
    out << " style=dashed color=\"#BBBBBB\"";
  else if (isStream(name))
    out << " penwidth=2 color=\"#0F6F73\" class=stream";
  out << "]\n";
}

void DotWriter::edge(const Edge &e) { arrow(source(e), target(e), e, false); }
void DotWriter::enter(StringRef pill, const Edge &e, bool cut) {
  arrow(quoted(pill), target(e), e, cut);
}
void DotWriter::leave(const Edge &e, StringRef pill, bool cut) {
  arrow(source(e), quoted(pill), e, cut);
}
void DotWriter::link(StringRef from, StringRef to, const Edge &e) {
  arrow(quoted(from), quoted(to), e, false);
}

} // namespace vetro::viz
