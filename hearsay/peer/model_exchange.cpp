#include "hearsay/peer/model_exchange.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"

namespace hearsay::peer {

ModelExchange::Digest ModelExchange::digest_of(ByteView model) {
  Sha256 sha;
  sha.update(model);
  return sha.finish();
}

void ModelExchange::down(std::uint32_t peer) {
  waiting_.erase(peer);
  answered_.erase(peer);
  outgoing_.erase(peer);
  asked_.erase(peer);
  incoming_.erase(peer);
  if (source_ == peer && !complete_) source_.reset();
}

void ModelExchange::asked(std::uint32_t peer) {
  if (!answered_.contains(peer)) waiting_.insert(peer);
}

void ModelExchange::answer(const std::shared_ptr<const Bytes>& model, const Digest& digest) {
  for (const std::uint32_t peer : waiting_) {
    outgoing_[peer] = {.model = model, .digest = digest};
    answered_.insert(peer);
  }
  waiting_.clear();
}

std::vector<std::uint32_t> ModelExchange::receivers() const {
  std::vector<std::uint32_t> all;
  for (const auto& [peer, outgoing] : outgoing_) all.push_back(peer);
  return all;
}

net::ModelPiece ModelExchange::piece_of(const Outgoing& outgoing) {
  const ByteView model = *outgoing.model;
  const std::size_t size = std::min(net::kMostPieceBytes, model.size() - outgoing.sent);
  net::ModelPiece piece{.total = model.size(),
                        .offset = outgoing.sent,
                        .bytes = model.subspan(outgoing.sent, size),
                        .digest = {}};
  if (outgoing.sent + size == model.size()) piece.digest = outgoing.digest;
  return piece;
}

Bytes ModelExchange::next_piece(std::uint32_t peer) const {
  return net::encode_frame(piece_of(outgoing_.at(peer)));
}

void ModelExchange::sent(std::uint32_t peer) {
  Outgoing& outgoing = outgoing_.at(peer);
  outgoing.sent = std::min(outgoing.sent + net::kMostPieceBytes, outgoing.model->size());
  if (outgoing.sent == outgoing.model->size()) outgoing_.erase(peer);
}

void ModelExchange::ask(std::uint32_t peer) {
  source_ = peer;
  complete_ = false;
  if (asked_.insert(peer).second) incoming_[peer];
}

std::size_t ModelExchange::received() const {
  std::size_t sum = 0;
  for (const auto& [peer, bytes] : incoming_) sum += bytes.size();
  return sum;
}

void ModelExchange::receive(std::uint32_t peer, const net::ModelPiece& piece) {
  if (!asked_.contains(peer)) {
    throw CorruptData("[model] a piece of a model that was not asked for");
  }
  const auto found = incoming_.find(peer);
  if (found == incoming_.end()) return;  // another's came first
  Bytes& model = found->second;
  if (piece.total != model_bytes_ || piece.offset != model.size()) {
    throw CorruptData(
        fmt::format("[model] a piece at {} of {} bytes, where one at {} of {} is expected",
                    piece.offset, piece.total, model.size(), model_bytes_));
  }
  append(model, piece.bytes);
  if (!piece.digest) return;
  if (*piece.digest != digest_of(model)) {
    incoming_.erase(found);
    source_.reset();
    throw CorruptData("[model] what has arrived has another SHA-256 than what was sent");
  }
  model_ = std::move(model);
  incoming_.clear();
  complete_ = true;
}

std::optional<Bytes> ModelExchange::take() {
  if (!complete_) return {};
  complete_ = false;
  source_.reset();
  return std::move(model_);
}

}  // namespace hearsay::peer
