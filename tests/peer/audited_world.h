#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/sha256.h"
#include "hearsay/peer/world/audit.h"
#include "hearsay/peer/world/world.h"

namespace hearsay::peer {

/// A world whose ledger is read after every event.
class AuditedWorld final : public WorldObserver {
 public:
  explicit AuditedWorld(const train::RunOptions& options, const Controls& controls = {})
      : edges_(edges_of(options)),
        world_({.options = train::resolve(options), .controls = controls, .observer = this}) {}

  /// Runs the world to its end, or to the first violation; returns that, or an empty text.
  std::string run() {
    while (fault_.empty() && world_.step()) check();
    return fault_;
  }

  World& world() { return world_; }
  const Audit& audit() const { return *audit_; }

  /// The most rounds of training in a row in which a sender skipped one of its edges.
  std::uint64_t longest_skip() const { return longest_skip_; }

  /// SHA-256 of all models that live.
  std::string models_sha256() {
    Sha256 sha;
    for (std::uint32_t slot = 0; slot < world_.peers(); ++slot) {
      if (world_.peer(slot) == nullptr) continue;
      const std::vector<float> model = world_.peer(slot)->model().parameters;
      sha.update(model.data(), model.size() * sizeof(float));
    }
    return sha.finish_hex();
  }

  void entered(const Peer& peer) override {
    if (!audit_) audit_.emplace(peer.driver().layout().dim());
    audit_->entered(peer.numerator(), peer.push_sum());
    changed_ = true;
    least_floor_[peer.self()] = 1;
  }
  void died(const Peer& peer) override {
    audit_->died(peer.numerator(), peer.push_sum());
    changed_ = true;
  }
  void moved(const Movement& movement) override {
    audit_->moved(movement);
    if (movement.kind != Movement::Kind::kSent) return;
    last_sent_[{movement.sender, movement.receiver}] =
        world_.peer(movement.sender)->driver().round();
  }
  void ran_round(const Peer& peer) override {
    changed_ = true;
    if (peer.step() != 0) audit_->stepped(static_cast<double>(peer.step()), direction(peer));
    double& least = least_floor_[peer.self()];
    least = std::min(least, peer.floor());
    if (peer.push_sum() < least * (1 - 1e-9) && fault_.empty()) {
      fault_ = fmt::format("peer {} has push-sum weight {}, below its floor {}", peer.self(),
                           peer.push_sum(), least);
    }
    if (peer.stage() != Stage::kTraining) return;
    for (const auto& [edge, round] : last_sent_) {
      if (edge.first != peer.self() || !edges_.contains(edge)) continue;
      longest_skip_ =
          std::max(longest_skip_, peer.driver().round() - std::min(peer.driver().round(), round));
    }
  }

 private:
  using Edges = std::set<std::pair<std::uint32_t, std::uint32_t>>;

  /// Those of the whole fleet.
  static Edges edges_of(const train::RunOptions& options) {
    Edges all;
    const auto schedule = graph::make_schedule(options.graph, {options.peers, options.seed});
    for (const graph::Weights& weights : schedule->period()) {
      for (const graph::Edge& edge : weights.edges()) all.emplace(edge.sender, edge.receiver);
    }
    return all;
  }

  static std::span<const float> direction(const Peer& peer) {
    return backend::ConstBlock(peer.driver().gradient()).row(0);
  }

  void check() {
    if (!changed_) return;
    changed_ = false;
    Audit::Sum sum(audit_->dim());
    double lives = 0;
    for (std::uint32_t slot = 0; slot < world_.peers(); ++slot) {
      const Peer* peer = world_.peer(slot);
      if (peer == nullptr) continue;
      sum.add(peer->numerator(), peer->push_sum());
      ++lives;
    }
    const Audit::Drift drift = audit_->drift(sum);
    if (!audit_->fault().empty()) {
      fault_ = audit_->fault();
    } else if (drift.u > 1e-9 * static_cast<double>(world_.peers())) {
      fault_ = fmt::format("at {:.2f} s the sum of u is off by {}", world_.now(), drift.u);
    } else if (drift.x > 1e-5) {
      fault_ = fmt::format("at {:.2f} s the sum of x is off by {}", world_.now(), drift.x);
    }
    check_debts();
  }

  /// What is owed, its sender knows, or will be told by the next HELLO; what flies, its sender
  /// waits for.
  void check_debts() {
    for (std::uint32_t a = 0; a < world_.peers(); ++a) {
      for (std::uint32_t b = 0; b < world_.peers(); ++b) {
        if (world_.peer(a) == nullptr || world_.peer(b) == nullptr || !fault_.empty()) continue;
        const std::uint64_t owed =
            audit_->owed({a, b, world_.peer(a)->incarnation(), world_.peer(b)->incarnation()});
        const std::size_t known = world_.peer(a)->neighbours().unsettled(b);
        const std::uint64_t flying =
            audit_->flying({a, b, world_.peer(a)->incarnation(), world_.peer(b)->incarnation()});
        const std::size_t awaited = world_.peer(a)->neighbours().open(b);
        if (flying > awaited) {
          fault_ =
              fmt::format("at {:.2f} s {} messages fly to peer {}; their sender {} waits for {}",
                          world_.now(), flying, b, a, awaited);
        }
        if (owed > known) {
          fault_ = fmt::format("at {:.2f} s peer {} owes {} messages to peer {} and knows of {}",
                               world_.now(), a, owed, b, known);
        }
      }
    }
  }

  Edges edges_;
  std::optional<Audit> audit_;
  std::string fault_;
  bool changed_ = false;
  std::map<std::uint32_t, double> least_floor_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last_sent_;
  std::uint64_t longest_skip_ = 0;
  World world_;
};

}  // namespace hearsay::peer
