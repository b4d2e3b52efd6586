#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hearsay/peer/journal.h"

namespace hearsay::peer {

/// The ledger of an asynchronous run: whether mass is conserved, whatever gets lost, delayed,
/// repeated or killed. A message m = (a q, a u) is *flying* while it is debited, neither applied
/// nor taken back, and *owed* if both. At every moment
///
///   sum over live peers of (x, u) + flying - owed = entries - deaths + local steps
///
/// and every message was sent, applied, taken back and paid for at most once each.
class Audit {
 public:
  explicit Audit(std::size_t dim) : outstanding_(dim), expected_(dim), size_(dim) {}

  std::size_t dim() const { return expected_.size(); }

  /// A peer begins a life with this model, or ends one.
  void entered(std::span<const float> x, double u) { change(x, u, 1); }
  void died(std::span<const float> x, double u) { change(x, u, -1); }
  /// A peer has made a step x -= lr direction.
  void stepped(double lr, std::span<const float> direction);
  void moved(const Movement& movement);

  /// Adds up the models of the peers that live.
  class Sum {
   public:
    explicit Sum(std::size_t dim) : x_(dim) {}
    void add(std::span<const float> x, double u);

   private:
    friend class Audit;
    std::vector<double> x_;
    double u_ = 0;
  };
  /// By how much the equation is off: for x relative to all that was added and taken, for u not.
  struct Drift {
    double x = 0, u = 0;
  };
  Drift drift(const Sum& sum) const;

  /// Messages that are owed, between these two lives.
  struct Lives {
    std::uint32_t sender = 0, receiver = 0;
    std::uint64_t sender_life = 0, receiver_life = 0;

    auto operator<=>(const Lives&) const = default;
  };
  std::uint64_t owed(const Lives& lives) const;
  /// Messages that fly, between these two lives.
  std::uint64_t flying(const Lives& lives) const;

  /// What a message did that no message may do; empty: nothing so far.
  const std::string& fault() const { return fault_; }
  std::uint64_t messages() const { return messages_.size(); }

 private:
  struct Message {
    bool sent = false, applied = false, returned = false, paid = false;

    bool owed() const { return applied && returned && !paid; }
    bool flies() const { return sent && !applied && !returned; }
  };
  void change(std::span<const float> x, double u, double sign);

  std::vector<double> outstanding_;  ///< flying - owed, of x
  double outstanding_u_ = 0;
  std::vector<double> expected_;  ///< entries - deaths + local steps, of x
  double expected_u_ = 0;
  std::vector<double> size_;  ///< of each entry, the magnitudes that were added up
  std::map<std::pair<Lives, std::uint64_t>, Message> messages_;
  std::map<Lives, std::uint64_t> owed_, flying_;
  std::string fault_;
};

}  // namespace hearsay::peer
