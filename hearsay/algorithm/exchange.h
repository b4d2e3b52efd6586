#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/compress/payload.h"
#include "hearsay/core/bytes.h"
#include "hearsay/graph/weights.h"

namespace hearsay::algorithm {

using compress::Lengths;
using compress::Payload;

/// What the peers of a bank send in one round. The views stay valid until the algorithm has mixed.
struct Outbox {
  double rate = 1;  ///< eta: an edge of weight w moves a = float(eta * w) of the vector
  std::vector<Payload> payloads;

  /// Send the rows of `x` uncompressed, 4 bytes per float.
  void send_all(backend::ConstBlock x);

  /// Send codes[i] of row i, which receivers get undecoded (Exchange::codes), because to decode it
  /// they need their own model. `paper_bytes`: of one code, as papers count it.
  void send_codes(backend::Kernels& kernels, std::vector<Bytes> codes, std::size_t paper_bytes);
};

/// What arrived in one round, for the receivers of a bank: edges, vectors and push-sum weights.
///
/// The amount `a` of an edge comes with the message, so a receiver need not know the graph; a
/// sender debits only what was delivered, so the sum over peers is conserved under message loss.
struct Exchange {
  std::vector<std::uint32_t> begin, source;  ///< as in backend::Mixing
  std::vector<float> weight;
  std::vector<double> debit;
  std::vector<std::vector<backend::VectorView>> vectors;  ///< [payload][source]
  /// [payload][source] of payloads that are sent undecoded, whose `vectors` are then empty; valid
  /// until the algorithm has mixed.
  std::vector<std::vector<ByteView>> codes;
  std::vector<double> push_sum;       ///< [source]; empty if not sent
  std::vector<std::uint32_t> sender;  ///< [source]: whose vector it is; of row i the receiver's own

  backend::Mixing mixing() const { return {begin, source, weight, debit}; }
};

/// What peers of other banks sent to receivers of this one in a round.
struct Remote {
  std::vector<std::uint32_t> senders;                     ///< ascending
  std::vector<std::vector<backend::VectorView>> vectors;  ///< [payload][sender]
  std::vector<std::vector<ByteView>> codes;               ///< [payload][sender], if undecoded
  std::vector<double> push_sum;                           ///< [sender]
  std::vector<float> amounts;  ///< per edge from another bank: receivers, then senders ascending
};

/// Whether the message over an edge arrives; sender and receiver get the same answer.
using Delivered = std::function<bool(const graph::Edge&)>;

/// Fills `exchange` with what the receivers of the bank whose first peer is `first` get in a round:
/// the bank's own outbox and messages from other banks, over the edges of W that touch its peers.
/// In `exchange` the bank's own vectors come first, then those of remote.senders. `delivered` may
/// be null.
void deliver(const graph::Weights& weights, std::size_t first, const Outbox& outbox,
             std::span<const double> push_sum, const Remote& remote, const Delivered& delivered,
             Exchange& exchange);

/// Averages over all n peers, in whichever process they live. Sums run in double, peers ascending.
class Collective {
 public:
  virtual ~Collective() = default;

  /// Every row becomes the mean of all n peers' rows.
  virtual void mean(backend::Block rows) = 0;

  /// The mean over all n peers of one value per peer, given the bank's values.
  virtual double mean(std::span<const double> values) = 0;
};

}  // namespace hearsay::algorithm
