#include "hearsay/engine/closed_form/least_squares.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/closed_form/closed_form.h"
#include "hearsay/engine/closed_form/normal_vector-inl.h"

namespace hearsay::engine {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using ConstVector = Eigen::Map<const VectorXd>;

ConstVector view(std::span<const double> x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

/// The Hessians of all peers and their mean, and the samples of as many as there are threads.
double least_squares_bytes(const Arguments& arguments, const ObjectiveContext& context) {
  const auto dim = static_cast<double>(arguments.integer_in_range("dim"));
  const auto samples = static_cast<double>(arguments.integer_in_range("samples"));
  const auto at_once = static_cast<double>(std::min(context.peers, context.pool.threads()));
  return 8 * dim * (dim * (static_cast<double>(context.peers) + 1) + samples * at_once);
}

class LeastSquares final : public ClosedForm {
 public:
  LeastSquares(const Arguments& arguments, const ObjectiveContext& context)
      : ClosedForm(context, static_cast<std::size_t>(arguments.integer_in_range("dim")),
                   arguments.number_in_range("noise"), arguments.name(),
                   least_squares_bytes(arguments, context)),
        samples_(static_cast<std::size_t>(arguments.integer_in_range("samples"))) {
    const std::size_t n = context.peers;
    if (n * samples_ < dim()) {
      arguments.reject("samples", fmt::format("at least dim / peers = {} / {}", dim(), n));
    }
    const double condition = arguments.number_in_range("condition");
    const auto d = static_cast<Eigen::Index>(dim());
    VectorXd scale = VectorXd::Ones(d);  // the diagonal of D
    for (Eigen::Index k = 1; k < d; ++k) {
      scale[k] = std::pow(condition, -0.5 * static_cast<double>(k) / static_cast<double>(d - 1));
    }

    std::vector<MatrixXd> hessian(n);
    std::vector<VectorXd> offset(n);  // e_i
    pool_.run(n, [&](std::size_t i) {
      Random random(seed_, Purpose::kProblem, static_cast<std::uint32_t>(i));
      offset[i] = normal_vector(random, d);
      MatrixXd a(static_cast<Eigen::Index>(samples_), d);
      for (Eigen::Index m = 0; m < a.rows(); ++m) {
        a.row(m) = normal_vector(random, d).cwiseProduct(scale);
      }
      hessian[i] = a.transpose() * a / static_cast<double>(samples_);
    });

    hessian_ = MatrixXd::Zero(d, d);
    VectorXd pull = VectorXd::Zero(d);
    for (std::size_t i = 0; i < n; ++i) {
      hessian_ += hessian[i] / static_cast<double>(n);
      pull += hessian[i] * offset[i] / static_cast<double>(n);
    }
    // x* = x0 + s w, and grad f_i(x*) = s H_i (w - e_i).
    const VectorXd w = hessian_.llt().solve(pull);
    double apart = 0;
    for (std::size_t i = 0; i < n; ++i) {
      apart += (hessian[i] * (w - offset[i])).squaredNorm() / static_cast<double>(n);
    }
    const double s = n > 1 ? std::sqrt(arguments.number_in_range("heterogeneity") / apart) : 0;

    Random common(seed_, Purpose::kProblem, kAllPeers);
    const VectorXd x0 = normal_vector(common, d);
    const VectorXd optimum = x0 + s * w;
    optimum_.assign(optimum.begin(), optimum.end());
    for (std::size_t i = 0; i < n; ++i) {
      const VectorXd away = s * (w - offset[i]);  // x* - p_i
      loss_at_optimum_ += away.dot(hessian[i] * away) / 2 / static_cast<double>(n);
    }
    for (std::size_t row = 0; row < context.rows; ++row) {
      row_hessian_.push_back(std::move(hessian[peer(row)]));
      row_center_.push_back(x0 + s * offset[peer(row)]);
    }
  }

  std::size_t batch() const override { return samples_; }

 private:
  double peer_gradient(std::size_t row, std::uint32_t, std::span<const double> x,
                       std::span<double> g) override {
    const VectorXd away = view(x) - row_center_[row];
    Eigen::Map<VectorXd> gradient(g.data(), away.size());
    gradient.noalias() = row_hessian_[row] * away;
    return away.dot(gradient) / 2;
  }

  double mean_loss(std::span<const double> x) const override {
    const VectorXd away = view(x) - view(optimum_);
    return loss_at_optimum_ + away.dot(hessian_ * away) / 2;
  }

  std::size_t samples_;
  MatrixXd hessian_;  // H
  double loss_at_optimum_ = 0;
  std::vector<MatrixXd> row_hessian_;  // H_i
  std::vector<VectorXd> row_center_;   // p_i
};

}  // namespace

std::unique_ptr<Objective> make_least_squares(const Arguments& arguments,
                                              const ObjectiveContext& context) {
  return std::make_unique<LeastSquares>(arguments, context);
}

}  // namespace hearsay::engine
