#include "hearsay/peer/delivery.h"

#include <algorithm>
#include <cstring>

namespace hearsay::peer {

namespace {

using compress::Payload;

/// What leaves a row: its code, or its floats.
std::shared_ptr<const Bytes> code_of(Payload& payload, std::size_t dim, backend::Kernels& kernels) {
  if (payload.form != Payload::Form::kRaw) {
    return std::make_shared<const Bytes>(std::move(payload.codes[0]));
  }
  Bytes floats(dim * sizeof(float));
  if (kernels.on_host()) {
    std::memcpy(floats.data(), payload.rows[0].dense, floats.size());
  } else {
    std::vector<float> copy(dim);
    kernels.download({payload.rows[0].dense, 1, dim}, 0, copy);
    std::memcpy(floats.data(), copy.data(), floats.size());
  }
  return std::make_shared<const Bytes>(std::move(floats));
}

}  // namespace

void AsynchronousDelivery::send(const graph::Weights& weights, std::uint32_t round,
                                algorithm::Outbox& outbox, std::span<const double> push_sum) {
  const double u = push_sum[0];
  floor_ = std::min(0.25, weights.self(parts_.self) / 2);
  debit_ = 0;
  const std::span<const graph::Edge> edges = weights.out_of(parts_.self);
  std::vector<graph::Edge> used;
  Payload& payload = outbox.payloads[0];
  const backend::VectorView q = payload.rows[0];
  std::shared_ptr<const Bytes> code;
  double claimed = u;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const graph::Edge& edge = edges[(turn_ + k) % edges.size()];
    const auto amount = static_cast<float>(edge.weight * std::min(1.0, outbox.rate * scale_));
    const double debit = debit_ + static_cast<double>(amount);
    std::optional<SentMessage> message;
    if (u * (1 - debit) >= floor_) {
      if (!code && parts_.lie) claimed = lie(round, u, payload, code);
      if (!code) code = code_of(payload, parts_.layout.dim(), parts_.kernels);
      message = parts_.neighbours.send(edge.receiver,
                                       {.header = {.kind = compress::MessageKind::kModel,
                                                   .sender = parts_.self,
                                                   .round = round,
                                                   .weight = amount,
                                                   .push_sum = claimed},
                                        .code = code,
                                        .uncompressed = payload.form == Payload::Form::kRaw});
    }
    if (!message) {
      ++counts_.skipped;
      continue;
    }
    debit_ = debit;
    used.push_back(edge);
    ++counts_.sent;
    note(Movement::Kind::kSent, *message, edge.receiver, q);
  }
  if (!edges.empty()) turn_ = static_cast<std::uint32_t>((turn_ + 1) % edges.size());
  sent_ = graph::Weights(weights.peers(), std::move(used));
}

double AsynchronousDelivery::lie(std::uint32_t round, double push_sum,
                                 const compress::Payload& payload,
                                 std::shared_ptr<const Bytes>& code) const {
  const std::size_t dim = parts_.layout.dim();
  std::vector<float> x(payload.rows[0].dense, payload.rows[0].dense + dim);
  const double claimed = parts_.lie(round, x, push_sum);
  Bytes floats(dim * sizeof(float));
  std::memcpy(floats.data(), x.data(), floats.size());
  code = std::make_shared<const Bytes>(std::move(floats));
  return claimed;
}

void AsynchronousDelivery::receive(const graph::Weights& /*weights*/, std::uint32_t /*round*/,
                                   const algorithm::Outbox& outbox,
                                   std::span<const double> push_sum, const Mix& mix) {
  placed_ = 0;
  std::vector<Term> sparse, dense;
  const auto add = [&](const Term& term) {
    (term.q.dense != nullptr ? dense : sparse).push_back(term);
  };
  Neighbours::Mail mail = parts_.neighbours.take();
  double u = push_sum[0] * (1 - debit_);
  for (ReceivedMessage& message : mail.arrived) {
    const compress::MessageHeader& header = message.header;
    const Term term{header.sender, header.weight, header.push_sum,
                    place(std::move(*message.vector))};
    add(term);
    u += static_cast<double>(header.weight) * header.push_sum;
    ++counts_.applied;
    counts_.staleness += staleness(header);
    if (!parts_.journal) continue;
    parts_.journal({.kind = Movement::Kind::kApplied,
                    .sender = header.sender,
                    .receiver = parts_.self,
                    .sender_life = message.life,
                    .receiver_life = parts_.incarnation,
                    .number = message.number,
                    .round = header.round,
                    .amount = header.weight,
                    .push_sum = header.push_sum,
                    .q = term.q});
  }
  for (const SentMessage& message : mail.returned) {
    const Term term = own_term(message, 1, outbox, push_sum);
    add(term);
    u += static_cast<double>(term.amount) * term.push_sum;
    ++counts_.returned;
    note(Movement::Kind::kReturned, message, message.receiver, term.q);
  }
  while (const std::optional<SentMessage> message = parts_.neighbours.pay(u - floor_)) {
    const Term term = own_term(*message, -1, outbox, push_sum);
    add(term);
    u += static_cast<double>(term.amount) * term.push_sum;
    ++counts_.paid;
    note(Movement::Kind::kPaid, *message, message->receiver, term.q);
  }
  // Vectors of one call are all dense or all sparse. The own one is debited with those of its form.
  const backend::VectorView own = outbox.payloads[0].rows[0];
  const bool own_is_dense = own.dense != nullptr;
  mix_terms(own, debit_, own_is_dense ? dense : sparse, push_sum[0], mix);
  const std::vector<Term>& others = own_is_dense ? sparse : dense;
  if (others.empty()) return;
  mix_terms(own_is_dense ? backend::VectorView{} : parts_.numerator(), 0, others, push_sum[0], mix);
}

/// By the sender's last record, carried to the present: what it had done when the record was made
/// is taken for what it had done when it came.
double AsynchronousDelivery::staleness(const compress::MessageHeader& header) const {
  return parts_.neighbours.members([&](const Members& members) {
    const net::Record& record = members.record(header.sender);
    const double since =
        static_cast<double>(record.rate) * members.age(header.sender, parts_.neighbours.now());
    return std::max(0.0, static_cast<double>(record.rounds) + since - (header.round + 1.0));
  });
}

void AsynchronousDelivery::mix_terms(const backend::VectorView& own, double debit,
                                     std::span<const Term> terms, double own_push_sum,
                                     const Mix& mix) {
  algorithm::Exchange exchange;
  exchange.begin = {0, static_cast<std::uint32_t>(terms.size())};
  exchange.debit = {debit};
  exchange.vectors = {{own}};
  exchange.codes = {{}};
  exchange.push_sum = {own_push_sum};
  exchange.sender = {parts_.self};
  for (const Term& term : terms) {
    exchange.source.push_back(static_cast<std::uint32_t>(exchange.vectors[0].size()));
    exchange.weight.push_back(term.amount);
    exchange.vectors[0].push_back(term.q);
    exchange.push_sum.push_back(term.push_sum);
    exchange.sender.push_back(term.sender);
  }
  mix(exchange);
}

void AsynchronousDelivery::note(Movement::Kind kind, const SentMessage& message,
                                std::uint32_t receiver, const backend::VectorView& q) const {
  if (!parts_.journal) return;
  parts_.journal({.kind = kind,
                  .sender = parts_.self,
                  .receiver = receiver,
                  .sender_life = parts_.incarnation,
                  .receiver_life = message.life,
                  .number = message.number,
                  .round = message.header.round,
                  .amount = message.header.weight,
                  .push_sum = message.header.push_sum,
                  .q = q});
}

/// What was sent and comes back, or is owed. For a liar the same share of what it is now: its lies
/// are no models of its own.
AsynchronousDelivery::Term AsynchronousDelivery::own_term(const SentMessage& message, float sign,
                                                          const algorithm::Outbox& outbox,
                                                          std::span<const double> push_sum) {
  const float amount = sign * message.header.weight;
  if (parts_.lie) return {parts_.self, amount, push_sum[0], outbox.payloads[0].rows[0]};
  return {parts_.self, amount, message.header.push_sum, decode(message)};
}

backend::VectorView AsynchronousDelivery::decode(const SentMessage& message) {
  compress::Decoded decoded;
  ByteReader code(*message.code, "message kept");
  if (message.uncompressed) {
    decoded.dense.resize(parts_.layout.dim());
    code.read(std::span(decoded.dense));
  } else {
    parts_.compressor.decode(code, parts_.layout, decoded);
  }
  return place(std::move(decoded));
}

backend::VectorView AsynchronousDelivery::place(compress::Decoded decoded) {
  if (placed_ == vectors_.size()) vectors_.push_back(std::make_unique<compress::DeviceVector>());
  compress::DeviceVector& vector = *vectors_[placed_++];
  vector.decoded = std::move(decoded);
  return vector.place(parts_.kernels);
}

}  // namespace hearsay::peer
