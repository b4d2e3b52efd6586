#include "cli/proxy.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace hearsay::cli {

namespace {

constexpr std::size_t kMostWaiting = 1u << 20;  ///< bytes of a direction; then TCP waits
constexpr std::size_t kPieceBytes = 4096;

}  // namespace

Proxy::Proxy(const std::vector<Route>& routes) : routes_(routes) {
  for (const Route& route : routes_) {
    listeners_.push_back(listen_at(route.from));
    if (!listeners_.back()) throw std::runtime_error("no place for a proxy at " + route.from.host);
  }
  thread_ = std::thread([this] { work(); });
}

Proxy::~Proxy() {
  stop_ = true;
  thread_.join();
}

void Proxy::set(const Trouble& trouble) {
  const std::lock_guard lock(mutex_);
  wanted_ = trouble;
}

void Proxy::work() {
  while (!stop_) {
    {
      const std::lock_guard lock(mutex_);
      trouble_ = wanted_;
    }
    std::vector<pollfd> watched;
    for (const Socket& listener : listeners_) watched.push_back({listener.get(), POLLIN, 0});
    for (const Connection& connection : all_) {
      const auto watch = [&](const Socket& socket, const Direction& from) {
        const bool reads = !from.ended && from.bytes < kMostWaiting;
        watched.push_back({socket.get(), static_cast<short>(reads ? POLLIN : 0), 0});
      };
      watch(connection.dialler, connection.to_listener);
      watch(connection.listener, connection.to_dialler);
    }
    ::poll(watched.data(), watched.size(), 1);  // a millisecond, so that pieces leave when due
    for (std::size_t k = 0; k < listeners_.size(); ++k) admit(routes_[k], listeners_[k]);
    for (Connection& connection : all_) {
      std::size_t& until_reset = connection.until_reset;
      if (trouble_.reset_after == 0)
        until_reset = 0;
      else if (until_reset == 0)
        until_reset = 1 + random_.below(2 * trouble_.reset_after);
      receive(connection, connection.dialler, connection.to_listener);
      receive(connection, connection.listener, connection.to_dialler);
      if (!trouble_.holds_to_listeners) {
        pass_on(connection, connection.listener, connection.to_listener);
      }
      pass_on(connection, connection.dialler, connection.to_dialler);
      if (trouble_.lifetime > 0 && now() - connection.begin > trouble_.lifetime) reset(connection);
    }
    all_.remove_if([](const Connection& connection) { return connection.over; });
  }
}

void Proxy::admit(const Route& route, const Socket& socket) {
  while (Socket dialler = accept_from(socket)) {
    ++connections_;
    Connection connection{.dialler = std::move(dialler), .listener = connect_to(route.to)};
    connection.begin = now();
    all_.push_back(std::move(connection));
  }
}

void Proxy::receive(Connection& connection, const Socket& from, Direction& direction) {
  while (!connection.over && !direction.ended && direction.bytes < kMostWaiting) {
    Bytes bytes(kPieceBytes);
    const ssize_t got = ::recv(from.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == ENOTCONN)) return;
    if (got < 0) return reset(connection);
    if (got == 0) {
      direction.ended = true;
      return;
    }
    bytes.resize(static_cast<std::size_t>(got));
    direction.bytes += bytes.size();
    const double late = trouble_.delay + trouble_.jitter * (2 * random_.uniform() - 1);
    direction.last_due = std::max(direction.last_due, now() + late);
    direction.waiting.push_back({direction.last_due, std::move(bytes)});
  }
}

void Proxy::pass_on(Connection& connection, const Socket& to, Direction& direction) {
  while (!connection.over && !direction.waiting.empty()) {
    Piece& piece = direction.waiting.front();
    if (piece.due > now() || direction.paid_until > now()) return;
    const bool breaks = connection.until_reset > 0 && piece.bytes.size() >= connection.until_reset;
    const std::size_t size = breaks ? connection.until_reset : piece.bytes.size();
    const ssize_t sent = ::send(to.get(), piece.bytes.data(), size, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN)) return;
    if (sent < 0 || breaks) return reset(connection);
    if (connection.until_reset > 0) connection.until_reset -= static_cast<std::size_t>(sent);
    if (trouble_.bytes_per_second > 0) {
      direction.paid_until = std::max(direction.paid_until, now()) +
                             static_cast<double>(sent) / trouble_.bytes_per_second;
    }
    direction.bytes -= static_cast<std::size_t>(sent);
    piece.bytes.erase(piece.bytes.begin(), piece.bytes.begin() + sent);
    if (piece.bytes.empty()) direction.waiting.pop_front();
  }
  if (direction.ended && direction.waiting.empty()) {
    ::shutdown(to.get(), SHUT_WR);
    connection.over = connection.to_listener.ended && connection.to_dialler.ended &&
                      connection.to_listener.waiting.empty() &&
                      connection.to_dialler.waiting.empty();
  }
}

void Proxy::reset(Connection& connection) {
  if (connection.over) return;
  connection.dialler.reset_when_closed();
  connection.listener.reset_when_closed();
  connection.over = true;
  ++resets_;
}

}  // namespace hearsay::cli
