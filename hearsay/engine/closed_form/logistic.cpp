#include "hearsay/engine/closed_form/logistic.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/batches.h"
#include "hearsay/engine/closed_form/closed_form.h"
#include "hearsay/engine/closed_form/normal_vector-inl.h"

namespace hearsay::engine {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLabelStrength = 2;  // |v|
constexpr int kNewtonSteps = 1000;
constexpr int kHalvings = 60;
constexpr std::string_view kNoOptimum =
    "above 0 here: a plane separates the samples, so without it there is no optimum";

/// 1 / (1 + exp(margin)): minus the derivative of the loss with respect to the margin.
double miss(double margin) { return 1 / (1 + std::exp(margin)); }

double loss_of(double margin) {
  return std::log1p(std::exp(-std::abs(margin))) + std::max(0.0, -margin);
}

/// The samples and the Hessians of all peers.
double logistic_bytes(const Arguments& arguments, const ObjectiveContext& context) {
  const auto dim = static_cast<double>(arguments.integer_in_range("dim"));
  const auto samples = static_cast<double>(arguments.integer_in_range("samples"));
  return static_cast<double>(context.peers) * dim * (4 * samples + 8 * dim);
}

class Logistic final : public ClosedForm {
 public:
  Logistic(const Arguments& arguments, const ObjectiveContext& context)
      : ClosedForm(context, static_cast<std::size_t>(arguments.integer_in_range("dim")),
                   arguments.number_in_range("noise"), arguments.name(),
                   logistic_bytes(arguments, context)),
        peers_(context.peers),
        samples_(static_cast<std::size_t>(arguments.integer_in_range("samples"))),
        l2_(arguments.number_in_range("l2")),
        all_(samples_) {
    std::iota(all_.begin(), all_.end(), 0u);
    if (const auto batch = static_cast<std::size_t>(arguments.integer_in_range("batch"))) {
      batches_.emplace(context.seed, context.first, context.rows, samples_, batch);
    }
    const std::vector<VectorXd> pulls = draw_problem();
    find_optimum(arguments);
    set_tilts(pulls, arguments.number_in_range("heterogeneity"), context.rows);
  }

  std::uint64_t rounds_per_epoch() const override {
    return batches_ ? batches_->rounds_per_epoch() : 1;
  }
  std::size_t batch() const override { return batches_ ? batches_->batch() : samples_; }

 private:
  Index d() const { return static_cast<Index>(dim()); }

  /// y_im h_im: the only form in which a sample enters the formulas.
  Eigen::Map<const Eigen::VectorXf> sample(std::size_t i, std::size_t m) const {
    return {data_.data() + (i * samples_ + m) * dim(), d()};
  }

  double margin(std::size_t i, std::size_t m, const VectorXd& x) const {
    return sample(i, m).cast<double>().dot(x);
  }

  /// Draws the samples; returns a random vector per peer for the tilts.
  std::vector<VectorXd> draw_problem() {
    Random common(seed_, Purpose::kProblem, kAllPeers);
    const VectorXd v = normal_vector(common, d()).normalized() * kLabelStrength;
    std::vector<VectorXd> pulls(peers_);
    data_.resize(peers_ * samples_ * dim());
    pool_.run(peers_, [&](std::size_t i) {
      Random random(seed_, Purpose::kProblem, static_cast<std::uint32_t>(i));
      pulls[i] = normal_vector(random, d());
      for (std::size_t m = 0; m < samples_; ++m) {
        const VectorXd h = normal_vector(random, d());
        const double y = random.uniform() < miss(-h.dot(v)) ? 1 : -1;
        Eigen::Map<Eigen::VectorXf>(data_.data() + (i * samples_ + m) * dim(), d()) =
            (y * h).cast<float>();
      }
    });
    return pulls;
  }

  /// Adds the samples' part of the gradient of f_i to g (and of its Hessian to *hessian) and
  /// returns their part of the loss.
  double add_samples(std::size_t i, std::span<const std::uint32_t> samples, const VectorXd& x,
                     Eigen::Ref<VectorXd> g, MatrixXd* hessian = nullptr) const {
    const double mean = 1 / static_cast<double>(samples.size());
    double loss = 0;
    for (std::uint32_t m : samples) {
      const auto a = sample(i, m).cast<double>();
      const double at = a.dot(x);
      const double p = miss(at);
      loss += loss_of(at);
      g -= mean * p * a;
      if (hessian != nullptr) *hessian += mean * p * (1 - p) * (a * a.transpose());
    }
    return loss * mean;
  }

  bool separates(const VectorXd& x) const {
    for (std::size_t i = 0; i < peers_; ++i) {
      for (std::size_t m = 0; m < samples_; ++m) {
        if (margin(i, m, x) <= 0) return false;
      }
    }
    return true;
  }

  /// Newton's method with backtracking; sums run over the peers in order, whichever thread computed
  /// them.
  void find_optimum(const Arguments& arguments) {
    if (l2_ == 0 && peers_ * samples_ <= dim()) arguments.reject("l2", kNoOptimum);
    VectorXd x = VectorXd::Zero(d());
    std::vector<VectorXd> gradients(peers_);
    std::vector<MatrixXd> hessians(peers_);
    for (int step = 0; step < kNewtonSteps; ++step) {
      pool_.run(peers_, [&](std::size_t i) {
        gradients[i] = VectorXd::Zero(d());
        hessians[i] = MatrixXd::Zero(d(), d());
        add_samples(i, all_, x, gradients[i], &hessians[i]);
      });
      VectorXd gradient = l2_ * x;
      MatrixXd hessian = l2_ * MatrixXd::Identity(d(), d());
      for (std::size_t i = 0; i < peers_; ++i) {
        gradient += gradients[i] / static_cast<double>(peers_);
        hessian += hessians[i] / static_cast<double>(peers_);
      }
      VectorXd move = -hessian.ldlt().solve(gradient);
      const double descent = -gradient.dot(move);
      const double before = mean_loss({x.data(), dim()});
      // Once the descent is below the rounding error of the losses, the full step is right.
      for (int halvings = 0; halvings < kHalvings && descent > 1e-10; ++halvings) {
        const VectorXd next = x + move;
        if (mean_loss({next.data(), dim()}) < before) break;
        move /= 2;
      }
      x += move;
      if (l2_ == 0 && separates(x)) arguments.reject("l2", kNoOptimum);
      if (move.norm() <= 1e-12 * (1 + x.norm())) {
        optimum_.assign(x.begin(), x.end());
        return;
      }
    }
    arguments.reject("l2", "larger: Newton's method does not find the optimum");
  }

  void set_tilts(const std::vector<VectorXd>& pulls, double heterogeneity, std::size_t rows) {
    const VectorXd x = Eigen::Map<const VectorXd>(optimum_.data(), d());
    const auto n = static_cast<double>(peers_);
    std::vector<VectorXd> gradients(peers_, VectorXd::Zero(d()));
    pool_.run(peers_, [&](std::size_t i) { add_samples(i, all_, x, gradients[i]); });
    VectorXd mean_pull = VectorXd::Zero(d());
    VectorXd mean_gradient = VectorXd::Zero(d());
    for (std::size_t i = 0; i < peers_; ++i) {
      mean_pull += pulls[i] / n;
      mean_gradient += gradients[i] / n;
    }
    double apart = 0;
    for (const VectorXd& pull : pulls) apart += (pull - mean_pull).squaredNorm() / n;
    const double s = peers_ > 1 ? std::sqrt(heterogeneity / apart) : 0;
    for (std::size_t row = 0; row < rows; ++row) {
      tilts_.push_back(s * (pulls[peer(row)] - mean_pull) - (gradients[peer(row)] - mean_gradient));
    }
  }

  double peer_gradient(std::size_t row, std::uint32_t round, std::span<const double> at,
                       std::span<double> g) override {
    const VectorXd x = Eigen::Map<const VectorXd>(at.data(), d());
    std::vector<std::uint32_t> chosen;
    if (batches_) {
      chosen.resize(batches_->batch());
      batches_->read(row, round, chosen);
    }
    Eigen::Map<VectorXd> gradient(g.data(), d());
    gradient = l2_ * x + tilts_[row];
    const double loss = add_samples(peer(row), batches_ ? chosen : all_, x, gradient);
    return loss + l2_ / 2 * x.squaredNorm() + tilts_[row].dot(x);
  }

  double mean_loss(std::span<const double> at) const override {
    const VectorXd x = Eigen::Map<const VectorXd>(at.data(), d());
    double loss = 0;
    for (std::size_t i = 0; i < peers_; ++i) {
      for (std::size_t m = 0; m < samples_; ++m) loss += loss_of(margin(i, m, x));
    }
    return loss / static_cast<double>(peers_ * samples_) + l2_ / 2 * x.squaredNorm();
  }

  std::size_t peers_;
  std::size_t samples_;
  double l2_;
  std::vector<std::uint32_t> all_;  // 0 .. M-1
  std::optional<Batches> batches_;
  std::vector<float> data_;      // n x M x d
  std::vector<VectorXd> tilts_;  // t_i of the bank's rows
};

}  // namespace

std::unique_ptr<Objective> make_logistic(const Arguments& arguments,
                                         const ObjectiveContext& context) {
  return std::make_unique<Logistic>(arguments, context);
}

}  // namespace hearsay::engine
