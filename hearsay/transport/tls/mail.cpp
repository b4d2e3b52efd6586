#include "hearsay/transport/tls/mail.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::transport {

namespace {

constexpr std::uint64_t kMostBodyBytes = std::uint64_t{1} << 36;

}  // namespace

void OutMail::add(Label label, ByteView head, ByteView body) {
  waiting_.push_back({++sent_, label, Bytes(head.begin(), head.end()), body});
  untaken_.emplace(sent_, label);
}

Bytes OutMail::next_frame(const Message& message, std::size_t piece) {
  Bytes body;
  body.reserve(kLongestFrame);
  if (!message.begun) {
    append(body, static_cast<std::uint8_t>(message.label.lane));
    append(body, static_cast<std::uint8_t>(message.head.size()));
    append(body, std::uint16_t{0});
    append(body, message.label.round);
    append(body, static_cast<std::uint64_t>(message.body.size()));
    append(body, std::span<const std::uint8_t>(message.head));
  }
  append(body, message.body.subspan(message.done, piece));
  return net::encode_frame(net::FrameType::kData, 0, message.number, body);
}

void OutMail::pump(const std::function<bool(Bytes)>& send) {
  while (!waiting_.empty()) {
    Message& message = waiting_.front();
    const std::size_t piece = std::min(kPieceBytes, message.body.size() - message.done);
    if (!send(next_frame(message, piece))) return;
    message.begun = true;
    message.done += piece;
    if (message.done == message.body.size()) waiting_.pop_front();
  }
}

void OutMail::taken(std::uint64_t number) {
  const bool was_sent = waiting_.empty() || number < waiting_.front().number;
  if (!was_sent || untaken_.erase(number) == 0) {
    throw CorruptData(fmt::format("[tls] message {} was taken, and is not on its way", number));
  }
}

bool OutMail::all_taken(Label label) const {
  return std::ranges::none_of(untaken_, [&](const auto& entry) {
    return entry.second.lane == label.lane && entry.second.round <= label.round;
  });
}

void OutMail::drop() {
  waiting_.clear();
  untaken_.clear();
}

void InMail::begin(std::uint64_t number, ByteReader& body, const Room& room) {
  if (number != message_.number + 1) {
    throw CorruptData(fmt::format("[tls] message {} after {}", number, message_.number));
  }
  const auto lane = body.read<std::uint8_t>(), head = body.read<std::uint8_t>();
  const auto zero = body.read<std::uint16_t>();
  const auto round = body.read<std::uint32_t>();
  const auto bytes = body.read<std::uint64_t>();
  if (lane > static_cast<std::uint8_t>(kLastLane) || head > kMostHeadBytes || zero != 0 ||
      bytes > kMostBodyBytes) {
    throw CorruptData(fmt::format("[tls] message {} begins with numbers that cannot be", number));
  }
  const Label label{static_cast<Lane>(lane), round};
  const ByteView head_bytes = body.take(head);
  message_ = {number, label, Bytes(head_bytes.begin(), head_bytes.end()), room(label, bytes)};
  done_ = 0;
  begun_ = true;
}

std::optional<InMail::Message> InMail::take(const net::Frame& frame, const Room& room) {
  ByteReader body(frame.body, "data");
  if (!begun_) {
    begin(frame.header.number, body, room);
  } else if (frame.header.number != message_.number) {
    throw CorruptData(
        fmt::format("[tls] message {} within {}", frame.header.number, message_.number));
  }
  const std::size_t piece = body.left();
  if (piece > message_.body.size() - done_) {
    throw CorruptData(fmt::format("[tls] message {} is longer than it said", message_.number));
  }
  body.read(message_.body.subspan(done_, piece));
  done_ += piece;
  if (done_ < message_.body.size()) return {};
  begun_ = false;
  return message_;
}

}  // namespace hearsay::transport
