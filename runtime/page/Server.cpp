// Requests over HTTP.
#include "runtime/page/Server.h"
#include "runtime/page/Page.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

#include <httplib.h>
#include <mutex>
#include <random>
#include <thread>

namespace vetro::page {

struct Server::State {
  explicit State(Viewer &viewer) : viewer(viewer) {}

  Viewer &viewer; ///< must outlive the server
  std::mutex mutex;
  httplib::Server http;
  std::thread listener;
  std::string token = {}, url = {}, host = {};

  bool allows(const httplib::Request &request, httplib::Response &response) const;
  void answer(const httplib::Request &request, httplib::Response &response);
  void post(const httplib::Request &request, httplib::Response &response);
  void addRoutes();
};

/// 128 random bits as hex.
static std::string randomToken() {
  std::random_device device; // the kernel's
  std::string bytes;
  for (int i = 0; i < 4; ++i) {
    uint32_t word = device();
    bytes.append(reinterpret_cast<const char *>(&word), sizeof word);
  }
  return llvm::toHex(bytes, true);
}

/// Answers with a text as it is: what set_content() takes is compressed at Brotli's highest level,
/// half a second for the page.
static void give(httplib::Response &response, std::string text, const char *type) {
  auto kept = std::make_shared<const std::string>(std::move(text));
  response.set_content_provider(kept->size(), type,
                                [kept](size_t offset, size_t length, httplib::DataSink &sink) {
                                  return sink.write(kept->data() + offset, length);
                                });
}

static void send(httplib::Response &response, int status, const Json &json) {
  response.status = status;
  give(response, json.dump(-1, ' ', false, Json::error_handler_t::replace), "application/json");
}

static void refuse(httplib::Response &response, int status, const std::string &why) {
  send(response, status, {{"error", why}});
}

static std::string textOf(llvm::Error error) {
  return screens::shown(llvm::toString(std::move(error)));
}

/// Whether a request comes from the page that we gave out; else it is refused.
bool Server::State::allows(const httplib::Request &request, httplib::Response &response) const {
  std::string origin = request.get_header_value("Origin");
  if (request.get_header_value("Host") != host || (!origin.empty() && origin != "http://" + host))
    refuse(response, 403, "this server answers at http://" + host + " only");
  else if (!llvm::StringRef(request.path).starts_with("/" + token + "/"))
    refuse(response, 403, "the address lacks this run's token: open the one that vetro printed");
  else if (request.method != "GET" && request.method != "POST")
    refuse(response, 405, "only GET and POST are answered");
  else
    return true;
  return false;
}

void Server::State::answer(const httplib::Request &request, httplib::Response &response) {
  Request asked{request.matches[1], {}};
  for (const auto &[name, value] : request.params)
    asked.args[name] = value;
  std::lock_guard lock(mutex);
  auto json = viewer.answer(asked);
  if (json)
    send(response, 200, *json);
  else
    refuse(response, 422, textOf(json.takeError()));
}

/// {"token": 5, "edit": "blk.3.l_out = 0"}, or {"undo": true}.
void Server::State::post(const httplib::Request &request, httplib::Response &response) {
  Json body = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  bool edits = body.is_object() && body.contains("edit") && body["edit"].is_string() &&
               body.contains("token") && body["token"].is_number_unsigned();
  bool undoes = body.is_object() && body.contains("undo") && body["undo"] == true;
  if (!edits && !undoes)
    return refuse(response, 400,
                  "expected {\"token\": N, \"edit\": \"NAME = NUMBER\"} or {\"undo\": true}");
  std::lock_guard lock(mutex);
  llvm::Error error = undoes
                          ? viewer.undo()
                          : viewer.edit(body["token"], body["edit"].get_ref<const std::string &>());
  if (error)
    return refuse(response, 422, textOf(std::move(error)));
  send(response, 200, {{"message", viewer.walk().message()}});
}

void Server::State::addRoutes() {
  http.set_payload_max_length(64 << 10);
  http.set_tcp_nodelay(true); // else an answer waits 40 ms for the acknowledgement of its header
  http.set_keep_alive_timeout(1); // seconds: an idle connection may hold up the end so long
  http.set_default_headers(
      {{"Cache-Control", "no-store"},
       {"Content-Security-Policy", contentPolicy(true) + "; frame-ancestors 'none'"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Referrer-Policy", "no-referrer"},
       {"X-Content-Type-Options", "nosniff"}});
  http.set_pre_routing_handler(
      [this](const httplib::Request &request, httplib::Response &response) {
        return allows(request, response) ? httplib::Server::HandlerResponse::Unhandled
                                         : httplib::Server::HandlerResponse::Handled;
      });
  http.Get("/[0-9a-f]+/", [](const httplib::Request &, httplib::Response &response) {
    give(response, servedPage(), "text/html; charset=utf-8");
  });
  http.Get("/[0-9a-f]+/view/([a-z]+)",
           [this](const httplib::Request &request, httplib::Response &response) {
             answer(request, response);
           });
  http.Post("/[0-9a-f]+/patch", [this](const httplib::Request &request,
                                       httplib::Response &response) { post(request, response); });
}

Server::Server(std::unique_ptr<State> state) : state(std::move(state)) {}

Server::~Server() {
  state->http.stop();
  state->listener.join();
}

const std::string &Server::url() const { return state->url; }

llvm::Expected<std::unique_ptr<Server>> Server::start(Viewer &viewer, unsigned port) {
  auto state = std::make_unique<State>(viewer);
  int bound = int(port);
  if (port == 0)
    bound = state->http.bind_to_any_port("127.0.0.1");
  else if (!state->http.bind_to_port("127.0.0.1", bound))
    bound = -1;
  if (bound < 0)
    return llvm::createStringError(
        "port %u of 127.0.0.1 cannot be listened on: it is taken, or not "
        "allowed; leave --port out to take a free one",
        port);
  state->token = randomToken();
  state->host = "127.0.0.1:" + std::to_string(bound);
  state->url = "http://" + state->host + "/" + state->token + "/";
  state->addRoutes();
  State &running = *state;
  state->listener = std::thread([&running] { running.http.listen_after_bind(); });
  while (!running.http.is_running())
    std::this_thread::yield();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

} // namespace vetro::page
