#include "hearsay/net/tls/dial.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <asio/connect.hpp>

namespace hearsay::net {

Dial::Dial(asio::io_context& io, Address address, Done done)
    : resolver_(io), socket_(io), address_(std::move(address)), done_(std::move(done)) {}

void Dial::start() {
  asio::error_code not_literal;
  const auto literal = asio::ip::make_address(address_.host, not_literal);
  if (!not_literal) {  // asio resolves names on a thread of its own; there is no need for it here
    return connect(asio::ip::tcp::resolver::results_type::create(
        asio::ip::tcp::endpoint(literal, address_.port), address_.host, ""));
  }
  resolver_.async_resolve(address_.host, std::to_string(address_.port),
                          asio::ip::tcp::resolver::numeric_service,
                          [self = shared_from_this()](const asio::error_code& error, auto found) {
                            if (!self->done_) return;
                            error ? self->finish(error.message()) : self->connect(found);
                          });
}

void Dial::connect(asio::ip::tcp::resolver::results_type found) {
  asio::async_connect(socket_, found,
                      [self = shared_from_this()](const asio::error_code& error, const auto&) {
                        self->finish(error ? error.message() : "");
                      });
}

void Dial::finish(const std::string& why) {
  const Done done = std::exchange(done_, nullptr);
  if (done) done(why, std::move(socket_));
}

void Dial::cancel() {
  done_ = nullptr;
  resolver_.cancel();
  asio::error_code ignored;
  socket_.close(ignored);
}

void Dial::tick(double seconds) {
  age_ += seconds;
  if (age_ <= kSeconds || !done_) return;
  const Done done = std::exchange(done_, nullptr);
  cancel();
  done(fmt::format("no answer within {} s", kSeconds),
       asio::ip::tcp::socket(socket_.get_executor()));
}

double Backoff::next() {
  const double wait = wait_ * (0.5 + 0.5 * random_.uniform());
  wait_ = std::min(2 * wait_, kLast);
  return wait;
}

void Backoff::lasted(double seconds) {
  if (seconds > wait_) wait_ = kFirst;
}

}  // namespace hearsay::net
