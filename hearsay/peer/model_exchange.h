#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "hearsay/core/bytes.h"
#include "hearsay/net/model_piece.h"

namespace hearsay::peer {

/// Models on their way between this peer and others: to those that enter late and ask (ASK), and
/// from the one that this peer has asked. A state machine without I/O, as Edge is.
///
/// A model is bytes here: all of them have the same number, which peers of a run agree on.
class ModelExchange {
 public:
  explicit ModelExchange(std::size_t model_bytes) : model_bytes_(model_bytes) {}

  /// The connection with that peer is gone, and with it what was asked for over it.
  void down(std::uint32_t peer);

  // ---- To others ----

  /// That peer asks for a model. Answered once per connection: asking again changes nothing.
  void asked(std::uint32_t peer);
  /// Whether somebody waits for a model that this peer has not handed over yet.
  bool is_wanted() const { return !waiting_.empty(); }
  using Digest = std::array<std::uint8_t, 32>;
  /// SHA-256, which takes long for a large model.
  static Digest digest_of(ByteView model);
  /// The model for all that wait, and its digest.
  void answer(const std::shared_ptr<const Bytes>& model, const Digest& digest);
  /// Peers to which pieces are to be sent.
  std::vector<std::uint32_t> receivers() const;
  bool has_piece(std::uint32_t peer) const { return outgoing_.contains(peer); }
  /// The frame of the next piece for a receiver; `sent`: it is on its way.
  Bytes next_piece(std::uint32_t peer) const;
  void sent(std::uint32_t peer);

  // ---- From another ----

  /// This peer asks that one. It may ask several, if one is slow: the first whole model counts.
  void ask(std::uint32_t peer);
  /// Who was asked last, as long as its model may still come.
  std::optional<std::uint32_t> source() const { return source_; }
  std::size_t received() const;  ///< bytes, from all
  /// Throws CorruptData unless it is the next piece of a model that was asked for, and if the
  /// digest is not that of the whole.
  void receive(std::uint32_t peer, const net::ModelPiece& piece);
  /// The whole model, once; nullopt: it has not come yet.
  std::optional<Bytes> take();

 private:
  struct Outgoing {
    std::shared_ptr<const Bytes> model;
    Digest digest{};
    std::size_t sent = 0;
  };
  static net::ModelPiece piece_of(const Outgoing& outgoing);

  std::size_t model_bytes_;
  std::set<std::uint32_t> waiting_;             ///< asked, and have no model yet
  std::set<std::uint32_t> answered_;            ///< over the connection that is up
  std::map<std::uint32_t, Outgoing> outgoing_;  ///< those of which pieces are missing
  std::optional<std::uint32_t> source_;
  std::set<std::uint32_t> asked_;            ///< by this peer, over the connection that is up
  std::map<std::uint32_t, Bytes> incoming_;  ///< those of them whose models are still wanted
  Bytes model_;
  bool complete_ = false;
};

}  // namespace hearsay::peer
