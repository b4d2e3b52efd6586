#include "hearsay/peer/neighbours.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/net/ack.h"
#include "hearsay/net/model_piece.h"
#include "hearsay/net/record.h"

namespace hearsay::peer {

namespace {

using net::Bye;
using net::ByeReason;
using net::FrameType;

constexpr double kPulseSeconds = 0.5;
constexpr double kSilenceSeconds = 2.5;
constexpr double kRepeatSeconds = 0.25;  ///< at least; and two of the receiver's rounds
constexpr std::size_t kMostStrikes = 3;
constexpr double kStrikeSeconds = 600;
constexpr double kMostWeight = 4;  ///< of a peer, times the size of the fleet
constexpr std::size_t kLongestOverhead = 48;

net::EncodedFrame frame_of(const SentMessage& message) {
  Bytes header;
  compress::append_header(message.header, header);
  return net::encode_frame(FrameType::kData, message.uncompressed ? net::kUncompressedFlag : 0,
                           message.number, header, message.code);
}

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace

Neighbours::Neighbours(Parts parts)
    : parts_(std::move(parts)),
      members_(parts_.peers, parts_.self, parts_.incarnation, parts_.hops),
      models_((parts_.layout.dim() + parts_.buffers) * sizeof(float)) {
  for (std::uint32_t peer = 0; peer < parts_.peers; ++peer) {
    neighbours_.push_back({Edge(parts_.controls)});
  }
}

net::FrameLimits Neighbours::limits() const {
  // No code is much longer than the floats themselves: a sparse one has an index per entry.
  return {.longest_data = 8 * parts_.layout.dim() + 16 * parts_.layout.segments().size() +
                          compress::kHeaderBytes + kLongestOverhead,
          .peers = parts_.peers};
}

net::Hello Neighbours::hello(std::uint32_t peer) {
  const std::lock_guard lock(mutex_);
  net::Hello hello{.run = run_,
                   .incarnation = parts_.incarnation,
                   .rounds = members_.own().rounds,
                   .slot = parts_.self,
                   .port = port_};
  neighbours_[peer].edge.describe(hello);
  return hello;
}

std::optional<Bye> Neighbours::judge(std::uint32_t peer, const net::Hello& hello) {
  const std::lock_guard lock(mutex_);
  const double now = wire_->now();
  Neighbour& neighbour = neighbours_[peer];
  if (hello.slot != peer) {
    log(peer, fmt::format("says that it is peer {}; it is not let in", hello.slot));
    return Bye{ByeReason::kCorrupt};
  }
  if (hello.run != run_) {
    log(peer, "trains another run: other settings, data or version; it is not let in");
    return Bye{ByeReason::kWrongRun};
  }
  if (hello.incarnation < members_.incarnation(peer)) {
    log(peer, "comes from an earlier life of its own; it is not let in");
    return Bye{ByeReason::kOldIncarnation, members_.incarnation(peer)};
  }
  if (now < neighbour.shut_out_until) return Bye{ByeReason::kRefused};
  if (has_left_) return Bye{ByeReason::kLeft};  // nobody would apply what it sends
  neighbour.edge.up(hello, parts_.incarnation);
  neighbour.heard = now;
  neighbour.ack_due = false;
  neighbour.closing.clear();
  members_.up(peer, hello, now);
  log(peer, "is connected");
  return {};
}

void Neighbours::down(std::uint32_t peer, std::string_view why) {
  const std::lock_guard lock(mutex_);
  Neighbour& neighbour = neighbours_[peer];
  if (!neighbour.edge.is_up()) return;
  const std::size_t unacked = neighbour.edge.unacked();
  neighbour.edge.down();
  models_.down(peer);
  members_.down(peer, wire_->now());
  log(peer, fmt::format("is gone ({}); {} message{} taken back",
                        neighbour.closing.empty() ? why : neighbour.closing, unacked,
                        unacked == 1 ? "" : "s"));
}

void Neighbours::frame(std::uint32_t peer, const net::Frame& frame) {
  const std::lock_guard lock(mutex_);
  Neighbour& neighbour = neighbours_[peer];
  if (!neighbour.edge.is_up()) return;
  neighbour.heard = wire_->now();
  switch (frame.header.type) {
    case FrameType::kPulse:
      for (const net::Record& record : net::decode_records(frame.body)) {
        members_.merge(record, neighbour.heard);
      }
      return;
    case FrameType::kData:
      return receive(peer, frame);
    case FrameType::kAck:
      return neighbour.edge.acked(net::decode_ack(frame));
    case FrameType::kAsk:
      return models_.asked(peer);
    case FrameType::kModel:
      return models_.receive(peer, net::decode_model_piece(frame));
    default:
      throw CorruptData(
          fmt::format("[frame] a {} has no place here", net::name_of(frame.header.type)));
  }
}

void Neighbours::more_of_a_frame(std::uint32_t peer) {
  const std::lock_guard lock(mutex_);
  Neighbour& neighbour = neighbours_[peer];
  if (!neighbour.edge.is_up()) return;
  neighbour.heard = wire_->now();
  members_.heard(peer, neighbour.heard);  // its pulses come after that frame
}

void Neighbours::receive(std::uint32_t peer, const net::Frame& frame) {
  Neighbour& neighbour = neighbours_[peer];
  const std::uint64_t number = frame.header.number;
  if (neighbour.edge.arrival(number) == Edge::Arrival::kDuplicate) {
    neighbour.ack_due = true;  // the ack may have been lost
    return;
  }
  neighbour.ack_due = true;
  if (members_.own().status == net::Status::kEntering) {  // its sender did not know
    neighbour.edge.refuse(number);
    return send_ack(peer);  // nobody calls `take` yet
  }
  if (neighbour.waiting >= kMostWaiting) return neighbour.edge.refuse(number);
  ByteReader body(frame.body, "data");
  ReceivedMessage message{.number = number,
                          .life = neighbour.edge.incarnation(),
                          .vector = std::make_unique<compress::Decoded>()};
  std::string wrong;
  try {
    message.header = compress::read_header(body);
  } catch (const CorruptData& error) {
    wrong = error.what();
  }
  if (wrong.empty() && message.header.sender != peer) {
    throw CorruptData(
        fmt::format("[data] peer {} sends in the name of peer {}", peer, message.header.sender));
  }
  const bool uncompressed = (frame.header.flags & net::kUncompressedFlag) != 0;
  if (wrong.empty()) wrong = check(message.header, uncompressed, body, *message.vector);
  if (!wrong.empty()) {
    neighbour.edge.refuse(number);
    return strike(peer, wrong);
  }
  neighbour.edge.accept(number);
  ++neighbour.waiting;
  arrived_.push_back(std::move(message));
}

std::string Neighbours::check(const compress::MessageHeader& header, bool uncompressed,
                              ByteReader& code, compress::Decoded& vector) const {
  if (header.kind != compress::MessageKind::kModel) return "a vector that is no model";
  if (!(header.weight > 0 && header.weight <= 1)) {
    return fmt::format("a share of {}, which is not in (0, 1]", header.weight);
  }
  const double most = kMostWeight * parts_.peers;
  if (!(header.push_sum > 0 && header.push_sum <= most)) {
    return fmt::format("a push-sum weight of {}, which is not in (0, {}]", header.push_sum, most);
  }
  try {
    if (uncompressed) {
      vector.sparse = false;
      vector.dense.resize(parts_.layout.dim());
      code.read(std::span(vector.dense));
    } else {
      parts_.compressor.decode(code, parts_.layout, vector);
    }
    if (code.left() > 0) return fmt::format("{} bytes too many", code.left());
  } catch (const CorruptData& error) {
    return error.what();
  }
  if (!all_finite(vector.sparse ? vector.value : vector.dense)) return "values that are not finite";
  return "";
}

void Neighbours::strike(std::uint32_t peer, const std::string& what) {
  Neighbour& neighbour = neighbours_[peer];
  const double now = wire_->now();
  std::erase_if(neighbour.strikes, [&](double when) { return now - when > kStrikeSeconds; });
  neighbour.strikes.push_back(now);
  log(peer, fmt::format("sent a message with {}; it is refused", what));
  if (neighbour.strikes.size() < kMostStrikes) return;
  neighbour.strikes.clear();
  neighbour.shut_out_until = now + kStrikeSeconds;
  send_ack(peer);  // so that it takes back what was refused
  close(peer, ByeReason::kRefused, "shut out for ten minutes after three refused messages");
}

void Neighbours::close(std::uint32_t peer, ByeReason reason, std::string why) {
  neighbours_[peer].closing = std::move(why);
  wire_->close(peer, {reason});
}

void Neighbours::tick() {
  const std::lock_guard lock(mutex_);
  const double now = wire_->now();
  if (now - last_pulse_ >= kPulseSeconds) pulse();
  send_pieces();
  for (std::uint32_t peer = 0; peer < neighbours_.size(); ++peer) {
    Neighbour& neighbour = neighbours_[peer];
    Edge& edge = neighbour.edge;
    if (!edge.is_up()) continue;
    if (now - neighbour.heard > kSilenceSeconds) {
      close(peer, ByeReason::kStuck, fmt::format("silent for {} s", kSilenceSeconds));
      continue;
    }
    const net::Record& record = members_.record(peer);
    if (edge.is_stuck(now, record.rounds)) {
      close(peer, ByeReason::kStuck, "does not ack what is sent to it");
      continue;
    }
    if (wire_->reliable()) continue;
    const double rate = static_cast<double>(record.rate);
    const double patience = std::max(kRepeatSeconds, rate > 0 ? 2 / rate : 0);
    for (const SentMessage* message : edge.overdue(now, patience)) {
      wire_->send(peer, frame_of(*message));
    }
  }
}

void Neighbours::pulse() {
  last_pulse_ = wire_->now();
  const Bytes frame = net::encode_frame(members_.pulse());
  for (std::uint32_t peer = 0; peer < neighbours_.size(); ++peer) {
    if (neighbours_[peer].edge.is_up()) wire_->send(peer, frame);
  }
}

/// As many as the wire has room for.
void Neighbours::send_pieces() {
  for (const std::uint32_t peer : models_.receivers()) {
    bool taken = true;
    while (taken && models_.has_piece(peer)) {
      taken = wire_->send(peer, models_.next_piece(peer));
      if (taken) models_.sent(peer);
    }
  }
}

void Neighbours::send_ack(std::uint32_t peer) {
  neighbours_[peer].ack_due = false;
  wire_->send(peer, net::encode_frame(neighbours_[peer].edge.ack()));
}

void Neighbours::tell(const net::Record& own) {
  const std::lock_guard lock(mutex_);
  net::Record& record = members_.own();
  const net::Record before = record;
  record = own;
  record.slot = before.slot;
  record.incarnation = before.incarnation;
  record.beat = before.beat;
  const bool has_entered = before.status == net::Status::kEntering && own.status != before.status;
  if (has_entered && wire_ != nullptr) pulse();  // from now on others may send to it
}

void Neighbours::want(std::span<const std::uint32_t> peers) {
  const std::lock_guard lock(mutex_);
  wire_->want(peers);
}

std::optional<SentMessage> Neighbours::send(std::uint32_t peer, SentMessage message) {
  const std::lock_guard lock(mutex_);
  Edge& edge = neighbours_[peer].edge;
  if (!edge.has_room(message.bytes())) return {};
  message.receiver = peer;
  message.first_sent = wire_->now();
  message.rounds = members_.record(peer).rounds;
  const SentMessage sent = edge.send(std::move(message));
  // A wire that keeps all frames will not be given this one again.
  if (!wire_->send(peer, frame_of(sent)) && wire_->reliable()) {
    close(peer, ByeReason::kStuck, "cannot take what is sent to it");
  }
  return sent;
}

Neighbours::Mail Neighbours::take() {
  const std::lock_guard lock(mutex_);
  Mail mail{.arrived = std::move(arrived_)};
  arrived_.clear();
  for (std::uint32_t peer = 0; peer < neighbours_.size(); ++peer) {
    Neighbour& neighbour = neighbours_[peer];
    neighbour.waiting = 0;
    std::ranges::move(neighbour.edge.returned(), std::back_inserter(mail.returned));
    neighbour.edge.returned().clear();
    if (neighbour.ack_due && neighbour.edge.is_up()) send_ack(peer);
  }
  return mail;
}

std::optional<SentMessage> Neighbours::pay(double most) {
  const std::lock_guard lock(mutex_);
  for (Neighbour& neighbour : neighbours_) {
    std::deque<SentMessage>& owed = neighbour.edge.owed();
    if (owed.empty() || owed.front().mass() > most) continue;
    SentMessage message = std::move(owed.front());
    owed.pop_front();
    return message;
  }
  return {};
}

std::size_t Neighbours::open() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const Neighbour& neighbour : neighbours_) {
    const Edge& edge = neighbour.edge;
    sum += edge.unacked() + edge.returned().size() + edge.owed().size();
  }
  return sum;
}

std::size_t Neighbours::unsettled(std::uint32_t peer) const {
  const std::lock_guard lock(mutex_);
  return neighbours_[peer].edge.unsettled();
}

std::size_t Neighbours::open(std::uint32_t peer) const {
  const std::lock_guard lock(mutex_);
  return neighbours_[peer].edge.unacked() + neighbours_[peer].edge.returned().size();
}

void Neighbours::leave() {
  const std::lock_guard lock(mutex_);
  has_left_ = true;
  for (std::uint32_t peer = 0; peer < neighbours_.size(); ++peer) {
    if (neighbours_[peer].edge.is_up()) close(peer, ByeReason::kLeft, "this peer leaves");
  }
}

bool Neighbours::ask_for_model(std::uint32_t peer) {
  const std::lock_guard lock(mutex_);
  if (!neighbours_[peer].edge.is_up()) return false;
  models_.ask(peer);
  return wire_->send(peer, net::encode_frame(FrameType::kAsk, 0, 0, {}));
}

std::optional<std::vector<float>> Neighbours::take_model() {
  const std::lock_guard lock(mutex_);
  const std::optional<Bytes> bytes = models_.take();
  if (!bytes) return {};
  std::vector<float> values(bytes->size() / sizeof(float));
  ByteReader(*bytes, "model").read(std::span(values));
  return values;
}

bool Neighbours::model_is_wanted() const {
  const std::lock_guard lock(mutex_);
  return models_.is_wanted();
}

void Neighbours::hand_over_model(std::span<const float> parameters,
                                 std::span<const float> buffers) {
  Bytes bytes;
  bytes.reserve(parameters.size_bytes() + buffers.size_bytes());
  append(bytes, parameters);
  append(bytes, buffers);
  const ModelExchange::Digest digest = ModelExchange::digest_of(bytes);
  const std::lock_guard lock(mutex_);
  models_.answer(std::make_shared<const Bytes>(std::move(bytes)), digest);
  send_pieces();
}

std::vector<std::uint32_t> Neighbours::connected() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> all;
  for (std::uint32_t peer = 0; peer < neighbours_.size(); ++peer) {
    if (neighbours_[peer].edge.is_up()) all.push_back(peer);
  }
  return all;
}

void Neighbours::log(std::uint32_t peer, const std::string& what) const {
  if (!parts_.log) return;
  const std::string name = parts_.names.empty() ? fmt::format("peer {}", peer) : parts_.names[peer];
  parts_.log(fmt::format("{} {}", name, what));
}

}  // namespace hearsay::peer
