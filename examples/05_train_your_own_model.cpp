// Your own model: an objective that hearsay does not have, with gradients by hand, trained by eight
// peers with SCSP at top-10 %.
//
// Poisson regression of counts y on features x, say calls per hour: the rate is exp(w . x), and
//
//   f(w) = mean over samples of  exp(w . x) - y (w . x),   grad f = mean of (exp(w . x) - y) x
//
// Every peer sees another part of the features, so no peer finds w alone.

#include <fmt/core.h>

#include <cmath>

#include "hearsay/core/random.h"
#include "hearsay/engine/on_host.h"
#include "hearsay/train/trainer.h"

namespace backend = hearsay::backend;
namespace engine = hearsay::engine;
namespace train = hearsay::train;
using hearsay::Purpose;
using hearsay::Random;

namespace {

constexpr std::size_t kDim = 200, kSamples = 1000, kBatch = 20;

struct Sample {
  std::vector<float> x;
  double y;
};

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}

class PoissonRegression : public engine::Objective {
 public:
  explicit PoissonRegression(const engine::ObjectiveContext& context)
      : context_(context), layout_(kDim), samples_(context.peers) {
    Random truth(context.seed, Purpose::kProblem);
    for (std::size_t k = 0; k < kDim; ++k) w_.push_back(static_cast<float>(0.1 * truth.normal()));
    for (std::uint32_t peer = 0; peer < context.peers; ++peer) {
      Random random(context.seed, Purpose::kProblem, peer + 1);
      for (std::size_t s = 0; s < kSamples; ++s) samples_[peer].push_back(draw(peer, random));
    }
  }

  const hearsay::Layout& layout() const override { return layout_; }
  std::uint64_t rounds_per_epoch() const override { return (kSamples + kBatch - 1) / kBatch; }
  std::size_t batch() const override { return kBatch; }
  void initial_model(std::uint32_t, std::span<float> x) const override { std::ranges::fill(x, 0); }

  // Row i of the blocks belongs to peer context.first + i: there may be several processes.
  void gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                 std::span<double> losses) override {
    for (std::size_t i = 0; i < at.rows; ++i) {
      const std::vector<Sample>& samples = samples_[context_.first + i];
      std::ranges::fill(out.row(i), 0.0f);
      losses[i] = 0;
      for (std::size_t b = 0; b < kBatch; ++b) {
        const auto& [x, y] = samples[(round * kBatch + b) % kSamples];
        const double score = dot(at.row(i), x), rate = std::exp(score);
        losses[i] += (rate - y * score) / kBatch;
        for (std::size_t k = 0; k < kDim; ++k) {
          out.row(i)[k] += static_cast<float>((rate - y) / kBatch) * x[k];
        }
      }
    }
  }

  // What is reported besides the loss; tables, charts and sweeps take it from here.
  std::span<const engine::Metric> metrics() const override {
    static constexpr engine::Metric kError{.key = "error",
                                           .name = "error of the weights",
                                           .label = "error",
                                           .unit = "%",
                                           .better = engine::Metric::Better::kSmaller,
                                           .meaning = "|w - w*| / |w*| in percent"};
    return {&kError, 1};
  }
  engine::Score evaluate(std::span<const float> w, std::span<const float>) const override {
    double loss = 0, error = 0;
    for (const auto& samples : samples_) {
      for (const auto& [x, y] : samples) loss += std::exp(dot(w, x)) - y * dot(w, x);
    }
    for (std::size_t k = 0; k < kDim; ++k) error += std::pow(w[k] - w_[k], 2);
    return {.loss = loss / static_cast<double>(samples_.size() * kSamples),
            .values = {100 * std::sqrt(error / dot(w_, w_))}};
  }
  std::vector<engine::Score> scores(backend::ConstBlock at) override {
    return engine::evaluate_rows(*this, at, context_.pool);
  }

 private:
  /// Two thirds of the features are always zero at a peer: another two thirds at every one.
  Sample draw(std::uint32_t peer, Random& random) const {
    Sample sample{std::vector<float>(kDim, 0.0f), 0};
    for (std::size_t k = 0; k < kDim; ++k) {
      if ((k + peer) % 3 == 0) sample.x[k] = static_cast<float>(random.normal());
    }
    const double limit = std::exp(-std::exp(dot(w_, sample.x)));  // Knuth's Poisson sampler
    for (double product = random.uniform(); product > limit; product *= random.uniform()) {
      ++sample.y;
    }
    return sample;
  }

  engine::ObjectiveContext context_;
  hearsay::Layout layout_;
  std::vector<float> w_;  ///< the truth
  std::vector<std::vector<Sample>> samples_;
};

double error_of(const std::string& algorithm) {
  train::RunParts parts;
  parts.objective = [](const engine::ObjectiveContext& context) {  // on a GPU: its rows come here
    return engine::on_host(std::make_unique<PoissonRegression>(context), context);
  };
  const train::RunOptions options{.peers = 8,
                                  .graph = "exponential",
                                  .algorithm = algorithm,
                                  .compressor = algorithm == "scsp" ? "topk:keep=0.1" : "auto",
                                  .data = "poisson-regression",
                                  .lr = "cosine:0.05",
                                  .epochs = 60};
  train::Trainer trainer(train::resolve(options, parts), parts);
  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
  const train::Metrics metrics = trainer.evaluate();
  const double error = *metrics.find("error")->mean;
  fmt::print("{:<7} loss {:.4f}, error of the weights {:5.1f} %, {} bytes\n", algorithm,
             metrics.loss, error, metrics.traffic.bytes);
  return error;
}

}  // namespace

int main() {
  const double alone = error_of("silent"), together = error_of("scsp");
  return together < 25 && alone > 60 ? 0 : 1;
}
