#include "live/client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "hearsay/train/run_options.h"
#include "support/scratch.h"

namespace hearsay::live {

Client::Client(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval minute{60, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
  ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof minute);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(fmt::format("cannot connect to port {}", port));
  }
}

Client::~Client() { close(); }

void Client::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      EXPECT_TRUE(errno == EPIPE || errno == ECONNRESET) << "nobody took the bytes for a minute";
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string Client::receive(std::string_view text) {
  for (;;) {
    const std::size_t found = text.empty() ? std::string::npos : ahead_.find(text);
    if (found != std::string::npos) {
      std::string all = ahead_.substr(0, found + text.size());
      ahead_.erase(0, all.size());
      return all;
    }
    char buffer[16384];
    const ssize_t got = ::recv(descriptor_, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      EXPECT_TRUE(got == 0 || errno == ECONNRESET) << "nothing came for a minute";
      EXPECT_TRUE(text.empty()) << "closed before '" << text << "' came, after: " << ahead_;
      return std::exchange(ahead_, "");
    }
    ahead_.append(buffer, static_cast<std::size_t>(got));
  }
}

std::string request_of(const std::string& method, const std::string& target, std::uint16_t port,
                       Headers headers) {
  if (std::ranges::find(headers, "Host", &Headers::value_type::first) == headers.end()) {
    headers.emplace_back("Host", fmt::format("127.0.0.1:{}", port));
  }
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  return text + "\r\n";
}

Reply parse(const std::string& text) {
  Reply reply;
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return reply;
  reply.status = std::stoi(text.substr(9, 3));
  reply.head = text.substr(0, end + 2);
  reply.body = text.substr(end + 4);
  return reply;
}

Reply ask(std::uint16_t port, const std::string& target, const Headers& headers,
          const std::string& method) {
  Client client(port);
  client.send(request_of(method, target, port, headers));
  return parse(client.receive());
}

std::string metrics_line(int index) {
  return fmt::format(
      R"({{"round": {}, "accuracy": [10, 12], "accuracy_mean": 11, "bytes_total": 0, "divergence": 0}})",
      10 * index);
}

void make_run(const std::string& directory, int lines) {
  std::filesystem::create_directories(directory);
  train::RunOptions config;
  config.graph = "ring";
  config.peers = 2;
  support::write_text(directory + "/config.toml", config.to_toml());
  std::ofstream out(directory + "/metrics.jsonl");
  for (int i = 0; i < lines; ++i) out << metrics_line(i) << '\n';
}

}  // namespace hearsay::live
