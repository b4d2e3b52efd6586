#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

struct BankOptions {
  std::size_t peers = 5;
  std::size_t first = 0;
  std::size_t rows = 0;  ///< 0: all
  std::uint64_t seed = 7;
  std::size_t threads = 1;
  std::string model = "logistic";
  std::string task = "auto";
  std::string loss = "auto";
  std::string partition = "iid";
  std::string augment = "none";
  double validation = 0;
  std::size_t batch = 32;
  bool estimates = true;
};

/// An objective for a bank of peers, with storage for its models and gradients.
class Bank {
 public:
  explicit Bank(std::string_view spec, const BankOptions& options = {})
      : pool_(options.threads),
        kernels_(backend::make_cpu_kernels(pool_)),
        rows_(options.rows == 0 ? options.peers : options.rows),
        objective_(make_objective(spec, {.peers = options.peers,
                                         .first = options.first,
                                         .rows = rows_,
                                         .seed = options.seed,
                                         .pool = pool_,
                                         .kernels = *kernels_,
                                         .model = options.model,
                                         .task = options.task,
                                         .loss = options.loss,
                                         .partition = options.partition,
                                         .augment = options.augment,
                                         .validation = options.validation,
                                         .batch = options.batch,
                                         .estimates = options.estimates})),
        x(rows_ * dim()),
        g(rows_ * dim()),
        losses(rows_) {
    for (std::size_t i = 0; i < rows_; ++i) {
      objective_->initial_model(static_cast<std::uint32_t>(options.first + i), block(x).row(i));
    }
  }

  Objective& operator*() { return *objective_; }
  Objective* operator->() { return objective_.get(); }
  std::size_t dim() const { return objective_->layout().dim(); }
  std::size_t rows() const { return rows_; }

  /// Computes the gradients at x into g, and the losses.
  void gradients(std::uint32_t round) { objective_->gradients(round, block(x), block(g), losses); }

  /// Sets every row of x to that vector.
  template <class Vector>
  void place(const Vector& at) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(at[k % dim()]);
  }

  /// Sets x to random multiples of 2^-12 in [-2, 2): sums with small powers of two are exact.
  void scatter() {
    Random random(1, Purpose::kTest);
    for (float& entry : x) entry = static_cast<float>(random.below(1 << 14)) * 0x1p-12f - 2;
  }

  std::vector<double> mean_gradient() const {
    std::vector<double> mean(dim(), 0);
    for (std::size_t k = 0; k < g.size(); ++k) {
      mean[k % dim()] += static_cast<double>(g[k]) / static_cast<double>(rows_);
    }
    return mean;
  }

 private:
  backend::Block block(std::vector<float>& values) { return {values.data(), rows_, dim()}; }

  ThreadPool pool_;
  std::unique_ptr<backend::Kernels> kernels_;
  std::size_t rows_;
  std::unique_ptr<Objective> objective_;

 public:
  std::vector<float> x;
  std::vector<float> g;
  std::vector<double> losses;
};

inline std::string message_of(std::string_view spec, const BankOptions& options = {}) {
  try {
    Bank bank(spec, options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

inline double squared_norm(const auto& values) {
  double sum = 0;
  for (auto value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

}  // namespace hearsay::engine
