#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/backend/mass_meter.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::algorithm {

/// n peers in one process, driven directly through the interface of algorithm.h, without trainer,
/// optimizer or objective: the test supplies the direction.
class World {
 public:
  struct Setup {
    std::string algorithm;
    std::string graph = "ring";
    std::size_t peers = 4;
    std::string compressor = "identity";
    std::size_t dim = 10;
    std::size_t threads = 1;
    std::uint64_t seed = 1;
  };

  /// The direction at a peer's model.
  using Direction =
      std::function<void(std::size_t peer, std::span<const float> at, std::span<float> direction)>;

  explicit World(const Setup& setup)
      : layout_(setup.dim),
        pool_(setup.threads),
        kernels_(backend::make_cpu_kernels(pool_)),
        schedule_(graph::make_schedule(setup.graph, {setup.peers, setup.seed})),
        facts_(graph::facts_of(*schedule_)),
        compressor_(compress::make_compressor(setup.compressor)),
        bank_compressor_(*compressor_, layout_, *kernels_, pool_, setup.seed, 0),
        algorithm_(
            make_algorithm(setup.algorithm, {.kernels = *kernels_,
                                             .layout = layout_,
                                             .compressor = bank_compressor_,
                                             .topk_keep = compress::topk_keep(setup.compressor),
                                             .graph = facts_,
                                             .peers = peers(),
                                             .rows = peers()})),
        direction_(kernels_->allocate(peers(), setup.dim)),
        losses_(peers(), 1.0) {
    kernels_->set_meter(&meter);
  }

  std::size_t peers() const { return schedule_->peers(); }
  Algorithm& algorithm() { return *algorithm_; }
  backend::Kernels& kernels() { return *kernels_; }
  const graph::Facts& facts() const { return facts_; }
  std::span<const float> model(std::size_t i) const { return algorithm_->point().row(i); }
  std::uint32_t round() const { return round_; }

  /// Start every peer from its own standard normal vector, or all from the same one.
  void start_random(bool same = false) {
    for (std::size_t i = 0; i < peers(); ++i) {
      Random random(99, Purpose::kTest, same ? 0 : static_cast<std::uint32_t>(i));
      for (float& value : algorithm_->initial().row(i)) value = static_cast<float>(random.normal());
    }
    algorithm_->start();
  }

  void start_from(const std::vector<std::vector<double>>& models) {
    for (std::size_t i = 0; i < peers(); ++i) {
      const auto row = algorithm_->initial().row(i);
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = static_cast<float>(models[i][k]);
    }
    algorithm_->start();
  }

  /// One round; without a direction the gradient is zero (pure averaging).
  void run_round(float lr = 0, const Direction& direction = nullptr, bool last_phase = false,
                 const Delivered& delivered = nullptr) {
    const Plan plan = algorithm_->plan({.index = round_,
                                        .phase = schedule_->phase(round_, round_),
                                        .lr = lr,
                                        .last_phase = last_phase});
    Outbox outbox;
    const bool gossips = plan.talk == Plan::Talk::kGossip;
    if (gossips && plan.send_first) algorithm_->emit(outbox);
    if (plan.gradient) {
      kernels_->fill(0.0f, direction_);
      for (std::size_t i = 0; direction && i < peers(); ++i) {
        direction(i, model(i), direction_.row(i));
      }
      algorithm_->step(direction_);
    }
    if (gossips) {
      if (!plan.send_first) algorithm_->emit(outbox);
      Exchange exchange;
      deliver(schedule_->at(round_, round_), outbox, algorithm_->push_sum(), delivered, exchange);
      algorithm_->mix(exchange);
    } else if (plan.talk == Plan::Talk::kGlobal) {
      LocalCollective everybody(*kernels_);
      algorithm_->average(everybody, losses_);
    }
    kernels_->synchronize();
    last_plan = plan;
    ++round_;
  }

  void set_losses(double loss) { losses_.assign(peers(), loss); }

  std::vector<double> mean() const {
    std::vector<double> sum(layout_.dim(), 0.0);
    for (std::size_t i = 0; i < peers(); ++i) {
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += static_cast<double>(model(i)[k]) / static_cast<double>(peers());
      }
    }
    return sum;
  }

  /// Root of the mean over peers of |z_i - target|^2.
  double spread_around(const std::vector<double>& target) const {
    double square = 0;
    for (std::size_t i = 0; i < peers(); ++i) {
      for (std::size_t k = 0; k < target.size(); ++k) {
        const double difference = static_cast<double>(model(i)[k]) - target[k];
        square += difference * difference / static_cast<double>(peers());
      }
    }
    return std::sqrt(square);
  }
  double spread() const { return spread_around(mean()); }

  std::vector<float> models() const {
    const backend::ConstBlock block = algorithm_->point();
    return {block.data, block.data + block.size()};
  }

  backend::MassMeter meter;
  Plan last_plan;

 private:
  Layout layout_;
  ThreadPool pool_;
  std::unique_ptr<backend::Kernels> kernels_;
  std::unique_ptr<graph::Schedule> schedule_;
  graph::Facts facts_;
  std::unique_ptr<compress::Compressor> compressor_;
  BankCompressor bank_compressor_;
  std::unique_ptr<Algorithm> algorithm_;
  backend::Array direction_;
  std::vector<double> losses_;
  std::uint32_t round_ = 0;
};

}  // namespace hearsay::algorithm
