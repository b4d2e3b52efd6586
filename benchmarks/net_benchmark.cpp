/// Frames over TLS on 127.0.0.1, against the same bytes over plain TCP in the same run:
///
///   net_benchmark [SECONDS]
///
/// Both ends are in this process, so with two cores each has one. Prints for 13 kB, 1 MB and 40 MB
/// the rates (medians of alternating turns of so many seconds) and their ratio; the bytes that TCP
/// carries for each byte of a message; and what a connection takes in memory.
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "hearsay/net/tls/endpoint.h"

namespace {

using namespace hearsay;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Counts frames, and wakes who waits for room.
class Events final : public net::WireEvents {
 public:
  explicit Events(std::uint32_t slot) : slot_(slot) {}

  net::Hello hello(std::uint32_t) override { return {.incarnation = 1, .next = 1, .slot = slot_}; }
  std::optional<net::Bye> judge(std::uint32_t, const net::Hello&) override {
    change([&] { ++up; });
    return {};
  }
  void down(std::uint32_t, std::string_view) override {}
  void frame(std::uint32_t, const net::Frame&) override {
    change([&] { ++frames; });
  }
  void room(std::uint32_t) override {
    change([&] { has_room = true; });
  }
  void wait(const auto& condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, condition);
  }

  std::size_t up = 0, frames = 0;  ///< read within `wait`
  bool has_room = false;

 private:
  void change(const auto& what) {
    const std::lock_guard lock(mutex_);
    what();
    changed_.notify_all();
  }
  const std::uint32_t slot_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Peer 0 and others that it is connected with.
class Star {
 public:
  Star(std::size_t others, std::size_t longest) {
    std::vector<net::Identity> keys;
    net::Fleet fleet;
    for (std::size_t slot = 0; slot <= others; ++slot) {
      keys.push_back(net::Identity::generate());
      fleet.peers.push_back({fmt::format("n{}", slot), keys.back().id(), {}});
    }
    for (std::uint32_t slot = 0; slot <= others; ++slot) {
      events.push_back(std::make_unique<Events>(slot));
      endpoints.push_back(std::make_unique<net::TlsEndpoint>(net::TlsEndpoint::Parts{
          .identity = keys[slot],
          .fleet = fleet,
          .events = *events.back(),
          .limits = {.longest_data = longest, .peers = others + 1},
          .listen = slot == 0 ? std::optional(net::Address{"127.0.0.1", 0}) : std::nullopt}));
      if (slot == 0) fleet.peers[0].address = net::Address{"127.0.0.1", endpoints[0]->port()};
      endpoints.back()->start();
      constexpr std::uint32_t kHub[] = {0};
      if (slot > 0) endpoints.back()->want(kHub);
    }
    events[0]->wait([&] { return events[0]->up == others; });
  }

  /// Peer 1 sends to peer 0.
  void send(const net::EncodedFrame& frame) {
    while (!endpoints[1]->send(0, frame)) {
      events[1]->wait([&] { return std::exchange(events[1]->has_room, false); });
    }
  }

  std::vector<std::unique_ptr<Events>> events;
  std::vector<std::unique_ptr<net::TlsEndpoint>> endpoints;
};

/// Bytes per second of frames over TLS.
double tls_rate(std::size_t bytes, double seconds) {
  Star star(1, bytes);
  const auto frame = net::encode_frame(net::FrameType::kData, 0, 1, Bytes(1),
                                       std::make_shared<const Bytes>(bytes - 1));
  star.events[1]->wait([&] { return star.events[1]->up == 1; });
  star.send(frame);
  star.events[0]->wait([&] { return star.events[0]->frames == 1; });
  const auto begin = Clock::now();
  std::size_t sent = 1;
  for (; seconds_since(begin) < seconds; ++sent) star.send(frame);
  star.events[0]->wait([&] { return star.events[0]->frames == sent; });
  return static_cast<double>((sent - 1) * frame.size()) / seconds_since(begin);
}

/// Connected sockets: {one that sends, one that receives}.
std::pair<int, int> tcp_pair() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, any, size) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, any, &size) != 0) {
    std::abort();
  }
  const int from = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(from, any, size) != 0) std::abort();
  const int to = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  return {from, to};
}

/// Bytes per second of the same bytes over TCP.
double tcp_rate(std::size_t bytes, double seconds) {
  const auto [from, to] = tcp_pair();
  const Bytes frame(bytes + net::kFrameHeaderBytes);
  std::atomic<std::size_t> received{0};
  std::thread reader([&, socket = to] {
    Bytes buffer(256u << 10);
    ssize_t got = 0;
    while ((got = ::read(socket, buffer.data(), buffer.size())) > 0) {
      received += static_cast<std::size_t>(got);
    }
  });
  const auto begin = Clock::now();
  std::size_t sent = 0;
  while (seconds_since(begin) < seconds) {
    for (std::size_t at = 0; at < frame.size();) {
      const ssize_t put = ::write(from, frame.data() + at, frame.size() - at);
      if (put <= 0) std::abort();
      at += static_cast<std::size_t>(put);
    }
    sent += frame.size();
  }
  ::shutdown(from, SHUT_WR);
  reader.join();
  const double rate = static_cast<double>(sent) / seconds_since(begin);
  ::close(from);
  ::close(to);
  return received == sent ? rate : 0;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(const char* name, std::size_t bytes, double seconds) {
  std::vector<double> tls, tcp;
  for (int turn = 0; turn < 5; ++turn) {
    tcp.push_back(tcp_rate(bytes, seconds));
    tls.push_back(tls_rate(bytes, seconds));
  }
  fmt::print("{:>6}  TCP {:6.0f} MB/s  TLS {:6.0f} MB/s  ratio {:.2f}\n", name, median(tcp) / 1e6,
             median(tls) / 1e6, median(tls) / median(tcp));
}

/// Sent by all TCP sockets of this process so far.
std::uint64_t tcp_bytes() {
  std::uint64_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    tcp_info info{};
    socklen_t size = sizeof info;
    const int descriptor = std::atoi(entry.path().filename().c_str());
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
      sum += info.tcpi_bytes_sent;
    }
  }
  return sum;
}

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void count_bytes() {
  constexpr std::size_t kMessage = 13'000, kMessages = 1000;
  Star star(1, kMessage);
  star.events[1]->wait([&] { return star.events[1]->up == 1; });
  const std::uint64_t before = tcp_bytes();
  const Bytes frame = net::encode_frame(net::FrameType::kData, 0, 1, Bytes(kMessage));
  for (std::size_t k = 0; k < kMessages; ++k) star.send(frame);
  star.events[0]->wait([&] { return star.events[0]->frames == kMessages; });
  fmt::print("bytes handed to TCP, per byte of 13 kB messages: {:.4f}\n",
             static_cast<double>(tcp_bytes() - before) / (kMessage * kMessages));
}

void measure_memory() {
  constexpr std::size_t kOthers = 64, kMessage = 13'000, kMessages = 64;
  { const Star warm(2, kMessage); }
  const std::size_t before = resident_bytes();
  Star star(kOthers, kMessage);
  const Bytes frame = net::encode_frame(net::FrameType::kData, 0, 1, Bytes(kMessage));
  for (std::uint32_t slot = 1; slot <= kOthers; ++slot) {
    star.events[slot]->wait([&] { return star.events[slot]->up == 1; });
    for (std::size_t k = 0; k < kMessages; ++k) {
      star.endpoints[0]->send(slot, frame);
      star.endpoints[slot]->send(0, frame);
    }
  }
  star.events[0]->wait([&] { return star.events[0]->frames == kOthers * kMessages; });
  for (std::uint32_t slot = 1; slot <= kOthers; ++slot) {
    star.events[slot]->wait([&] { return star.events[slot]->frames == kMessages; });
  }
  fmt::print(
      "memory of one end of a connection (two edges), 64 messages of 13 kB each way: {:.0f} kB\n",
      static_cast<double>(resident_bytes() - before) / (2 * kOthers) / 1e3);
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  compare("13 kB", 13'000, seconds);
  compare("1 MB", 1'000'000, seconds);
  compare("40 MB", 40'000'000, seconds);
  count_bytes();
  measure_memory();
}
