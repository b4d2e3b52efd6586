#include "hearsay/gossip/message_exchange.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "hearsay/compress/code/message.h"
#include "hearsay/core/error.h"
#include "hearsay/gossip/stopwatch.h"

namespace hearsay::gossip {

namespace {

using compress::MessageKind;
using compress::Payload;
using Form = Payload::Form;
using transport::Arrival;
using transport::Label;

constexpr MessageKind kKinds[] = {MessageKind::kModel, MessageKind::kAuxiliary};
constexpr std::uint32_t kRoundsInFlight = 2;

ByteView bytes_of(std::span<const float> floats) {
  return {reinterpret_cast<const std::uint8_t*>(floats.data()), floats.size_bytes()};
}

}  // namespace

MessageExchange::MessageExchange(const Parts& parts)
    : parts_(parts),
      first_(parts.placement.first(parts.group.rank())),
      rows_(parts.placement.rows(parts.group.rank())) {}

MessageExchange::~MessageExchange() {
  if (in_flight_.empty()) return;
  bool flushed = false;
  try {  // after a normal end all is flushed by now; after a failure this is best effort
    flushed = parts_.group.transport().flush(label_, std::chrono::milliseconds(100));
  } catch (const std::exception&) {
  }
  if (!flushed) parts_.group.transport().let_go();
}

std::vector<std::uint32_t> MessageExchange::senders(const graph::Weights& weights) const {
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < rows_; ++i) {
    for (const graph::Edge& edge : weights.into(first_ + i)) {
      if (!is_own(edge.sender)) all.push_back(edge.sender);
    }
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

std::uint32_t MessageExchange::first_receiver(const graph::Weights& weights,
                                              std::uint32_t sender) const {
  for (const graph::Edge& edge : weights.out_of(sender)) {
    if (is_own(edge.receiver)) return edge.receiver;
  }
  throw InvalidArgument(fmt::format("[exchange] peer {} sends nothing here", sender));
}

void MessageExchange::send(const graph::Weights& weights, std::uint32_t round,
                           algorithm::Outbox& outbox, std::span<const double> push_sum) {
  if (parts_.group.alone()) return;
  transport::Transport& transport = parts_.group.transport();
  label_ = parts_.group.next_gossip();
  prepare(weights, outbox.payloads.size());
  const auto is_raw = [](const Payload& payload) { return payload.form == Form::kRaw; };
  if (std::ranges::all_of(outbox.payloads, is_raw)) expect_raw(weights, outbox.payloads.size());

  InFlight& kept = in_flight_.emplace_back(InFlight{label_, {}, {}});
  for (Payload& payload : outbox.payloads) {
    // Receivers in this process read codes that are sent undecoded from the outbox.
    kept.codes.push_back(payload.form == Form::kUndecoded ? payload.codes
                                                          : std::move(payload.codes));
    if (is_raw(payload) && parts_.kernels.on_host()) lends_rows_ = true;
  }
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t p = 0; p < outbox.payloads.size(); ++p) {
      const Payload& payload = outbox.payloads[p];
      std::size_t last = parts_.group.rank();
      ByteView body;
      for (const graph::Edge& edge : weights.out_of(first_ + i)) {
        const std::size_t process = parts_.placement.owner(edge.receiver);
        if (process == parts_.group.rank()) continue;
        if (body.empty()) body = body_of(payload, i, kept, p);
        Bytes head;
        compress::append_header({.kind = kKinds[p],
                                 .sender = edge.sender,
                                 .round = round,
                                 .weight = static_cast<float>(outbox.rate * edge.weight),
                                 .push_sum = push_sum.empty() ? 1.0 : push_sum[i]},
                                head);
        append(head, edge.receiver);
        transport::send_or_fail(transport, process, label_, head,
                                process == last ? ByteView{} : body);
        last = process;
      }
    }
  }
  while (label_.round - in_flight_.front().label.round >= kRoundsInFlight) {
    transport::flush_or_fail(transport, in_flight_.front().label, parts_.group.idle());
    std::ranges::move(in_flight_.front().copies, std::back_inserter(spare_copies_));
    in_flight_.pop_front();
  }
}

ByteView MessageExchange::body_of(const Payload& payload, std::size_t row, InFlight& kept,
                                  std::size_t number) {
  if (payload.form != Form::kRaw) return kept.codes[number][row];
  const std::span<const float> floats(payload.rows[row].dense, parts_.layout.dim());
  if (parts_.kernels.on_host()) return bytes_of(floats);
  const backend::Array& copy = kept.copies.emplace_back(host_row());
  parts_.kernels.download({floats.data(), 1, floats.size()}, 0, copy.row(0));
  return bytes_of(copy.row(0));
}

backend::Array MessageExchange::host_row() {
  if (spare_copies_.empty()) return parts_.kernels.allocate_host(parts_.layout.dim());
  backend::Array row = std::move(spare_copies_.back());
  spare_copies_.pop_back();
  return row;
}

void MessageExchange::prepare(const graph::Weights& weights, std::size_t payloads) {
  edges_.clear();
  for (std::size_t i = 0; i < rows_; ++i) {
    for (const graph::Edge& edge : weights.into(first_ + i)) {
      if (!is_own(edge.sender)) edges_.push_back(edge);
    }
  }
  remote_.senders = senders(weights);
  remote_.push_sum.assign(remote_.senders.size(), 1.0);
  remote_.amounts.assign(edges_.size(), 0.0f);
  remote_.vectors.assign(payloads, std::vector<backend::VectorView>(remote_.senders.size()));
  remote_.codes.assign(payloads, std::vector<ByteView>(remote_.senders.size()));
  arrived_.assign(payloads, std::vector<bool>(edges_.size(), false));
  slots_.resize(std::max(slots_.size(), payloads));
  for (auto& of_payload : slots_) {
    of_payload.resize(std::max(of_payload.size(), remote_.senders.size()));
  }
}

void MessageExchange::expect_raw(const graph::Weights& weights, std::size_t payloads) {
  for (std::size_t k = 0; k < remote_.senders.size(); ++k) {
    const std::uint32_t sender = remote_.senders[k];
    for (std::size_t p = 0; p < payloads; ++p) {
      compress::Decoded& vector = slots_[p][k].vector.decoded;
      vector.sparse = false;
      vector.dense.resize(parts_.layout.dim());
      std::span<std::uint8_t> bytes(reinterpret_cast<std::uint8_t*>(vector.dense.data()),
                                    vector.dense.size() * sizeof(float));
      for (const graph::Edge& edge : weights.out_of(sender)) {
        if (!is_own(edge.receiver)) continue;
        parts_.group.transport().expect(parts_.placement.owner(sender), label_, bytes);
        bytes = {};
      }
    }
  }
}

void MessageExchange::receive(const graph::Weights& weights, std::uint32_t round,
                              const algorithm::Outbox& outbox, std::span<const double> push_sum,
                              const Mix& mix) {
  take_all(weights, outbox, round);
  algorithm::Delivered delivered;
  if (parts_.arrives) {
    delivered = [&](const graph::Edge& edge) { return parts_.arrives(edge, round); };
  }
  algorithm::deliver(weights, first_, outbox, push_sum, remote_, delivered, exchange_);
  release();
  mix(exchange_);
}

void MessageExchange::take_all(const graph::Weights& weights, const algorithm::Outbox& outbox,
                               std::uint32_t round) {
  if (edges_.empty()) return;
  const Stopwatch stopwatch(waited_);
  for (std::size_t left = edges_.size() * outbox.payloads.size(); left > 0; --left) {
    take(transport::receive_or_fail(parts_.group.transport(), label_, parts_.group.idle()), weights,
         outbox, round);
  }
}

void MessageExchange::take(const Arrival& arrival, const graph::Weights& weights,
                           const algorithm::Outbox& outbox, std::uint32_t round) {
  ByteReader head(arrival.head, "message");
  const compress::MessageHeader header = compress::read_header(head);
  const auto receiver = head.read<std::uint32_t>();
  const std::size_t p = header.kind == kKinds[0] ? 0 : 1;
  const auto place = std::ranges::lower_bound(
      edges_, std::tuple(receiver, header.sender), {},
      [](const graph::Edge& edge) { return std::tuple(edge.receiver, edge.sender); });
  const auto e = static_cast<std::size_t>(place - edges_.begin());
  const bool known = place != edges_.end() && place->receiver == receiver &&
                     place->sender == header.sender &&
                     parts_.placement.owner(header.sender) == arrival.process;
  if (!known || head.left() > 0 || header.round != round || p >= outbox.payloads.size() ||
      arrived_[p][e]) {
    throw CorruptData(
        fmt::format("[transport] process {} sent a message of peer {} to peer {} of round {}, "
                    "which is none of round {}, or came before",
                    arrival.process, header.sender, receiver, header.round, round));
  }
  arrived_[p][e] = true;
  remote_.amounts[e] = header.weight;
  const auto sender = std::ranges::lower_bound(remote_.senders, header.sender);
  const auto k = static_cast<std::size_t>(sender - remote_.senders.begin());
  remote_.push_sum[k] = header.push_sum;
  if (receiver == first_receiver(weights, header.sender)) {
    Slot& slot = slots_[p][k];
    const Form form = outbox.payloads[p].form;
    fill(slot, form, arrival, header.sender);
    if (form == Form::kUndecoded) {
      remote_.codes[p][k] = slot.code;
    } else {
      remote_.vectors[p][k] = slot.vector.place(parts_.kernels);
    }
  } else if (!arrival.body.empty()) {
    throw CorruptData(
        fmt::format("[transport] peer {} sent its vector to this process twice", header.sender));
  }
}

void MessageExchange::fill(Slot& slot, Form form, const Arrival& arrival, std::uint32_t sender) {
  if (form == Form::kUndecoded) {
    slot.code.assign(arrival.body.begin(), arrival.body.end());
    return;
  }
  compress::Decoded& decoded = slot.vector.decoded;
  const std::string what = fmt::format("message of peer {}", sender);
  ByteReader body(arrival.body, what);
  if (form == Form::kCompressed) {
    parts_.compressor.decode(body, parts_.layout, decoded);
  } else {
    decoded.sparse = false;
    decoded.dense.resize(parts_.layout.dim());
    const auto* expected = reinterpret_cast<const std::uint8_t*>(decoded.dense.data());
    if (arrival.body.data() == expected) {
      body.take(decoded.dense.size() * sizeof(float));
    } else {
      body.read(std::span(decoded.dense));
    }
  }
  if (body.left() > 0) {
    throw CorruptData(fmt::format("[{}] {} bytes too many", what, body.left()));
  }
}

void MessageExchange::release() {
  if (!lends_rows_) return;
  const Stopwatch stopwatch(waited_);
  transport::flush_or_fail(parts_.group.transport(), label_, parts_.group.idle());
  lends_rows_ = false;
}

}  // namespace hearsay::gossip
