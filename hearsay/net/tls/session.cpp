#include "hearsay/net/tls/session.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

namespace {

constexpr std::size_t kCounted = 1u
                                 << 20;  ///< bytes of a chunk at a time that are written, counted

std::string remote_of(const asio::ip::tcp::socket& socket) {
  asio::error_code error;
  const auto end = socket.remote_endpoint(error);
  return error ? "?" : end.address().to_string();
}

/// Why a read failed, by OpenSSL's last error.
std::string tls_failure() {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) return "closed without a word";
  if (reason > SSL_AD_REASON_OFFSET) {  // an alert
    return fmt::format("it refuses this peer, with {}; its fleet file may not list it",
                       last_tls_error());
  }
  return fmt::format("broken TLS: {}", last_tls_error());
}

}  // namespace

Session::Session(Parts parts)
    : parts_(std::move(parts)),
      dialled_(parts_.peer.has_value()),
      remote_(remote_of(parts_.socket)),
      admits_([this](const Id& id) {
        const bool admitted = parts_.owner.admits(*this, id);
        if (!admitted) stranger_ = to_text(id);
        return admitted;
      }),
      reader_(parts_.limits),
      outbox_(std::make_shared<Outbox>(parts_.limits)) {
  asio::error_code ignored;
  parts_.socket.non_blocking(true, ignored);
  parts_.socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  ssl_ = parts_.context.connection(parts_.socket.native_handle(), admits_);
}

Session::~Session() = default;

void Session::start() { again(); }

// ---- Waiting ----

void Session::ready() {
  if (phase_ == Phase::kHandshake) shake();
  if (phase_ == Phase::kOpen || phase_ == Phase::kGoodbye) write();
  if (phase_ == Phase::kOpen) read();
  if (phase_ == Phase::kGoodbye) discard_input();
}

void Session::again() {
  if (std::exchange(posted_, true)) return;
  asio::post(parts_.socket.get_executor(), [self = shared_from_this()] {
    self->posted_ = false;
    self->ready();
  });
}

void Session::await_readable() {
  if (std::exchange(reading_, true)) return;
  parts_.socket.async_wait(asio::ip::tcp::socket::wait_read,
                           [self = shared_from_this()](const asio::error_code& error) {
                             self->reading_ = false;
                             if (!error) self->ready();
                           });
}

void Session::await_writable() {
  if (std::exchange(writing_, true)) return;
  parts_.socket.async_wait(asio::ip::tcp::socket::wait_write,
                           [self = shared_from_this()](const asio::error_code& error) {
                             self->writing_ = false;
                             if (!error) self->ready();
                           });
}

void Session::tick(double seconds) {
  age_ += seconds;
  if (phase_ == Phase::kGoodbye) {
    goodbye_age_ += seconds;
    if (goodbye_age_ > kGoodbyeSeconds) abandon();
    return;
  }
  if (phase_ == Phase::kGone) return;
  if (!greeted_ && age_ > kSecondsToHello) {
    return end(fmt::format("no HELLO within {} s", kSecondsToHello));
  }
  if (frame_age_ == kNever) return;
  frame_age_ += seconds;
  const double length = reader_.begun() ? reader_.begun()->length : 0;
  if (frame_age_ > kSecondsToHello + length / kBytesASecond) {
    end(fmt::format("a frame of {} bytes took more than {:.3g} s", length, frame_age_));
  }
}

// ---- What the owner asks for ----

void Session::wake() {
  if (phase_ == Phase::kOpen || phase_ == Phase::kGoodbye) write();
}

void Session::greet(const Hello& hello) {
  hello_ = encode_frame(hello);
  again();
}

void Session::open() {
  flowing_ = true;
  parts_.ticket.reset();
  again();
}

void Session::finish(const Bye& bye, bool flush) {
  if (phase_ == Phase::kHandshake) return abandon();
  if (phase_ != Phase::kOpen) return;
  phase_ = Phase::kGoodbye;
  bye_ = encode_frame(bye.reason, bye.number);
  if (!flush) {
    flowing_ = false;
    outbox_->discard();
  }
  again();
}

void Session::abandon() {
  if (std::exchange(phase_, Phase::kGone) == Phase::kGone) return;
  outbox_->discard();
  parts_.ticket.reset();
  asio::error_code ignored;
  parts_.socket.close(ignored);
  parts_.owner.gone(*this);
}

void Session::end(const std::string& why, bool politely) {
  const std::shared_ptr<Session> self = shared_from_this();
  phase_ = Phase::kGoodbye;
  parts_.owner.ended(*this, why);
  politely ? again() : abandon();
}

void Session::end_corrupt(const std::string& why) {
  bye_ = encode_frame(ByeReason::kCorrupt);
  flowing_ = false;
  end(why, true);
}

// ---- In ----

void Session::shake() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    const std::optional<Id> other = other_side(ssl_.get());
    if (!other) return end("it does not speak hearsay/1", true);
    other_ = *other;
    phase_ = Phase::kOpen;
    return parts_.owner.proven(*this);
  }
  const int reason = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return await_readable();
    case SSL_ERROR_WANT_WRITE:
      return await_writable();
    case SSL_ERROR_SYSCALL:
      tls_failed_ = true;
      return end(reason == ECONNRESET ? "reset in the handshake" : "closed in the handshake");
    default:
      tls_failed_ = true;
      end(stranger_.empty() ? fmt::format("no TLS 1.3 with it: {}", last_tls_error())
                            : fmt::format("its key is that of {}", stranger_),
          true);
  }
}

void Session::read() {
  constexpr int kRecordsATurn = 32;
  std::array<std::uint8_t, SSL3_RT_MAX_PLAIN_LENGTH> buffer;
  for (int record = 0; record < kRecordsATurn; ++record) {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_read(ssl_.get(), buffer.data(), buffer.size());
    if (result <= 0) return reading_stopped(result);
    take_in({buffer.data(), static_cast<std::size_t>(result)});
    if (phase_ != Phase::kOpen) return;
  }
  again();
}

void Session::reading_stopped(int result) {
  const int reason = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return await_readable();
    case SSL_ERROR_WANT_WRITE:
      return await_writable();
    case SSL_ERROR_ZERO_RETURN:
      return end("closed by the other");
    case SSL_ERROR_SYSCALL:
      tls_failed_ = true;
      return end(reason == ECONNRESET ? "reset" : "the connection broke");
    default:
      tls_failed_ = true;
      return end(tls_failure(), true);
  }
}

void Session::take_in(ByteView piece) {
  bool whole = false;
  try {
    reader_.feed(piece);
    while (const std::optional<Frame> frame = reader_.next()) {
      whole = true;
      heard(*frame);
      if (phase_ != Phase::kOpen) return;
    }
    const auto& begun = reader_.begun();
    if (begun && !greeted_ && begun->type != FrameType::kHello && begun->type != FrameType::kBye) {
      throw CorruptData(fmt::format("[frame] {} before HELLO", name_of(begun->type)));
    }
  } catch (const CorruptData& error) {
    if (phase_ == Phase::kOpen) end_corrupt(error.what());
    return;
  }
  if (reader_.waiting() == 0) {
    frame_age_ = kNever;
  } else {
    if (whole || frame_age_ == kNever) frame_age_ = 0;
    if (greeted_) parts_.owner.more_of_a_frame(*this);
  }
}

void Session::heard(const Frame& frame) {
  const FrameType type = frame.header.type;
  if (type == FrameType::kBye) {
    farewell_ = decode_bye(frame.body);
    const std::uint64_t number = frame.header.number;
    return end(fmt::format("closed by the other: {}{}", name_of(*farewell_),
                           number == 0 ? "" : fmt::format(" ({} is known)", number)));
  }
  if (greeted_ == (type == FrameType::kHello)) {
    throw CorruptData(
        fmt::format("[frame] {} {}", name_of(type), greeted_ ? "again" : "before HELLO"));
  }
  if (greeted_) return parts_.owner.frame(*this, frame);
  const Hello hello = decode_hello(frame.body);
  greeted_ = true;
  parts_.owner.greeted(*this, hello);
}

void Session::discard_input() {
  constexpr int kPiecesATurn = 16;
  std::array<std::uint8_t, 16384> buffer;
  for (int piece = 0; piece < kPiecesATurn; ++piece) {
    const ssize_t got =
        ::recv(parts_.socket.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return await_readable();
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return abandon();
  }
  again();
}

// ---- Out ----

void Session::write() {
  constexpr int kWritesATurn = 64;  // of a TLS record each
  for (int turn = 0; !tls_failed_ && !shut_; ++turn) {
    if (sent_ == chunk_.size() && !next_chunk()) break;
    if (turn == kWritesATurn) return again();
    ERR_clear_error();
    ByteView left = chunk_.after(sent_);
    left = left.first(std::min(left.size(), kCounted));
    const int result = SSL_write(ssl_.get(), left.data(), static_cast<int>(left.size()));
    if (result > 0) {
      sent_ += static_cast<std::size_t>(result);
      if (sent_ - counted_ >= kCounted) count_sent();
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_WRITE) return await_writable();
    if (error == SSL_ERROR_WANT_READ) return await_readable();
    tls_failed_ = true;  // what the other said before may still be read, and tell why
  }
  if (phase_ == Phase::kGoodbye) return say_goodbye();
  if (tls_failed_) await_readable();
}

/// What was sent no longer takes room.
void Session::count_sent() {
  const bool has_room_again = outbox_->written(chunk_, sent_ - std::exchange(counted_, sent_));
  if (has_room_again && phase_ == Phase::kOpen) parts_.owner.room(*this);
}

bool Session::next_chunk() {
  count_sent();
  chunk_ = {};
  sent_ = counted_ = 0;
  if (!hello_.empty()) {
    chunk_.bytes = std::exchange(hello_, {});
  } else if (flowing_) {
    chunk_ = outbox_->take();
  }
  if (chunk_.bytes.empty() && phase_ == Phase::kGoodbye) chunk_.bytes = std::exchange(bye_, {});
  return !chunk_.bytes.empty();
}

void Session::say_goodbye() {
  if (std::exchange(shut_, true)) return;
  if (!tls_failed_) SSL_shutdown(ssl_.get());
  asio::error_code ignored;
  parts_.socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace hearsay::net
