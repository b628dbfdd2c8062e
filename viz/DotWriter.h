// Writes DOT: nodes with their labels, clusters of layers, edges. What is drawn is Dot.cpp's.
#pragma once

#include "viz/Label.h"
#include "viz/Overlay.h"

#include "llvm/Support/raw_ostream.h"
#include <set>

namespace vetro::viz {

class DotWriter {
public:
  /// All must outlive the writer.
  DotWriter(const Picture &picture, std::string &text, const Overlay *overlay = nullptr)
      : p(picture), overlay(overlay), out(text) {}

  void begin(llvm::StringRef name, llvm::StringRef title);
  void end();

  void beginCluster(llvm::StringRef id, llvm::StringRef title, llvm::StringRef color);
  void endCluster();
  /// A layer as a cluster, its halves inside.
  void layer(int layer, llvm::StringRef title, llvm::StringRef color);

  void node(unsigned i, bool highlighted = false);
  /// A run of equal layers, as one node of the overview.
  void run(llvm::StringRef id, llvm::StringRef layers, size_t count, llvm::StringRef letter,
           size_t kind, size_t nodes);
  /// A value that is made or read outside the drawing.
  void pill(llvm::StringRef id, llvm::StringRef text, llvm::StringRef note);

  void edge(const Edge &e);
  /// From a pill into the drawing, out of it to a pill, between two nodes of the overview.
  void enter(llvm::StringRef pill, const Edge &e, bool cut = false);
  void leave(const Edge &e, llvm::StringRef pill, bool cut = false);
  void link(llvm::StringRef from, llvm::StringRef to, const Edge &e);

  const std::string &idOf(unsigned i) const { return p.nodes()[i].id; }
  static llvm::StringRef kindColor(size_t kind);

private:
  /// Operands of node i that edges reach.
  llvm::SmallVector<unsigned> reached(unsigned i) const;
  std::string source(const Edge &e) const;
  std::string target(const Edge &e) const;
  void arrow(const std::string &from, const std::string &to, const Edge &e, bool cut);
  std::string legend() const;

  std::string marked(const Node &n, std::string label) const;

  const Picture &p;
  const Overlay *overlay; ///< may be null
  llvm::raw_string_ostream out;
};

} // namespace vetro::viz
