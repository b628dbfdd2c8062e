// Serves the page to one browser on this machine.
//
// Only 127.0.0.1 is listened on. The address holds a token of 128 random bits that is made anew for
// each run, and nothing is answered without it; the Host header must be this server's own, so that
// no other site's page can ask under a name that it has bent to this machine (DNS rebinding).
// Looking is all that a page can do, but for two things: an edit, which runs the model again, and
// taking it back.
#pragma once

#include "runtime/page/Views.h"

#include <memory>

namespace vetro::page {

class Server {
public:
  /// Begins to listen on `port` (0: a free one). `viewer` must outlive the server, which asks it
  /// from one thread at a time. Error: the port is taken.
  static llvm::Expected<std::unique_ptr<Server>> start(Viewer &viewer, unsigned port);
  ~Server();

  /// "http://127.0.0.1:40123/6f0c.../"
  const std::string &url() const;

private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace vetro::page
