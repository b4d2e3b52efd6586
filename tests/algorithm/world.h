#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hearsay/core/random.h"
#include "hearsay/gossip/round_driver.h"

namespace hearsay::algorithm {

/// n peers in one process, without optimizer or objective: the test supplies the directions and the
/// losses, and says which messages arrive.
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
    bool lossy = false;  ///< messages may get lost: see run_round
  };

  /// The direction at a peer's model.
  using Direction =
      std::function<void(std::size_t peer, std::span<const float> at, std::span<float> direction)>;
  using Start = std::function<void(std::uint32_t peer, std::span<float> x)>;

  explicit World(const Setup& setup) : setup_(setup) {}

  /// Every peer starts from its own standard normal vector, or all from the same one.
  static Start random_start(bool same) {
    return [same](std::uint32_t peer, std::span<float> x) {
      Random random(99, Purpose::kTest, same ? 0 : peer);
      for (float& value : x) value = static_cast<float>(random.normal());
    };
  }
  void start_random(bool same = false) { start(random_start(same)); }

  void start_from(const std::vector<std::vector<double>>& models) {
    start([&](std::uint32_t peer, std::span<float> x) {
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(models[peer][k]);
    });
  }

  /// What a driver of such peers is made of.
  static gossip::DriverParts parts_of(const Setup& setup, const Start& start) {
    Method method = make_method(setup.algorithm);
    method.needs.reset();  // tests also run what does not fit
    return {.layout = Layout(setup.dim),
            .schedule = graph::make_schedule(setup.graph, {setup.peers, setup.seed}),
            .method = std::move(method),
            .compressor = compress::make_compressor(setup.compressor),
            .initial_model = start,
            .seed = setup.seed};
  }

  /// Writes the directions of a driver's peers, and the same loss for all.
  static void write_gradients(gossip::RoundDriver& driver, const Direction& direction,
                              double loss) {
    driver.machine().kernels().fill(0.0f, driver.gradient());
    std::ranges::fill(driver.losses(), loss);
    for (std::size_t i = 0; direction && i < driver.rows(); ++i) {
      direction(driver.first() + i, driver.models().row(i), driver.gradient().row(i));
    }
  }

  /// One round; without a direction the gradient is zero (pure averaging).
  void run_round(float lr = 0, const Direction& direction = nullptr, bool last_phase = false,
                 const Delivered& delivered = nullptr) {
    delivered_ = delivered;
    driver_->run_round({.lr = lr, .final = last_phase, .measure_mass = true},
                       [&] { write_gradients(*driver_, direction, loss_); });
  }

  void set_losses(double loss) { loss_ = loss; }

  std::size_t peers() const { return driver_->peers(); }
  gossip::RoundDriver& driver() { return *driver_; }
  Algorithm& algorithm() const { return driver_->algorithm(); }
  const graph::Facts& facts() const { return driver_->graph(); }
  std::span<const float> model(std::size_t i) const { return driver_->models().row(i); }
  std::uint64_t round() const { return driver_->round(); }
  double drift() const { return driver_->ledger().run_totals().mass_drift; }  ///< largest so far

  std::vector<double> mean() const {
    std::vector<double> sum(setup_.dim, 0.0);
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
    const backend::ConstBlock block = driver_->models();
    return {block.data, block.data + block.size()};
  }

 private:
  void start(const Start& start) {
    gossip::DriverParts parts = parts_of(setup_, start);
    if (setup_.lossy) {
      parts.arrives = [this](const graph::Edge& edge, std::uint32_t) {
        return !delivered_ || delivered_(edge);
      };
    }
    driver_ = std::make_unique<gossip::RoundDriver>(
        std::move(parts), std::make_shared<gossip::Machine>("cpu", setup_.threads));
  }

  Setup setup_;
  std::unique_ptr<gossip::RoundDriver> driver_;
  Delivered delivered_;
  double loss_ = 1;
};

/// Between entries of their models.
inline double largest_difference(const World& a, const World& b) {
  const auto x = a.models(), y = b.models();
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
  }
  return largest;
}

}  // namespace hearsay::algorithm
