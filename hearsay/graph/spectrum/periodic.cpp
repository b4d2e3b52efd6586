#include "hearsay/graph/spectrum/periodic.h"

#include <utility>

namespace hearsay::graph {

namespace {

constexpr std::size_t kLongestPeriod = 64;

class Periodic final : public Schedule {
 public:
  Periodic(std::vector<Weights> matrices, std::uint64_t every, Clock clock)
      : matrices_(std::move(matrices)), every_(every), clock_(clock) {}

  std::size_t peers() const override { return matrices_.front().peers(); }

  const Weights& at(std::uint64_t round, std::uint64_t epoch) override {
    return matrices_[phase(round, epoch) % matrices_.size()];
  }

  std::uint64_t phase(std::uint64_t round, std::uint64_t epoch) const override {
    if (matrices_.size() == 1) return 0;
    return (clock_ == Clock::kRounds ? round : epoch) / every_;
  }

  std::vector<Weights> period() const override {
    const bool whole = clock_ == Clock::kRounds && every_ <= kLongestPeriod / matrices_.size();
    if (matrices_.size() == 1 || !whole) return matrices_;
    std::vector<Weights> period;
    for (const Weights& matrix : matrices_) period.insert(period.end(), every_, matrix);
    return period;
  }

  void keep(std::size_t first, std::size_t rows) override {
    for (Weights& matrix : matrices_) matrix = touching(matrix, first, rows);
  }

  Change change() const override {
    if (matrices_.size() == 1) return Change::kNever;
    return clock_ == Clock::kRounds && every_ == 1 ? Change::kEveryRound : Change::kPhases;
  }

 private:
  std::vector<Weights> matrices_;
  std::uint64_t every_;
  Clock clock_;
};

}  // namespace

std::unique_ptr<Schedule> make_periodic(std::vector<Weights> matrices, std::uint64_t every,
                                        Clock clock) {
  return std::make_unique<Periodic>(std::move(matrices), every, clock);
}

}  // namespace hearsay::graph
