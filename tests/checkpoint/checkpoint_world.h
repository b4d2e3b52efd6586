#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hearsay/checkpoint/checkpoint.h"
#include "hearsay/core/error.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/transport/alone.h"
#include "support/inproc.h"

namespace hearsay::checkpoint {

/// State of every kind, for some peers of a run, and replicas of others; small enough to test
/// damage to every byte of its checkpoint.
class State {
 public:
  explicit State(PeerRange own, std::size_t dim = 3)
      : own_(own),
        kernels_(backend::make_cpu_kernels(pool_)),
        rows_(kernels_->allocate(own.count, dim)),
        copies_(kernels_->allocate(own.count, 2)),
        doubles_(own.count, 0.0),
        counts_(own.count, 0) {
    list_.per_peer("rows", rows_);
    list_.per_peer("absent", absent_);
    list_.per_peer("hats", copies_, replicas_);
    list_.scalar("count", count_);
    list_.per_peer("doubles", doubles_);
    list_.per_peer("counts", counts_);
    list_.scalar("real", real_);
  }

  /// Allocate replicas of these peers' public copies.
  void meet(std::vector<std::uint32_t> replicas) {
    replicas_.rows = replicas.empty() ? backend::Array() : kernels_->allocate(replicas.size(), 2);
    replicas_.peers = std::move(replicas);
  }

  /// Set everything to contents derived from `value`, different for each peer.
  void set(int value) {
    for_each_float(value, [](float& x, float expected) { x = expected; });
    for (std::size_t i = 0; i < own_.count; ++i) {
      doubles_[i] = real_of(value, own_.first + i);
      counts_[i] = count_of(value, own_.first + i);
    }
    count_ = count_of(value, 99);
    real_ = real_of(value, 99);
  }

  void expect(int value) {
    for_each_float(value, [](const float& x, float expected) { EXPECT_EQ(x, expected); });
    EXPECT_TRUE(absent_.empty());
    for (std::size_t i = 0; i < own_.count; ++i) {
      EXPECT_EQ(doubles_[i], real_of(value, own_.first + i));
      EXPECT_EQ(counts_[i], count_of(value, own_.first + i));
    }
    EXPECT_EQ(count_, count_of(value, 99));
    EXPECT_EQ(real_, real_of(value, 99));
  }

  std::uint64_t count() const { return count_; }
  const backend::StateList& list() const { return list_; }
  backend::Kernels& kernels() { return *kernels_; }

 private:
  static double real_of(int value, std::size_t peer) {
    return -value * 1e-300 + static_cast<double>(peer) / 3;
  }
  static std::uint64_t count_of(int value, std::size_t peer) {
    return 0x8000000000000000u + static_cast<std::uint64_t>(1000 * value) + peer;
  }
  template <class Visitor>
  void for_each_float(int value, const Visitor& visitor) {
    const auto visit = [&](backend::Block block, std::size_t row, std::size_t peer, float offset) {
      for (std::size_t k = 0; k < block.dim; ++k) {
        const float place = 0.1f * static_cast<float>(k) + 10 * static_cast<float>(peer);
        visitor(block.row(row)[k], static_cast<float>(value) + place + offset);
      }
    };
    for (std::size_t i = 0; i < own_.count; ++i) {
      visit(rows_, i, own_.first + i, 0);
      visit(copies_, i, own_.first + i, 0.5f);
    }
    for (std::size_t k = 0; k < replicas_.peers.size(); ++k) {
      visit(replicas_.rows, k, replicas_.peers[k], 0.5f);
    }
  }

  PeerRange own_;
  ThreadPool pool_{1};
  std::unique_ptr<backend::Kernels> kernels_;
  backend::Array rows_, absent_, copies_;
  backend::RemoteReplicas replicas_;
  std::vector<double> doubles_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double real_ = 0;
  backend::StateList list_;
};

/// One process of a run of some peers, and its store of checkpoints.
class Process {
 public:
  Process(transport::Transport& transport, std::size_t peers, std::filesystem::path directory,
          std::string config_hash = "hash", std::string files_hash = "files")
      : placement_{peers, transport.seat().processes},
        me_(transport.seat().process),
        group_(transport),
        store_(std::move(directory), std::move(config_hash), std::move(files_hash), group_,
               placement_),
        state_({placement_.first(me_), placement_.rows(me_)}) {}

  std::size_t me() const { return me_; }
  State& state() { return state_; }
  CheckpointStore& store() { return store_; }
  const std::vector<std::string>& damaged() const { return damaged_; }

  /// Save as the state after that many rounds; `value` identifies the contents.
  void save(int round) { save(round, round); }
  void save(int round, int value) {
    state_.set(value);
    store_.save(static_cast<std::uint64_t>(round), state_.list(), state_.kernels());
  }
  /// In odd rounds the peers before and after the process's own have replicas, in even rounds none.
  std::optional<std::uint64_t> restore() {
    state_.set(1);
    damaged_.clear();
    return store_.restore_newest(
        state_.list(), state_.kernels(), [&](std::uint64_t round) { meet(round); }, damaged_);
  }

 private:
  void meet(std::uint64_t round) {
    std::vector<std::uint32_t> replicas;
    const std::size_t first = placement_.first(me_), end = placement_.first(me_ + 1);
    if (round % 2 == 1 && first > 0) replicas.push_back(static_cast<std::uint32_t>(first - 1));
    if (round % 2 == 1 && end < placement_.peers)
      replicas.push_back(static_cast<std::uint32_t>(end));
    state_.meet(std::move(replicas));
  }

  transport::Placement placement_;
  std::size_t me_;
  gossip::ProcessGroup group_;
  CheckpointStore store_;
  State state_;
  std::vector<std::string> damaged_;
};

/// The type and text of the exception that a call threw, or "nothing".
template <class Body>
std::string thrown_by(const Body& body) {
  try {
    body();
  } catch (const RunFailed& error) {
    return std::string("RunFailed: ") + error.what();
  } catch (const CorruptData& error) {
    return std::string("CorruptData: ") + error.what();
  }
  return "nothing";
}

/// Calls body(transport) for each of `processes` processes, which are threads; waits for all.
inline void in_threads(std::size_t processes,
                       const std::function<void(transport::Transport&)>& body) {
  transport::Hub hub(processes);
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (std::size_t p = 0; p < processes; ++p) transports.push_back(hub.join(p));
  std::vector<std::jthread> running;
  for (std::size_t p = 0; p < processes; ++p) {
    running.emplace_back([&, p] {
      EXPECT_EQ(thrown_by([&] { body(*transports[p]); }), "nothing") << "in process " << p;
    });
  }
}

}  // namespace hearsay::checkpoint
