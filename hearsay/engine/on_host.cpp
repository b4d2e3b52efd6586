#include "hearsay/engine/on_host.h"

#include <algorithm>

#include "hearsay/model/description.h"

namespace hearsay::engine {

namespace {

/// m rows in host memory.
class Rows {
 public:
  Rows(std::size_t rows, std::size_t dim) : values_(rows * dim), rows_(rows), dim_(dim) {}

  backend::Block block() { return {values_.data(), rows_, dim_}; }

  backend::ConstBlock from(backend::ConstBlock device, backend::Kernels& kernels) {
    for (std::size_t i = 0; i < rows_; ++i) kernels.download(device, i, block().row(i));
    return block();
  }
  void to(backend::Block device, backend::Kernels& kernels) {
    for (std::size_t i = 0; i < rows_; ++i) kernels.upload(block().row(i), device, i);
  }

 private:
  std::vector<float> values_;
  std::size_t rows_, dim_;
};

class OnHost final : public Objective {
 public:
  OnHost(std::unique_ptr<Objective> objective, const ObjectiveContext& context)
      : objective_(std::move(objective)),
        kernels_(context.kernels),
        rows_(context.rows),
        at_(rows_, layout().dim()),
        gradient_(rows_, layout().dim()) {
    if (buffer_layout().dim() == 0) return;
    buffers_ = kernels_.allocate(rows_, buffer_layout().dim());
    keep_buffers();
  }

  const Layout& layout() const override { return objective_->layout(); }
  std::uint64_t rounds_per_epoch() const override { return objective_->rounds_per_epoch(); }
  std::size_t batch() const override { return objective_->batch(); }

  void initial_model(std::uint32_t peer, std::span<float> x) const override {
    objective_->initial_model(peer, x);
  }
  bool starts_alike() const override { return objective_->starts_alike(); }

  void gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                 std::span<double> losses) override {
    take_buffers();
    objective_->gradients(round, at_.from(at, kernels_), gradient_.block(), losses);
    gradient_.to(out, kernels_);
    keep_buffers();
  }

  void observe(std::uint32_t round, backend::ConstBlock at) override {
    if (buffers_.empty()) return;
    take_buffers();
    objective_->observe(round, at_.from(at, kernels_));
    keep_buffers();
  }

  const Layout& buffer_layout() const override { return objective_->buffer_layout(); }
  std::vector<float> buffers(std::size_t row) const override {
    std::vector<float> copy(buffer_layout().dim());
    if (!copy.empty()) kernels_.download(buffers_, row, copy);
    return copy;
  }
  void set_buffers(std::size_t row, std::span<const float> values) override {
    if (!buffers_.empty()) kernels_.upload(values, buffers_, row);
  }
  std::vector<float> estimate_buffers(std::span<const float> model) const override {
    return objective_->estimate_buffers(model);
  }

  std::span<const Metric> metrics() const override { return objective_->metrics(); }
  Score evaluate(std::span<const float> model, std::span<const float> buffers) const override {
    return objective_->evaluate(model, buffers);
  }
  std::vector<Score> scores(backend::ConstBlock at) override {
    take_buffers();
    return objective_->scores(at_.from(at, kernels_));
  }

  const model::Network* network() const override { return objective_->network(); }
  std::optional<model::Description> description() const override {
    return objective_->description();
  }
  std::vector<std::vector<std::size_t>> class_counts() const override {
    return objective_->class_counts();
  }
  std::vector<std::string> class_names() const override { return objective_->class_names(); }
  TargetScale target_scale() const override { return objective_->target_scale(); }
  std::string data_sha256() const override { return objective_->data_sha256(); }
  void state(backend::StateList& list) override {
    if (!buffers_.empty()) list.per_peer("buffers", buffers_);
  }
  std::span<const double> optimum() const override { return objective_->optimum(); }

 private:
  // The buffers that a checkpoint must contain are kept on the device, where checkpoints read them.
  void take_buffers() {
    if (buffers_.empty()) return;
    for (std::size_t i = 0; i < rows_; ++i) objective_->set_buffers(i, buffers(i));
  }
  void keep_buffers() {
    if (buffers_.empty()) return;
    for (std::size_t i = 0; i < rows_; ++i) kernels_.upload(objective_->buffers(i), buffers_, i);
  }

  std::unique_ptr<Objective> objective_;
  backend::Kernels& kernels_;
  std::size_t rows_;
  Rows at_, gradient_;
  backend::Array buffers_;  ///< empty if the model has none
};

}  // namespace

std::unique_ptr<Objective> on_host(std::unique_ptr<Objective> objective,
                                   const ObjectiveContext& context) {
  if (context.kernels.on_host()) return objective;
  return std::make_unique<OnHost>(std::move(objective), context);
}

}  // namespace hearsay::engine
