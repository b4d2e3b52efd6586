#include "hearsay/engine/network_objective.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <mutex>

#include "hearsay/core/error.h"
#include "hearsay/data/conform.h"
#include "hearsay/data/targets.h"
#include "hearsay/engine/batches.h"
#include "hearsay/engine/on_host.h"
#include "hearsay/engine/plan.h"

namespace hearsay::engine {

namespace {

using backend::Block;
using backend::ConstBlock;

/// An array in host memory as a block of one row.
template <class Float>
backend::BasicBlock<Float> one_row(std::span<Float> values) {
  if (values.empty()) return {};
  return {values.data(), 1, values.size()};
}

class NetworkObjective final : public Objective {
 public:
  NetworkObjective(data::Share share, model::Network network,
                   std::unique_ptr<data::Augmentation> augmentation, const Loss& loss,
                   const ObjectiveContext& context, decltype(&make_cpu_bank) make_bank)
      : share_(std::move(share)),
        dataset_(*share_.dataset),
        network_(std::move(network)),
        augmentation_(std::move(augmentation)),
        model_(context.model),
        loss_(loss),
        loss_name_(context.loss == "auto" ? default_loss(dataset_.task()) : context.loss),
        first_(context.first),
        rows_(context.rows),
        seed_(context.seed),
        batch_(context.batch),
        pool_(context.pool),
        bank_(make_bank(network_, share_, *augmentation_, loss_, context)),
        kernels_(bank_->kernels()) {
    if (const std::size_t dim = network_.buffers().dim(); dim > 0) {
      std::vector<float> start(dim);
      network_.initialize_buffers(start);
      buffers_ = kernels_.allocate(rows_, dim);
      for (std::size_t i = 0; i < rows_; ++i) kernels_.upload(start, buffers_, i);
    }
    if (loss_.of_numbers()) {
      test_squares_ = data::squared_deviations(dataset_.test);
      validation_squares_ = data::squared_deviations(dataset_.validation);
    }
    training_plan(rows_);  // an uncompilable network fails here, before the first round
  }

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
      const auto* other = dynamic_cast<const NetworkObjective*>(request.objective);
      return other != nullptr && is_like(*other);
    });
    alike ? compute(requests) : Objective::gradients_together(requests);
  }

  void observe(std::uint32_t round, ConstBlock at) override {
    if (buffers_.empty()) return;
    const std::vector<StreamKey> keys = keys_of(round);
    training_plan(rows_).observe({*bank_, keys}, at, buffers_, model::BatchNorm::kMomentum);
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
    network_.initialize_buffers(estimate);
    if (kernels_.on_host()) {
      estimate_on(one_row(model), one_row(std::span(estimate)));
      return estimate;
    }
    const std::lock_guard lock(guest_mutex_);
    place_guest(model, estimate);
    estimate_on(guest_, guest_buffers_);
    kernels_.download(guest_buffers_, 0, estimate);
    return estimate;
  }

  std::span<const Metric> metrics() const override {
    static constexpr Metric kOfClasses[] = {kAccuracy}, kOfNumbers[] = {kRmse, kR2};
    if (loss_.of_numbers()) return kOfNumbers;
    return kOfClasses;
  }

  Score evaluate(std::span<const float> model, std::span<const float> buffers) const override {
    assert(model.size() == layout().dim() && buffers.size() == buffer_layout().dim());
    if (kernels_.on_host()) {
      return score_rows(evaluation_of_one_, one_row(model), one_row(buffers)).front();
    }
    const std::lock_guard lock(guest_mutex_);
    place_guest(model, buffers);
    return score_rows(evaluation_of_one_, guest_, guest_buffers_).front();
  }

  std::vector<Score> scores(ConstBlock at) override {
    return score_rows(evaluation_of_all_, at, buffers_);
  }

  std::vector<std::vector<std::size_t>> class_counts() const override {
    return share_.class_counts;
  }
  std::optional<model::Description> description() const override {
    return data::describe(dataset_, model_, loss_name_);
  }
  std::vector<std::string> class_names() const override { return dataset_.class_names; }
  TargetScale target_scale() const override {
    return {dataset_.target_mean, dataset_.target_deviation};
  }
  std::string data_sha256() const override {
    return share_.whole_sha256.empty() ? held_sha256() : share_.whole_sha256;
  }

  void state(backend::StateList& list) override { list.per_peer("buffers", buffers_); }

 private:
  std::vector<StreamKey> keys_of(std::uint32_t round) const {
    std::vector<StreamKey> keys;
    keys.reserve(rows_);
    for (std::size_t i = 0; i < rows_; ++i) {
      keys.push_back({seed_, static_cast<std::uint32_t>(first_ + i), round});
    }
    return keys;
  }

  /// The hash of the part of the dataset that is held here.
  std::string held_sha256() const {
    std::call_once(hashed_, [&] { sha256_ = data::sha256_of(dataset_); });
    return sha256_;
  }

  /// Whether the other's rows may be computed in one pass with this one's.
  bool is_like(const NetworkObjective& other) const {
    const auto shapes = [](const Segment& a, const Segment& b) { return a.shape == b.shape; };
    return &other == this ||
           (&kernels_ == &other.kernels_ && model_ == other.model_ && loss_ == other.loss_ &&
            batch_ == other.batch_ &&
            std::ranges::equal(layout().segments(), other.layout().segments(), shapes) &&
            (share_.dataset == other.share_.dataset || held_sha256() == other.held_sha256()));
  }

  Plan& training_plan(std::size_t rows) {
    std::unique_ptr<Plan>& plan = training_plans_[rows];
    if (!plan) {
      std::erase_if(training_plans_, [&](const auto& kept) {  // of a fleet that has shrunk since
        return kept.first != rows_ && kept.first != rows;
      });
      plan = bank_->compile(rows, Plan::Use::kTraining);
    }
    return *plan;
  }

  /// The plan for that use, compiled on first use.
  Plan& compiled(std::unique_ptr<Plan>& plan, std::size_t rows, Plan::Use use) const {
    const std::lock_guard lock(compile_mutex_);
    if (!plan) plan = bank_->compile(rows, use);
    return *plan;
  }

  /// Computes the gradients of objectives for which is_like() holds, as rows of one pass.
  void compute(std::span<const GradientRequest> requests) {
    std::size_t rows = 0;
    std::vector<std::vector<StreamKey>> keys;
    std::vector<BankCall> banks;
    keys.reserve(requests.size());
    for (const GradientRequest& request : requests) {
      auto& asked = static_cast<NetworkObjective&>(*request.objective);
      keys.push_back(asked.keys_of(request.round));
      banks.push_back({.minibatches = {*asked.bank_, keys.back()},
                       .parameters = request.at,
                       .buffers = asked.buffers_,
                       .gradients = request.out,
                       .losses = request.losses});
      rows += request.at.rows;
    }
    training_plan(rows).gradients(banks);
  }

  /// Writes the mean of the statistics over the model's batches to `buffers`.
  void estimate_on(ConstBlock model, Block buffers) const {
    assert(share_.extra.size() == kStatisticsBatches * batch_);
    Plan& plan = compiled(statistics_, 1, Plan::Use::kStatistics);
    for (std::size_t k = 0; k < kStatisticsBatches; ++k) {
      const StreamKey key{seed_, kStatisticsId, static_cast<std::uint32_t>(k)};
      const auto samples = std::span(share_.extra).subspan(k * batch_, batch_);
      plan.observe({*bank_, {&key, 1}, samples}, model, buffers, 1 / static_cast<double>(k + 1));
      kernels_.submit();
    }
  }

  /// Uploads a model from the host to a row of its own on the device.
  void place_guest(std::span<const float> model, std::span<const float> buffers) const {
    if (guest_.empty()) {
      guest_ = kernels_.allocate(1, layout().dim());
      if (!buffers.empty()) guest_buffers_ = kernels_.allocate(1, buffers.size());
    }
    kernels_.upload(model, guest_, 0);
    if (!buffers.empty()) kernels_.upload(buffers, guest_buffers_, 0);
  }

  std::vector<Score> score_rows(std::unique_ptr<Plan>& plan, ConstBlock at, ConstBlock own) const {
    const Evaluation found =
        compiled(plan, at.rows, Plan::Use::kEvaluation).evaluate(*bank_, at, own);
    const auto count = static_cast<double>(dataset_.test.size());
    const auto held = static_cast<double>(dataset_.validation.size());
    std::vector<Score> scores(at.rows);
    for (std::size_t i = 0; i < at.rows; ++i) {
      scores[i].loss = found.test[i].loss / count;
      scores[i].values = values_of(found.test[i], dataset_.test, test_squares_);
      if (found.validation.empty()) continue;
      scores[i].validation_loss = found.validation[i].loss / held;
      scores[i].validation_values =
          values_of(found.validation[i], dataset_.validation, validation_squares_);
    }
    return scores;
  }

  /// The metrics from the sums over a set: the accuracy in percent, or RMSE and R2, where
  /// `squares` are the set's squared_deviations. R2 of a target that does not vary is 1 if it is
  /// met exactly, else 0.
  std::vector<double> values_of(const Totals& totals, const data::Samples& set,
                                const std::vector<double>& squares) const {
    const auto count = static_cast<double>(set.size());
    if (!loss_.of_numbers()) return {100 * totals.tallies[0] / count};
    double rmse = 0, r2 = 0;
    const auto width = static_cast<double>(squares.size());
    for (std::size_t k = 0; k < squares.size(); ++k) {
      const auto unit = static_cast<double>(dataset_.target_deviation[k]);
      const double errors = unit * unit * totals.tallies[k];
      rmse += std::sqrt(errors / count) / width;
      r2 += (squares[k] > 0 ? 1 - errors / squares[k] : errors == 0 ? 1.0 : 0.0) / width;
    }
    return {rmse, r2};
  }

  data::Share share_;
  const data::Dataset& dataset_;  ///< the share's
  model::Network network_;
  std::unique_ptr<data::Augmentation> augmentation_;
  std::string model_;  ///< the network's spec
  Loss loss_;
  std::string loss_name_;
  std::size_t first_, rows_;
  std::uint64_t seed_;
  std::size_t batch_;
  ThreadPool& pool_;
  std::unique_ptr<DeviceBank> bank_;
  backend::Kernels& kernels_;  ///< the bank's
  backend::Array buffers_;     ///< running statistics; empty if the network has none
  std::map<std::size_t, std::unique_ptr<Plan>> training_plans_;  ///< by the number of rows

  std::vector<double> test_squares_, validation_squares_;  ///< squared_deviations of a regression

  mutable std::once_flag hashed_;
  mutable std::string sha256_;

  mutable std::mutex compile_mutex_;  ///< guards the plans below
  mutable std::unique_ptr<Plan> statistics_, evaluation_of_one_, evaluation_of_all_;

  mutable std::mutex guest_mutex_;  ///< guards the arrays below
  mutable backend::Array guest_, guest_buffers_;
};

}  // namespace

std::unique_ptr<Objective> make_network_objective(data::Share share, model::Network network,
                                                  std::unique_ptr<data::Augmentation> augmentation,
                                                  const Loss& loss,
                                                  const ObjectiveContext& context) {
  if (context.batch == 0) throw InvalidArgument("[batch] must be at least 1, got 0");
  const bool cuda = context.kernels.device() == "cuda";
  auto objective = std::make_unique<NetworkObjective>(std::move(share), std::move(network),
                                                      std::move(augmentation), loss, context,
                                                      cuda ? make_cuda_bank : make_cpu_bank);
  if (cuda) return objective;
  return on_host(std::move(objective), context);
}

}  // namespace hearsay::engine
