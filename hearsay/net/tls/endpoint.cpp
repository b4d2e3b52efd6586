#include "hearsay/net/tls/endpoint.h"

#include <csignal>
#include <thread>
#include <utility>
#include <vector>

#include "hearsay/net/tls/asio.h"
#include "hearsay/net/tls/doors.h"
#include "hearsay/net/tls/hub.h"

namespace hearsay::net {

/// The io thread, which runs the hub.
class TlsEndpoint::Core {
 public:
  explicit Core(Parts parts)
      : doors_(parts.fleet.peers.size()),
        hub_(io_, std::move(parts), doors_),
        work_(io_.get_executor()) {}

  ~Core() {
    hub_.silence();
    if (!thread_.joinable()) return;
    post([](Hub& hub) { hub.stop(); });
    work_.reset();
    thread_.join();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void start() {
    if (thread_.joinable()) return;
    post([](Hub& hub) { hub.start(); });
    thread_ = std::thread([this] {
      // OpenSSL writes to sockets without MSG_NOSIGNAL; writing to one that the other has closed
      // must not end the process.
      sigset_t pipe;
      sigemptyset(&pipe);
      sigaddset(&pipe, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
      io_.run();
    });
  }

  /// Have the io thread do it.
  template <class Work>
  void post(Work work) {
    asio::post(io_, [this, work = std::move(work)] { work(hub_); });
  }

  const Hub& hub() const { return hub_; }
  const Doors& doors() const { return doors_; }

 private:
  asio::io_context io_{1};
  Doors doors_;
  Hub hub_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

TlsEndpoint::TlsEndpoint(Parts parts) : core_(std::make_unique<Core>(std::move(parts))) {}

TlsEndpoint::~TlsEndpoint() = default;

void TlsEndpoint::start() { core_->start(); }

std::uint32_t TlsEndpoint::slot() const { return core_->hub().slot(); }

std::uint16_t TlsEndpoint::port() const { return core_->hub().port(); }

void TlsEndpoint::set_fleet(const Fleet& fleet) {
  core_->post([fleet](Hub& hub) { hub.set_fleet(fleet); });
}

void TlsEndpoint::want(std::span<const std::uint32_t> peers) {
  core_->post([wanted = std::vector(peers.begin(), peers.end())](Hub& hub) { hub.want(wanted); });
}

bool TlsEndpoint::send(std::uint32_t peer, EncodedFrame frame) {
  const Doors::Door door = core_->doors().at(peer);
  if (!door.outbox) return false;
  const Outbox::Put put = door.outbox->put(std::move(frame));
  if (put == Outbox::Put::kFirst) {
    core_->post([waiting = door.session](Hub&) {
      if (const auto session = waiting.lock()) session->wake();
    });
  }
  return put != Outbox::Put::kFull;
}

void TlsEndpoint::close(std::uint32_t peer, const Bye& bye) {
  const Doors::Door door = core_->doors().at(peer);
  if (!door.outbox) return;
  core_->post([peer, bye, closing = door.session](Hub& hub) {
    if (const auto session = closing.lock()) hub.close(peer, session, bye);
  });
}

double TlsEndpoint::now() const { return steady_seconds(); }

}  // namespace hearsay::net
