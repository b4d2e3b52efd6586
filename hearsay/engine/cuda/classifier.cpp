#include "hearsay/engine/cuda/classifier.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <mutex>
#include <optional>

#include "hearsay/core/error.h"
#include "hearsay/engine/batches.h"
#include "hearsay/engine/cuda/batch_reader.h"
#include "hearsay/engine/cuda/evaluator.h"

namespace hearsay::engine::cuda {

namespace {

using backend::Block;
using backend::ConstBlock;
using backend::cuda::Memory;

/// The addresses of a block's rows.
template <class Float>
std::vector<Float*> rows_of(const backend::BasicBlock<Float>& block, std::size_t rows) {
  std::vector<Float*> addresses(rows, nullptr);
  if (block.data == nullptr) return addresses;
  for (std::size_t i = 0; i < rows; ++i) addresses[i] = block.row(i).data();
  return addresses;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Room for the minibatches of some rows, and the network that trains on them.
struct Minibatches {
  Minibatches(const model::Network& network, std::size_t rows, std::size_t batch, Plan::Use use,
              backend::cuda::Context& context)
      : plan(network, rows, batch, use, context), slots(rows * batch) {}

  void read(const ImageReader& from, backend::cuda::Context& context) {
    from.read(context.tape, context.precision, slots.data(), plan.images(), plan.labels());
  }

  Plan plan;
  Memory<Slot> slots;
};

class CudaClassifier final : public Objective {
 public:
  CudaClassifier(data::Share share, model::Network network, const data::Augmentation& augmentation,
                 const ObjectiveContext& context)
      : share_(std::move(share)),
        dataset_(*share_.dataset),
        network_(std::move(network)),
        model_(context.model),
        kernels_(context.kernels),
        context_(backend::cuda::context_of(context.kernels)),
        first_(context.first),
        rows_(context.rows),
        seed_(context.seed),
        batch_(context.batch),
        pool_(context.pool),
        train_(dataset_, dataset_.train),
        test_(dataset_, dataset_.test),
        validation_(dataset_, dataset_.validation),
        reader_({share_.parts.begin(), share_.parts.end()}, batch_, dataset_,
                augmentation.recipe()) {
    if (const std::size_t dim = network_.buffers().dim(); dim > 0) {
      std::vector<float> start(dim);
      network_.initialize_buffers(start);
      buffers_ = kernels_.allocate(rows_, dim);
      for (std::size_t i = 0; i < rows_; ++i) kernels_.upload(start, buffers_, i);
    }
    minibatches(rows_);  // what cannot be compiled fails here, before the first round
  }

  ~CudaClassifier() override {
    // What is on the tape may use the memory that is freed now.
    try {
      context_.tape.submit();
    } catch (const RunFailed&) {  // every later call on the device says so too
    }
  }
  CudaClassifier(const CudaClassifier&) = delete;
  CudaClassifier& operator=(const CudaClassifier&) = delete;

  const Layout& layout() const override { return network_.layout(); }
  const model::Network* network() const override { return &network_; }
  std::uint64_t rounds_per_epoch() const override {
    return (share_.parts.front().size() + batch_ - 1) / batch_;
  }
  std::size_t batch() const override { return batch_; }

  void initial_model(std::uint32_t /*peer*/, std::span<float> x) const override {
    network_.initialize(seed_, x, &pool_);
  }
  bool starts_alike() const override { return true; }

  void gradients(std::uint32_t round, ConstBlock at, Block out, std::span<double> losses) override {
    const GradientRequest request{this, round, at, out, losses};
    compute({&request, 1});
  }

  void gradients_together(std::span<const GradientRequest> requests) override {
    const bool alike = std::ranges::all_of(requests, [&](const GradientRequest& request) {
      const auto* other = dynamic_cast<const CudaClassifier*>(request.objective);
      return other != nullptr && is_like(*other);
    });
    alike ? compute(requests) : Objective::gradients_together(requests);
  }

  void observe(std::uint32_t round, ConstBlock at) override {
    if (buffers_.empty()) return;
    Minibatches& batches = minibatches(rows_);
    reader_.pick(context_.tape, keys(round), batches.slots.data());
    batches.read(train_, context_);
    batches.plan.observe(rows_of(at, rows_), rows_of(buffers_.block(), rows_),
                         model::BatchNorm::kMomentum);
  }

  const Layout& buffer_layout() const override { return network_.buffers(); }
  std::vector<float> buffers(std::size_t row) const override {
    std::vector<float> values(buffer_layout().dim());
    if (!values.empty()) kernels_.download(buffers_, row, values);
    return values;
  }
  void set_buffers(std::size_t row, std::span<const float> values) override {
    if (!values.empty()) kernels_.upload(values, buffers_, row);
  }

  std::vector<float> estimate_buffers(std::span<const float> model) const override {
    std::vector<float> estimate(buffer_layout().dim());
    if (estimate.empty()) return estimate;
    assert(share_.extra.size() == kStatisticsBatches * batch_);
    network_.initialize_buffers(estimate);
    const std::lock_guard lock(mutex_);
    place_guest(model, estimate);
    if (!samples_) {
      samples_ = std::make_unique<Minibatches>(network_, 1, batch_, Plan::Use::kForward, context_);
    }
    for (std::size_t k = 0; k < kStatisticsBatches; ++k) {
      const StreamKey key{seed_, kStatisticsId, static_cast<std::uint32_t>(k)};
      reader_.pick(context_.tape, key, std::span(share_.extra).subspan(k * batch_, batch_),
                   samples_->slots.data());
      samples_->read(train_, context_);
      samples_->plan.observe(rows_of(ConstBlock(guest_), 1), rows_of(guest_buffers_.block(), 1),
                             1 / static_cast<double>(k + 1));
      context_.tape.submit();
    }
    kernels_.download(guest_buffers_, 0, estimate);
    return estimate;
  }

  std::span<const Metric> metrics() const override { return {&kAccuracy, 1}; }

  Score evaluate(std::span<const float> model, std::span<const float> buffers) const override {
    assert(model.size() == layout().dim() && buffers.size() == buffer_layout().dim());
    const std::lock_guard lock(mutex_);
    place_guest(model, buffers);
    return score_rows(one_, guest_, guest_buffers_).front();
  }

  std::vector<Score> scores(ConstBlock at) override {
    const std::lock_guard lock(mutex_);
    return score_rows(all_, at, buffers_);
  }

  std::vector<std::vector<std::size_t>> class_counts() const override {
    return share_.class_counts;
  }
  std::vector<std::string> class_names() const override { return dataset_.class_names; }
  std::string data_sha256() const override {
    return share_.whole_sha256.empty() ? held_sha256() : share_.whole_sha256;
  }

  void state(backend::StateList& list) override { list.per_peer("buffers", buffers_); }

 private:
  std::vector<StreamKey> keys(std::uint32_t round) const {
    std::vector<StreamKey> keys;
    for (std::size_t i = 0; i < rows_; ++i) {
      keys.push_back({seed_, static_cast<std::uint32_t>(first_ + i), round});
    }
    return keys;
  }

  /// Of what is held of the dataset.
  std::string held_sha256() const {
    std::call_once(hashed_, [&] { sha256_ = data::sha256_of(dataset_); });
    return sha256_;
  }

  /// Whether the other's rows may be computed among this one's.
  bool is_like(const CudaClassifier& other) const {
    const auto shapes = [](const Segment& a, const Segment& b) { return a.shape == b.shape; };
    return &other == this ||
           (&context_ == &other.context_ && model_ == other.model_ && batch_ == other.batch_ &&
            std::ranges::equal(layout().segments(), other.layout().segments(), shapes) &&
            (share_.dataset == other.share_.dataset || held_sha256() == other.held_sha256()));
  }

  Minibatches& minibatches(std::size_t rows) {
    auto& there = minibatches_[rows];
    if (!there) {
      context_.tape.submit();                              // which may use what is freed now
      std::erase_if(minibatches_, [&](const auto& kept) {  // of a fleet that is smaller by now
        return kept.first != rows_ && kept.first != rows;
      });
      there = std::make_unique<Minibatches>(network_, rows, batch_, Plan::Use::kTraining, context_);
    }
    return *there;
  }

  /// The gradients of objectives like this one, as rows of one bank.
  void compute(std::span<const GradientRequest> requests) {
    std::size_t rows = 0;
    for (const GradientRequest& request : requests) rows += request.at.rows;
    Minibatches& batches = minibatches(rows);
    std::vector<const float*> parameters;
    std::vector<float*> own, gradients;
    std::vector<double*> losses;
    std::vector<StreamKey> streams;
    for (const GradientRequest& request : requests) {
      auto& asked = static_cast<CudaClassifier&>(*request.objective);
      const std::vector<StreamKey> its_keys = asked.keys(request.round);
      asked.reader_.pick(context_.tape, its_keys, batches.slots.data() + streams.size() * batch_);
      append(streams, its_keys);
      append(parameters, rows_of(request.at, asked.rows_));
      append(own, rows_of(asked.buffers_.block(), asked.rows_));
      append(gradients, rows_of(request.out, asked.rows_));
      for (double& loss : request.losses) losses.push_back(&loss);
    }
    assert(losses.size() == rows && streams.size() == rows);
    batches.read(train_, context_);
    batches.plan.gradient(parameters, own, streams, gradients, losses);
  }

  /// A model from the host goes to a row of its own.
  void place_guest(std::span<const float> model, std::span<const float> buffers) const {
    if (guest_.empty()) {
      guest_ = kernels_.allocate(1, layout().dim());
      if (!buffers.empty()) guest_buffers_ = kernels_.allocate(1, buffers.size());
    }
    kernels_.upload(model, guest_, 0);
    if (!buffers.empty()) kernels_.upload(buffers, guest_buffers_, 0);
  }

  std::vector<Score> score_rows(std::unique_ptr<Evaluator>& evaluator, ConstBlock at,
                                ConstBlock own) const {
    if (!evaluator) {
      evaluator = std::make_unique<Evaluator>(network_, at.rows, test_.size(), context_);
    }
    const auto parameters = rows_of(at, at.rows), buffers = rows_of(own, at.rows);
    const auto judge_on = [&](const ImageReader& set) {
      constexpr std::size_t kFigures = sizeof(Verdict) / sizeof(double);
      const std::span<double> figures = kernels_.results<double>(kFigures * at.rows);
      std::ranges::fill(figures, 0.0);  // should the set be empty
      auto* room = reinterpret_cast<Verdict*>(figures.data());
      evaluator->judge_all(set, parameters, buffers, room);
      return room;
    };
    const Verdict* test = judge_on(test_);
    const Verdict* held_out = validation_.size() > 0 ? judge_on(validation_) : nullptr;
    kernels_.synchronize();
    std::vector<Score> scores(at.rows);
    for (std::size_t i = 0; i < at.rows; ++i) {
      const auto count = static_cast<double>(test_.size());
      scores[i].loss = test[i].loss / count;
      scores[i].values = {100 * test[i].right / count};
      if (held_out == nullptr) continue;
      const auto held = static_cast<double>(validation_.size());
      scores[i].validation_loss = held_out[i].loss / held;
      scores[i].validation_values = {100 * held_out[i].right / held};
    }
    return scores;
  }

  data::Share share_;
  const data::Dataset& dataset_;  ///< the share's
  model::Network network_;
  std::string model_;  ///< its spec
  backend::Kernels& kernels_;
  backend::cuda::Context& context_;
  std::size_t first_, rows_;
  std::uint64_t seed_;
  std::size_t batch_;
  ThreadPool& pool_;
  ImageReader train_, test_, validation_;
  BatchReader reader_;
  backend::Array buffers_;
  std::map<std::size_t, std::unique_ptr<Minibatches>> minibatches_;  ///< by the number of rows

  mutable std::once_flag hashed_;
  mutable std::string sha256_;

  mutable std::mutex mutex_;  ///< of what follows
  mutable backend::Array guest_, guest_buffers_;
  mutable std::unique_ptr<Minibatches> samples_;
  mutable std::unique_ptr<Evaluator> one_, all_;
};

}  // namespace

std::unique_ptr<Objective> make_cuda_classifier(data::Share share, model::Network network,
                                                std::unique_ptr<data::Augmentation> augmentation,
                                                const ObjectiveContext& context) {
  if (context.batch == 0) throw InvalidArgument("[batch] must be at least 1, got 0");
  return std::make_unique<CudaClassifier>(std::move(share), std::move(network), *augmentation,
                                          context);
}

}  // namespace hearsay::engine::cuda
