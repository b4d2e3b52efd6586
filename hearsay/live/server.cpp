#include "hearsay/live/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "hearsay/live/client_stream.h"
#include "hearsay/live/events.h"
#include "hearsay/live/feed.h"
#include "hearsay/live/gate.h"
#include "hearsay/live/page_cache.h"
#include "hearsay/live/signal.h"
#include "hearsay/live/slots.h"
#include "hearsay/live/turnstile.h"
#include "hearsay/report/page/page.h"

namespace hearsay::live {

namespace {

namespace fs = std::filesystem;
using httplib::DataSink, httplib::Request, httplib::Response;

constexpr int kLook = 250;                        // milliseconds between polls of the run's file
constexpr std::chrono::seconds kBeat{1};          // keepalive interval of an idle stream
constexpr std::chrono::seconds kStreamTime{600};  // then the browser reconnects automatically
constexpr std::chrono::seconds kFleetPause{1};    // between two versions of the fleet
constexpr std::size_t kPiece = 64 << 10;          // bytes of a response per write

void refuse(Response& response, int status, const char* why) {
  response.status = status;
  response.set_content(std::string(why) + "\n", "text/plain");
}

/// Holds a place among the viewers during its lifetime.
class Seat {
 public:
  explicit Seat(std::atomic<std::size_t>& taken) : taken_(taken), number_(++taken) {}
  ~Seat() { --taken_; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  bool free() const { return number_ <= Server::kViewers; }

 private:
  std::atomic<std::size_t>& taken_;
  std::size_t number_;
};

/// The task queue of cpp-httplib: bounds new connections per second and concurrent ones.
class Queue : public httplib::TaskQueue {
 public:
  Queue(Slots& slots, const Signal& closing, std::atomic<std::size_t>& connections)
      : slots_(slots), closing_(closing), connections_(connections) {}

  void enqueue(std::function<void()> job) override {
    ++connections_;
    const auto delay = turnstile_.pass(Turnstile::Clock::now());
    closing_.wait(static_cast<int>(1000 * delay.count()));
    slots_.run([&connections = connections_, job = std::move(job)] {
      job();
      --connections;
    });
  }
  void shutdown() override {}

 private:
  Slots& slots_;
  const Signal& closing_;
  std::atomic<std::size_t>& connections_;
  Turnstile turnstile_{Server::kConnectionsPerSecond, Server::kConnectionsAtOnce};
};

class HttpServer : public Server, private httplib::Server {
 public:
  HttpServer(fs::path run, Listener listener, std::string token)
      : run_(std::move(run)),
        listener_(std::move(listener)),
        gate_(listener_.address(), listener_.port(), std::move(token)),
        pages_(run_),
        slots_(kConnections) {
    new_task_queue = [this] { return new Queue(slots_, closing_, connections_); };
    set_pre_routing_handler([this](const Request& request, Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
    set_exception_handler([](const Request&, Response& response, const std::exception_ptr&) {
      refuse(response, 500, "the server failed");
    });
    set_default_headers(
        {{"Cache-Control", "no-store"},
         {"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "no-referrer"},
         {"Content-Security-Policy",
          "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
          "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'"}});
    try {
      acceptor_ = std::jthread([this] { accept(); });
      observer_ = std::jthread([this] { observe(); });
    } catch (...) {
      close();
      throw;
    }
  }

  ~HttpServer() override {
    close();
    acceptor_.join();
    observer_.join();
  }

  void progress(std::string json) override { feed_.progress(std::move(json)); }

  void end() override {
    feed_.end();
    pages_.page(false);  // all viewers request it now; later ones find it in the cache
  }
  std::size_t viewers() const override { return viewers_; }

  bool settled() const override {
    pollfd waiting{listener_.descriptor(), POLLIN, 0};
    return connections_ == 0 && final_pages_ >= told_the_end_ && ::poll(&waiting, 1, 0) == 0;
  }

 private:
  /// Makes all threads end.
  void close() {
    closing_.raise();
    feed_.close();
    slots_.close();
    ::shutdown(listener_.descriptor(), SHUT_RDWR);  // accept fails
  }

  /// Runs until the server closes. An error of accept ends cpp-httplib's loop, but not this one.
  void accept() {
    do {
      svr_sock_ = ::fcntl(listener_.descriptor(), F_DUPFD_CLOEXEC, 0);
      listen_after_bind();
    } while (!closing_.wait(100));
  }

  /// What tells one version of a file from another.
  struct Stamp {
    off_t size = 0;
    ino_t inode = 0;
    time_t seconds = 0;
    long nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  /// Of a file that is missing: {}.
  Stamp stamp_of(const char* name) const {
    struct stat now {};
    if (::stat((run_ / name).c_str(), &now) != 0) return {};
    return {now.st_size, now.st_ino, now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
  }

  /// Polls the run's files for changes, on behalf of all viewers.
  void observe() {
    Stamp metrics, fleet, events;
    auto next = std::chrono::steady_clock::now();  // when a changed fleet is told at the earliest
    do {
      const Stamp metrics_now = stamp_of("metrics.jsonl");
      if (metrics_now != Stamp() && metrics_now != metrics) feed_.changed();
      metrics = metrics_now;
      const auto now = std::chrono::steady_clock::now();
      if (now < next) continue;
      const Stamp fleet_now = stamp_of("fleet.json"), events_now = stamp_of("events.jsonl");
      if (fleet_now == fleet && events_now == events) continue;
      fleet = fleet_now;
      events = events_now;
      next = now + kFleetPause;
      tell_of_fleet();
    } while (!closing_.wait(kLook));
  }

  void tell_of_fleet() {
    try {
      const nlohmann::json html = report::make_fleet_part(run_);
      feed_.fleet(html.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    } catch (const std::exception&) {  // no memory: the next one, maybe
    }
  }

  bool process_and_close_socket(socket_t socket) override {
    ClientStream stream(socket, closing_);
    try {
      bool closed = false;
      return process_request(stream, true, closed, [&](Request& request) {
        // No compression, which costs more than the network here, and no range requests.
        request.headers.erase("Accept-Encoding");
        request.headers.erase("Range");
        request.ranges.clear();
        stream.answer_within(request.path == "/events" ? kStreamTime : ClientStream::kAnswerTime);
      });
    } catch (const std::exception&) {
      return false;  // no memory for this one
    }
  }

  void answer(const Request& request, Response& response) {
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      return refuse(response, 405, "this page can only be read");
    }
    if (!gate_.admits(request.get_header_value("Host"), request.get_param_value("token"))) {
      return refuse(response, 403, "this page is not for you: open the address that was printed");
    }
    if (request.path == "/") return send_page(response);
    if (request.path == "/events") return send_events(request, response);
    if (request.path == "/metrics.jsonl") return send_file("metrics.jsonl", response);
    if (request.path == "/summary.json") return send_file("summary.json", response);
    if (request.path == "/favicon.ico") {
      response.status = 204;
      return;
    }
    refuse(response, 404, "there is nothing here but /, /events, /metrics.jsonl and /summary.json");
  }

  void send_page(Response& response) {
    const bool final = feed_.state().ended;
    const auto page = pages_.page(!final);
    response.status = 200;
    response.set_content_provider(
        page->size(), "text/html; charset=utf-8",
        [page](std::size_t from, std::size_t size, DataSink& sink) {
          return sink.write(page->data() + from, std::min(size, kPiece));
        },
        [this, final](bool all) {
          if (final && all) ++final_pages_;
        });
  }

  void send_file(const char* name, Response& response) {
    const int descriptor =
        ::open((run_ / name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat facts {};
    if (descriptor < 0 || ::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      if (descriptor >= 0) ::close(descriptor);
      return refuse(response, 404, "the run has no such file yet");
    }
    const auto size = std::min(static_cast<std::size_t>(facts.st_size), kFileBytes);
    response.status = 200;
    response.set_content_provider(
        size, "text/plain; charset=utf-8",
        [descriptor](std::size_t from, std::size_t left, DataSink& sink) {
          std::string piece(std::min(left, kPiece), '\0');
          const ssize_t got =
              ::pread(descriptor, piece.data(), piece.size(), static_cast<off_t>(from));
          return got > 0 && sink.write(piece.data(), static_cast<std::size_t>(got));
        },
        [descriptor](bool) { ::close(descriptor); });
  }

  void send_events(const Request& request, Response& response) {
    const auto seat = std::make_shared<Seat>(viewers_);  // shared: std::function copies
    if (!seat->free()) {
      response.set_header("Retry-After", "10");
      return refuse(response, 503, "too many viewers; try again later");
    }
    response.status = 200;
    const auto events =
        std::make_shared<Events>(run_ / "metrics.jsonl", request.get_header_value("Last-Event-ID"));
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, seat, events](std::size_t, DataSink& sink) { return send_news(*events, sink); });
  }

  /// Waits for events and sends them, or a comment if none come in time. False: the viewer has
  /// gone.
  bool send_news(Events& events, DataSink& sink) {
    const Feed::State before = feed_.state();
    Feed::State state = before;
    std::string text = events.next(state);
    if (text.empty()) {
      state = feed_.wait(before.version, kBeat);
      text = events.next(state);
    }
    if (state.closed || !sink.is_writable()) return false;
    if (text.empty()) text = ": beat\n\n";
    if (events.ended()) ++told_the_end_;  // before the viewer can react to it
    if (!sink.write(text.data(), text.size())) {
      if (events.ended()) --told_the_end_;
      return false;
    }
    if (events.ended()) sink.done();
    return true;
  }

  const fs::path run_;
  const Listener listener_;
  const Gate gate_;
  PageCache pages_;
  Feed feed_;
  std::atomic<std::size_t> connections_ = 0, viewers_ = 0;
  std::atomic<std::size_t> told_the_end_ = 0, final_pages_ = 0;  ///< viewers; sent since
  Signal closing_;
  Slots slots_;
  std::jthread acceptor_, observer_;
};

}  // namespace

bool can_serve() { return true; }

std::unique_ptr<live::Server> make_server(fs::path run, Listener listener, std::string token) {
  return std::make_unique<HttpServer>(std::move(run), std::move(listener), std::move(token));
}

}  // namespace hearsay::live
