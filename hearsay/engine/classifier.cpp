#include "hearsay/engine/classifier.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <mutex>

#include "hearsay/core/error.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/batches.h"
#include "hearsay/engine/plan.h"

namespace hearsay::engine {

namespace {

/// What one thread computes with.
struct Worker {
  std::unique_ptr<Plan> plan;
  std::vector<std::uint32_t> samples;  ///< of a batch
  std::vector<std::uint16_t> labels;
  std::vector<float> logits;
};

/// Workers that nobody uses now. There are never more than calls that run at once.
class IdleWorkers {
 public:
  IdleWorkers(const model::Network& network, std::size_t batch) : network_(network), batch_(batch) {
    give(make());  // what cannot be compiled fails here, before the first round
  }

  /// Calls body with a worker of its own.
  template <class Body>
  auto with_one(const Body& body) {
    struct Loan {
      explicit Loan(IdleWorkers& owner) : from(owner), worker(owner.take()) {}
      ~Loan() { from.give(std::move(worker)); }
      Loan(const Loan&) = delete;
      Loan& operator=(const Loan&) = delete;
      IdleWorkers& from;
      std::unique_ptr<Worker> worker;
    } loan(*this);
    return body(*loan.worker);
  }

 private:
  std::unique_ptr<Worker> make() {
    {
      const std::lock_guard lock(mutex_);
      idle_.reserve(++made_);  // so that giving back cannot fail
    }
    auto worker = std::make_unique<Worker>();
    worker->plan = make_cpu_plan(network_, batch_);
    worker->samples.resize(batch_);
    worker->labels.resize(batch_);
    worker->logits.resize(batch_ * network_.classes());
    return worker;
  }
  std::unique_ptr<Worker> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto worker = std::move(idle_.back());
        idle_.pop_back();
        return worker;
      }
    }
    return make();
  }
  void give(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

  const model::Network& network_;
  std::size_t batch_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
  std::size_t made_ = 0;
};

/// -ln softmax(row)[label], and whether the label has the largest entry (the first of equals).
struct Verdict {
  double loss;
  bool right;
};
Verdict judge(std::span<const float> row, std::size_t label) {
  const auto best = std::ranges::max_element(row);
  const double most = static_cast<double>(*best);
  double sum = 0;
  for (float logit : row) sum += std::exp(static_cast<double>(logit) - most);
  return {.loss = std::log(sum) + most - static_cast<double>(row[label]),
          .right = static_cast<std::size_t>(best - row.begin()) == label};
}

class Classifier final : public Objective {
 public:
  Classifier(data::Share share, model::Network network,
             std::unique_ptr<data::Augmentation> augmentation, const ObjectiveContext& context)
      : share_(std::move(share)),
        dataset_(*share_.dataset),
        network_(std::move(network)),
        augmentation_(std::move(augmentation)),
        first_(context.first),
        rows_(context.rows),
        seed_(context.seed),
        pool_(context.pool),
        batches_(context.seed, context.first, context.rows, share_.parts.front().size(),
                 context.batch),
        workers_(network_, context.batch) {
    if (const std::size_t dim = network_.buffers().dim(); dim > 0) {
      buffers_ = backend::Array(new float[rows_ * dim], rows_, dim, [](float* p) { delete[] p; });
      for (std::size_t i = 0; i < rows_; ++i) network_.initialize_buffers(buffers_.row(i));
    }
  }

  const Layout& layout() const override { return network_.layout(); }
  const model::Network* network() const override { return &network_; }
  std::uint64_t rounds_per_epoch() const override { return batches_.rounds_per_epoch(); }
  std::size_t batch() const override { return batches_.batch(); }

  void initial_model(std::uint32_t /*peer*/, std::span<float> x) const override {
    network_.initialize(seed_, x, &pool_);
  }
  bool starts_alike() const override { return true; }

  void gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                 std::span<double> losses) override {
    pool_.run(at.rows, [&](std::size_t i) {
      workers_.with_one([&](Worker& worker) {
        read_batch(i, round, worker);
        const Random dropout(seed_, Purpose::kDropout, peer(i), round);
        losses[i] =
            worker.plan->gradient(at.row(i), own_buffers(i), worker.labels, dropout, out.row(i));
      });
    });
  }

  void observe(std::uint32_t round, backend::ConstBlock at) override {
    if (buffers_.empty()) return;
    pool_.run(at.rows, [&](std::size_t i) {
      workers_.with_one([&](Worker& worker) {
        read_batch(i, round, worker);
        worker.plan->observe(at.row(i), own_buffers(i), model::BatchNorm::kMomentum);
      });
    });
  }

  const Layout& buffer_layout() const override { return network_.buffers(); }
  std::vector<float> buffers(std::size_t row) const override {
    const std::span<const float> own = own_buffers(row);
    return {own.begin(), own.end()};
  }
  void set_buffers(std::size_t row, std::span<const float> values) override {
    std::ranges::copy(values, own_buffers(row).begin());
  }

  std::vector<float> estimate_buffers(std::span<const float> model) const override {
    std::vector<float> estimate(network_.buffers().dim());
    if (estimate.empty()) return estimate;
    assert(share_.extra.size() == kStatisticsBatches * batch());
    network_.initialize_buffers(estimate);
    workers_.with_one([&](Worker& worker) {
      for (std::size_t k = 0; k < kStatisticsBatches; ++k) {
        const Random augment(seed_, Purpose::kAugment, kStatisticsId,
                             static_cast<std::uint32_t>(k));
        for (std::size_t slot = 0; slot < batch(); ++slot) {
          augmentation_->read(dataset_, dataset_.train, share_.extra[k * batch() + slot], augment,
                              slot, image(worker, slot));
        }
        worker.plan->observe(model, estimate, 1 / static_cast<double>(k + 1));
      }
    });
    return estimate;
  }

  std::span<const Metric> metrics() const override { return {&kAccuracy, 1}; }

  Score evaluate(std::span<const float> model, std::span<const float> buffers) const override {
    assert(model.size() == layout().dim() && buffers.size() == buffer_layout().dim());
    Score score;
    workers_.with_one([&](Worker& worker) {
      const Verdicts test = evaluate_on(dataset_.test, worker, model, buffers);
      score.loss = test.loss;
      score.values = {test.accuracy};
      if (dataset_.validation.size() == 0) return;
      const Verdicts held_out = evaluate_on(dataset_.validation, worker, model, buffers);
      score.validation_loss = held_out.loss;
      score.validation_values = {held_out.accuracy};
    });
    return score;
  }

  std::vector<Score> scores(backend::ConstBlock at) override {
    return evaluate_rows(*this, at, pool_);
  }

  std::vector<std::vector<std::size_t>> class_counts() const override {
    return share_.class_counts;
  }

  std::vector<std::string> class_names() const override { return dataset_.class_names; }
  std::string data_sha256() const override { return share_.sha256(); }

  void state(backend::StateList& list) override { list.per_peer("buffers", buffers_); }

 private:
  struct Verdicts {
    double loss, accuracy;
  };

  std::uint32_t peer(std::size_t row) const { return static_cast<std::uint32_t>(first_ + row); }

  /// The minibatch of that round to the worker's labels and images.
  void read_batch(std::size_t row, std::uint32_t round, Worker& worker) {
    batches_.read(row, round, worker.samples);
    const Random augment(seed_, Purpose::kAugment, peer(row), round);
    for (std::size_t k = 0; k < batch(); ++k) {
      const std::uint32_t sample = share_.parts[row][worker.samples[k]];
      worker.labels[k] = dataset_.train.labels[sample];
      augmentation_->read(dataset_, dataset_.train, sample, augment, k, image(worker, k));
    }
  }

  Verdicts evaluate_on(const data::Samples& samples, Worker& worker, std::span<const float> model,
                       std::span<const float> buffers) const {
    const std::size_t classes = network_.classes();
    double loss = 0;
    std::size_t right = 0;
    for (std::size_t begin = 0; begin < samples.size(); begin += batch()) {
      const std::size_t count = std::min(batch(), samples.size() - begin);
      for (std::size_t k = 0; k < batch(); ++k) {  // a batch that is not full repeats its last
        data::read_sample(dataset_, samples, begin + std::min(k, count - 1), image(worker, k));
      }
      worker.plan->logits(model, buffers, worker.logits);
      for (std::size_t k = 0; k < count; ++k) {
        const std::span<const float> row(worker.logits.data() + k * classes, classes);
        const Verdict verdict = judge(row, samples.labels[begin + k]);
        loss += verdict.loss;
        right += verdict.right;
      }
    }
    const auto count = static_cast<double>(samples.size());
    return {loss / count, 100 * static_cast<double>(right) / count};
  }

  std::span<float> image(Worker& worker, std::size_t k) const {
    return worker.plan->images().subspan(k * dataset_.features(), dataset_.features());
  }
  std::span<float> own_buffers(std::size_t row) const {
    return buffers_.empty() ? std::span<float>() : buffers_.row(row);
  }

  data::Share share_;
  const data::Dataset& dataset_;  ///< the share's
  model::Network network_;
  std::unique_ptr<data::Augmentation> augmentation_;
  std::size_t first_, rows_;
  std::uint64_t seed_;
  ThreadPool& pool_;
  Batches batches_;
  mutable IdleWorkers workers_;
  backend::Array buffers_;
};

}  // namespace

std::unique_ptr<Objective> make_classifier(data::Share share, model::Network network,
                                           std::unique_ptr<data::Augmentation> augmentation,
                                           const ObjectiveContext& context) {
  if (context.batch == 0) throw InvalidArgument("[batch] must be at least 1, got 0");
  return std::make_unique<Classifier>(std::move(share), std::move(network), std::move(augmentation),
                                      context);
}

}  // namespace hearsay::engine
