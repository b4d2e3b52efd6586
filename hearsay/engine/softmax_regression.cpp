#include "hearsay/engine/softmax_regression.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include <Eigen/Core>

#include "hearsay/core/error.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/batches.h"

namespace hearsay::engine {

namespace {

using Eigen::Index;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A model as W and b in double.
struct Weights {
  Weights(std::span<const float> model, Index classes, Index features)
      : weight(Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(model.data(),
                                                                               classes, features)
                   .cast<double>()),
        bias(Eigen::Map<const Eigen::RowVectorXf>(model.data() + classes * features, classes)
                 .cast<double>()) {}

  Matrix weight;
  Eigen::RowVectorXd bias;
};

class SoftmaxRegression final : public Objective {
 public:
  SoftmaxRegression(std::shared_ptr<const data::Dataset> dataset, data::Partition parts,
                    const ObjectiveContext& context)
      : dataset_(std::move(dataset)),
        parts_(std::move(parts)),
        first_(context.first),
        pool_(context.pool),
        batches_(context.seed, context.first, context.rows, parts_.front().size(), context.batch) {
    layout_.add("weight", {dataset_->classes, dataset_->features()});
    layout_.add("bias", {dataset_->classes});
    std::vector<std::uint32_t> all(dataset_->test.size());
    std::iota(all.begin(), all.end(), 0u);
    test_images_ = gather(dataset_->test, all);
  }

  const Layout& layout() const override { return layout_; }
  std::uint64_t rounds_per_epoch() const override { return batches_.rounds_per_epoch(); }
  std::size_t batch() const override { return batches_.batch(); }

  void initialize(backend::Block x) const override { std::fill_n(x.data, x.size(), 0.0f); }

  void gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                 std::span<double> losses) override {
    pool_.run(at.rows, [&](std::size_t i) {
      std::vector<std::uint32_t> samples(batch());
      batches_.read(i, round, samples);
      for (std::uint32_t& sample : samples) sample = parts_[first_ + i][sample];

      const Matrix images = gather(dataset_->train, samples);
      Matrix slope = logits(images, at.row(i));  // becomes d loss / d logits
      double loss = 0;
      for (Index k = 0; k < slope.rows(); ++k) {
        const Index label = dataset_->train.labels[samples[static_cast<std::size_t>(k)]];
        loss += softmax_loss(slope.row(k), label);
        slope(k, label) -= 1;
      }
      const double mean = 1 / static_cast<double>(batch());
      losses[i] = loss * mean;
      Eigen::Map<Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(out.row(i).data(), classes(),
                                                                features()) =
          (mean * (slope.transpose() * images)).cast<float>();
      Eigen::Map<Eigen::RowVectorXf>(out.row(i).data() + classes() * features(), classes()) =
          (mean * slope.colwise().sum()).cast<float>();
    });
  }

  Score evaluate(std::span<const float> model, std::span<const float> /*buffers*/) const override {
    assert(model.size() == layout_.dim());
    Matrix scores = logits(test_images_, model);
    double loss = 0;
    std::size_t right = 0;
    for (Index k = 0; k < scores.rows(); ++k) {
      const Index label = dataset_->test.labels[static_cast<std::size_t>(k)];
      Index best = 0;
      scores.row(k).maxCoeff(&best);
      right += best == label;
      loss += softmax_loss(scores.row(k), label);
    }
    const auto count = static_cast<double>(scores.rows());
    Score score;
    score.loss = loss / count;
    score.accuracy = 100 * static_cast<double>(right) / count;
    return score;
  }

 private:
  Index classes() const { return static_cast<Index>(dataset_->classes); }
  Index features() const { return static_cast<Index>(dataset_->features()); }

  /// The scaled pixels of those samples, one a row.
  Matrix gather(const data::Samples& from, std::span<const std::uint32_t> indices) const {
    Matrix images(static_cast<Index>(indices.size()), features());
    const double scale = static_cast<double>(dataset_->scale);
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const auto pixels = from.image(indices[k], dataset_->features());
      std::ranges::transform(pixels, images.row(static_cast<Index>(k)).begin(),
                             [&](std::uint8_t pixel) { return scale * pixel; });
    }
    return images;
  }

  Matrix logits(const Matrix& images, std::span<const float> model) const {
    const Weights weights(model, classes(), features());
    Matrix result = images * weights.weight.transpose();
    result.rowwise() += weights.bias;
    return result;
  }

  /// Turns a row of logits into probabilities; returns -ln of the label's.
  static double softmax_loss(Eigen::Ref<Eigen::RowVectorXd> row, Index label) {
    row.array() -= row.maxCoeff();
    const double of_label = row[label];
    row = row.array().exp();
    const double sum = row.sum();
    row /= sum;
    return std::log(sum) - of_label;
  }

  std::shared_ptr<const data::Dataset> dataset_;
  data::Partition parts_;
  std::size_t first_;
  ThreadPool& pool_;
  Batches batches_;
  Layout layout_;
  Matrix test_images_;
};

}  // namespace

std::unique_ptr<Objective> make_softmax_regression(std::shared_ptr<const data::Dataset> dataset,
                                                   data::Partition parts,
                                                   const ObjectiveContext& context) {
  if (context.batch == 0) throw InvalidArgument("[batch] must be at least 1, got 0");
  return std::make_unique<SoftmaxRegression>(std::move(dataset), std::move(parts), context);
}

}  // namespace hearsay::engine
