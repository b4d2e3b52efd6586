#include "hearsay/net/tls/listener.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

Listener::Listener(asio::io_context& io, const Address& address, Accepted accepted)
    : acceptor_(io), accepted_(std::move(accepted)) {
  try {
    asio::ip::tcp::resolver resolver(io);
    const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                        asio::ip::tcp::resolver::passive);
    const asio::ip::tcp::endpoint end = found.begin()->endpoint();
    acceptor_.open(end.protocol());
    acceptor_.set_option(asio::ip::tcp::acceptor::reuse_address(true));
    if (end.address().is_v6()) acceptor_.set_option(asio::ip::v6_only(false));
    acceptor_.bind(end);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  } catch (const std::system_error& error) {
    throw InvalidArgument(
        fmt::format("[listen] cannot listen on {}: {}", to_text(address), error.code().message()));
  }
}

void Listener::accept() {
  acceptor_.async_accept([this](const asio::error_code& error, asio::ip::tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error && error != asio::error::connection_aborted) {
      failed_ = true;
      return;
    }
    asio::error_code gone;
    const auto end = socket.remote_endpoint(gone);
    if (!error && !gone) {
      std::shared_ptr<void> ticket = admission_.admit(end.address(), steady_seconds());
      if (ticket) accepted_(std::move(socket), std::move(ticket));
    }
    accept();
  });
}

void Listener::tick() {
  if (std::exchange(failed_, false) && acceptor_.is_open()) accept();
}

void Listener::close() {
  asio::error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace hearsay::net
