#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::algorithm {

/// All n peers of a small experiment in one process: owns everything a Bank refers to, and drives
/// any method over a graph. For examples and for trying out a method; train::Trainer adds data,
/// optimizers, checks, metrics and simulated links.
///
///   LocalPeers peers({.graph = "ring", .peers = 5, .dim = 1});
///   auto method = make_algorithm("dsgd", peers.bank());
///   ... fill method->initial(), then method->start() ...
///   for (int round = 0; round < 50; ++round) peers.run_round(*method);
///
/// Does not call check_fit: compatible method, graph and compressor are up to the caller. Must
/// outlive the methods made from its bank.
class LocalPeers {
 public:
  struct Options {
    std::string graph = "ring";
    std::size_t peers = 4;
    std::size_t dim = 1;  ///< floats of one model
    std::string compressor = "identity";
    std::uint64_t seed = 1;
  };

  /// Throws InvalidArgument for invalid specs.
  explicit LocalPeers(const Options& options);
  LocalPeers(const LocalPeers&) = delete;
  LocalPeers& operator=(const LocalPeers&) = delete;

  /// The argument of make_algorithm, or of the constructor of your own method.
  Bank bank();

  /// Sets `direction` to the local step direction of `peer` at the model `at`.
  using Direction =
      std::function<void(std::size_t peer, std::span<const float> at, std::span<float> direction)>;

  /// One round of `method`. Without a direction the local step is zero: pure averaging.
  void run_round(Algorithm& method, float lr = 0, const Direction& direction = nullptr);

  std::size_t peers() const { return schedule_->peers(); }
  std::uint32_t round() const { return round_; }       ///< rounds done
  std::uint64_t bytes_sent() const { return bytes_; }  ///< over edges, headers included

 private:
  void gossip(Algorithm& method, const Outbox& outbox);

  Layout layout_;
  ThreadPool pool_{1};
  std::unique_ptr<backend::Kernels> kernels_;
  std::unique_ptr<graph::Schedule> schedule_;
  graph::Facts facts_;
  std::unique_ptr<compress::Compressor> compressor_;
  BankCompressor bank_compressor_;
  double topk_keep_;
  backend::Array direction_;
  std::uint32_t round_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Consensus distance: the root of the mean over peers of |z_i - mean z|^2.
double disagreement(backend::ConstBlock models);

}  // namespace hearsay::algorithm
