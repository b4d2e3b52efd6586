#include "hearsay/engine/plan.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <vector>

#include "hearsay/engine/cpu/arena.h"
#include "hearsay/engine/cpu/onednn.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine {

namespace cpu {

namespace {

using model::Network;
using model::Operation;
using model::Value;

/// One operation with those that are done in the same pass: a following addition and relu.
struct Fused {
  Value operation;
  Value output;                   ///< the value of the last operation fused
  std::optional<Value> residual;  ///< of an addition
  bool relu = false;
};

/// Which operations can be followed by an addition or a relu in the same step.
bool takes_residual(const model::Kind& kind) {
  return std::holds_alternative<model::BatchNorm>(kind) ||
         std::holds_alternative<model::GroupNorm>(kind) ||
         std::holds_alternative<model::EvoNorm>(kind) ||
         std::holds_alternative<model::RangeEvoNorm>(kind);
}
bool takes_relu(const model::Kind& kind) {
  return std::holds_alternative<model::Conv2d>(kind) ||
         std::holds_alternative<model::Linear>(kind) ||
         std::holds_alternative<model::BatchNorm>(kind) ||
         std::holds_alternative<model::GroupNorm>(kind) || std::holds_alternative<model::Add>(kind);
}

std::vector<std::vector<Value>> readers_of(const Network& net) {
  std::vector<std::vector<Value>> readers(net.operations().size());
  for (Value v = 0; v < net.operations().size(); ++v) {
    for (Value input : net.operations()[v].inputs) readers[input].push_back(v);
  }
  return readers;
}

/// The steps of a network. An operation is fused into the one before if nobody else reads that
/// one's value; an addition, if its other term is made before.
std::vector<Fused> fuse(const Network& net) {
  const auto readers = readers_of(net);
  const auto& operations = net.operations();
  std::vector<bool> done(operations.size(), false);
  std::vector<Fused> steps;
  for (Value v = 1; v < operations.size(); ++v) {
    if (done[v]) continue;
    Fused step{.operation = v, .output = v, .residual = {}, .relu = false};
    const auto only_reader = [&]() -> std::optional<Value> {
      if (readers[step.output].size() != 1) return {};
      return readers[step.output].front();
    };
    const auto take = [&](Value next) {
      done[next] = true;
      step.output = next;
    };
    if (std::holds_alternative<model::Add>(operations[v].kind)) {
      step.residual = operations[v].inputs[1];
    } else if (const auto next = only_reader();
               next && takes_residual(operations[v].kind) &&
               std::holds_alternative<model::Add>(operations[*next].kind)) {
      const auto& inputs = operations[*next].inputs;
      const Value other = inputs[0] == v ? inputs[1] : inputs[0];
      if (other < v) {
        step.residual = other;
        take(*next);
      }
    }
    if (const auto next = only_reader();
        next && takes_relu(operations[v].kind) &&
        std::holds_alternative<model::Relu>(operations[*next].kind)) {
      step.relu = true;
      take(*next);
    }
    steps.push_back(step);
  }
  return steps;
}

/// Makes the step of an operation, by kind.
struct Maker {
  const Site& site;

  std::unique_ptr<Step> operator()(const model::Input&) const { return nullptr; }
  std::unique_ptr<Step> operator()(const model::Conv2d& c) const { return make_conv2d(c, site); }
  std::unique_ptr<Step> operator()(const model::Linear& l) const { return make_linear(l, site); }
  std::unique_ptr<Step> operator()(const model::BatchNorm&) const { return make_batch_norm(site); }
  std::unique_ptr<Step> operator()(const model::GroupNorm& n) const {
    return make_group_norm(n, site);
  }
  std::unique_ptr<Step> operator()(const model::LayerNorm&) const { return make_layer_norm(site); }
  std::unique_ptr<Step> operator()(const model::EvoNorm& n) const { return make_evo_norm(n, site); }
  std::unique_ptr<Step> operator()(const model::RangeEvoNorm& n) const {
    return make_range_evo_norm(n, site);
  }
  std::unique_ptr<Step> operator()(const model::Relu&) const { return make_relu(site); }
  std::unique_ptr<Step> operator()(const model::HardSigmoid&) const {
    return make_hard_sigmoid(site);
  }
  std::unique_ptr<Step> operator()(const model::Gelu&) const { return make_gelu(site); }
  std::unique_ptr<Step> operator()(const model::Add&) const { return make_add(site); }
  std::unique_ptr<Step> operator()(const model::Shortcut&) const { return make_shortcut(site); }
  std::unique_ptr<Step> operator()(const model::MaxPool& p) const { return make_max_pool(p, site); }
  std::unique_ptr<Step> operator()(const model::AveragePool& p) const {
    return make_average_pool(p, site);
  }
  std::unique_ptr<Step> operator()(const model::GlobalAveragePool&) const {
    return make_global_average_pool(site);
  }
  std::unique_ptr<Step> operator()(const model::Dropout& d) const { return make_dropout(d, site); }
  std::unique_ptr<Step> operator()(const model::Flatten&) const { return make_copy(site); }
};

class CpuPlan final : public Plan {
 public:
  CpuPlan(const Network& net, std::size_t batch) : batch_(batch) {
    const OneThread one_thread;
    const std::vector<Fused> fused = fuse(net);
    lay_out(net);
    for (const Fused& step : fused) add_step(net, step);
    logits_ = &tensors_[net.operations().size() - 1];
    assert(logits_->shape.pixels() == 1);
    if (logits_->tiles.block != logits_->shape.channels) {
      logits_ = copy_of(*logits_, logits_->shape.channels);
    }
    place();
  }

  std::size_t batch() const override { return batch_; }
  std::size_t arena_bytes() const override { return arena_.bytes(); }
  std::span<float> images() override {
    return {tensors_[0].data, batch_ * tensors_[0].shape.size()};
  }

  double gradient(std::span<const float> parameters, std::span<float> buffers,
                  std::span<const std::uint16_t> labels, const Random& random,
                  std::span<float> gradient) override {
    const OneThread one_thread;
    const Call call{.parameters = parameters.data(),
                    .buffers = buffers.data(),
                    .new_buffers = buffers.data(),
                    .gradient = gradient.data(),
                    .momentum = model::BatchNorm::kMomentum,
                    .training = true,
                    .random = &random};
    forward(call);
    for (Tensor& tensor : tensors_) tensor.contributions = 0;
    const double loss = cross_entropy(labels);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      (*step)->backward(call, scratch_);
    }
    return loss;
  }

  void logits(std::span<const float> parameters, std::span<const float> buffers,
              std::span<float> logits) override {
    const OneThread one_thread;
    forward({.parameters = parameters.data(), .buffers = buffers.data()});
    std::copy_n(logits_->data, logits.size(), logits.data());
  }

  void observe(std::span<const float> parameters, std::span<float> buffers,
               double momentum) override {
    const OneThread one_thread;
    forward({.parameters = parameters.data(),
             .buffers = buffers.data(),
             .new_buffers = buffers.data(),
             .momentum = momentum,
             .training = true});
  }

 private:
  /// When a tensor is written and read: places in the list of steps, for the arena.
  struct Life {
    std::size_t made = 0;               ///< the step that writes it; 0 for the images too
    std::vector<std::size_t> read{};    ///< by steps, ascending
    std::vector<std::size_t> reread{};  ///< on the way back
    Tensor* shares_gradient = nullptr;  ///< its gradient is that tensor's, in the same memory
  };

  Tensor& new_tensor(const model::Shape& shape, std::size_t block) {
    tensors_.push_back({.shape = shape,
                        .tiles = {batch_, shape.channels, shape.pixels(), block},
                        .data = nullptr,
                        .gradient = nullptr,
                        .also = nullptr,
                        .contributions = 0});
    lives_.emplace_back();
    return tensors_.back();
  }

  Life& life(const Tensor* tensor) {
    return lives_[static_cast<std::size_t>(tensor - tensors_.data())];
  }

  /// Give every value its tensor. Images that only feed convolutions with few channels, or are
  /// flattened at once, stay plain; vectors are plain; all else lies in oneDNN's blocks.
  void lay_out(const Network& net) {
    const auto& operations = net.operations();
    tensors_.reserve(2 * operations.size() + 2);  // with copies in other layouts; pointers stay
    for (Value v = 0; v < operations.size(); ++v) {
      const Operation& op = operations[v];
      const auto is = [&](auto kind) { return std::holds_alternative<decltype(kind)>(op.kind); };
      std::size_t block = preferred_block();
      if (v == 0) {
        block = 1;
      } else if (is(model::Linear{}) || is(model::Flatten{}) || is(model::GlobalAveragePool{})) {
        block = op.shape.channels;
      } else if (!is(model::Conv2d{}) && op.inputs[0] != 0) {
        block = tensors_[op.inputs[0]].tiles.block;
      }
      new_tensor(op.shape, block);
    }
  }

  /// The tensor that an operation reads for `value`, copied into another layout if it needs one.
  Tensor* input_of(const Network& net, const Operation& op, Value value) {
    Tensor& tensor = tensors_[value];
    if (std::holds_alternative<model::Linear>(op.kind)) {
      return tensor.tiles.block == tensor.shape.channels ? &tensor
                                                         : copy_of(tensor, tensor.shape.channels);
    }
    constexpr std::size_t kFewChannels = 3;  // oneDNN reads so few best from plain images
    const bool plain_is_fine =
        std::holds_alternative<model::Flatten>(op.kind) ||
        std::holds_alternative<model::GlobalAveragePool>(op.kind) ||
        (std::holds_alternative<model::Conv2d>(op.kind) && net.shape(0).channels <= kFewChannels);
    if (value != 0 || plain_is_fine) return &tensor;
    if (blocked_images_ == nullptr) blocked_images_ = copy_of(tensor, preferred_block());
    return blocked_images_;
  }

  Tensor* copy_of(Tensor& tensor, std::size_t block) {
    Tensor& copy = new_tensor(tensor.shape, block);
    append(make_copy({.x = &tensor, .y = &copy}), {&tensor}, copy);
    return &copy;
  }

  void add_step(const Network& net, const Fused& fused) {
    const Operation& op = net.operations()[fused.operation];
    Site site{.index = fused.operation,
              .x = input_of(net, op, op.inputs[0]),
              .y = &tensors_[fused.output],
              .residual = fused.residual ? input_of(net, op, *fused.residual) : nullptr,
              .relu = fused.relu};
    for (std::size_t k = 0; k < op.parameters.size(); ++k) {
      site.places.parameter[k] = net.layout().segments()[op.parameters[k]].offset;
    }
    for (std::size_t k = 0; k < op.buffers.size(); ++k) {
      site.places.buffer[k] = net.buffers().segments()[op.buffers[k]].offset;
    }
    std::vector<Tensor*> inputs{site.x};
    if (site.residual) inputs.push_back(site.residual);
    append(std::visit(Maker{site}, op.kind), inputs, *site.y);
    // The gradient of a sum is that of each term. The term added last hands its memory on if it is
    // this step that writes that gradient first, on the way back.
    if (site.residual) life(site.residual).shares_gradient = site.y;
  }

  void append(std::unique_ptr<Step> step, const std::vector<Tensor*>& inputs, Tensor& output) {
    const std::size_t index = steps_.size();
    const Demands demands = step->demands();
    life(&output).made = index;
    if (demands.output_in_backward) life(&output).reread.push_back(index);
    for (Tensor* input : inputs) {
      Life& of_input = life(input);
      of_input.read.push_back(index);
      if (demands.input_in_backward) of_input.reread.push_back(index);
      // A later reader writes the first gradient, so what was shared no longer is.
      of_input.shares_gradient = nullptr;
    }
    scratch_bytes_ = std::max(scratch_bytes_, demands.scratch_bytes);
    steps_.push_back(std::move(step));
  }

  /// Times: step k goes forward at k, the loss is at K, step k goes back at 2K - k.
  void place() {
    const std::size_t count = steps_.size();
    const auto back = [&](std::size_t step) { return 2 * count - step; };
    struct Wanted {
      std::size_t data, gradient, also;
      bool has_gradient, has_also;
    };
    std::vector<Wanted> wanted(tensors_.size());
    std::vector<std::size_t> gradient_end(tensors_.size(), 0);
    const auto index_of = [&](const Tensor* t) {
      return static_cast<std::size_t>(t - &tensors_[0]);
    };
    // How long a gradient's memory is needed: until its maker has used it, and whoever shares it.
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      std::size_t end = back(lives_[i].made);
      std::size_t owner = i;
      while (lives_[owner].shares_gradient) {
        owner = index_of(lives_[owner].shares_gradient);
        gradient_end[owner] = std::max(gradient_end[owner], end);
      }
      gradient_end[i] = std::max(gradient_end[i], end);
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Life& life = lives_[i];
      const bool used = &tensors_[i] == logits_ || !life.read.empty();
      if (!used) continue;  // inside a fused step
      std::size_t last = life.made;
      for (std::size_t step : life.read) last = std::max(last, step);
      for (std::size_t step : life.reread) last = std::max(last, back(step));
      if (&tensors_[i] == logits_) last = std::max(last, count);
      const std::size_t bytes = tensors_[i].tiles.size() * sizeof(float);
      wanted[i].data = arena_.request(bytes, i == 0 ? 0 : life.made, last);
      wanted[i].has_gradient = i != 0 && &tensors_[i] != blocked_images_;
      if (!wanted[i].has_gradient) continue;
      const std::size_t begin = life.read.empty() ? count : back(life.read.back());
      if (!life.shares_gradient) wanted[i].gradient = arena_.request(bytes, begin, gradient_end[i]);
      wanted[i].has_also = life.read.size() > 1;
      if (wanted[i].has_also) {
        const std::size_t second = back(life.read[life.read.size() - 2]);
        wanted[i].also = arena_.request(bytes, second, back(life.made));
      }
    }
    const std::size_t scratch = arena_.request(scratch_bytes_, 0, 2 * count);
    arena_.allocate();
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      Tensor& tensor = tensors_[i];
      if (&tensor != logits_ && lives_[i].read.empty()) continue;
      tensor.data = arena_.at(wanted[i].data);
      if (!wanted[i].has_gradient) continue;
      std::size_t owner = i;
      while (lives_[owner].shares_gradient) owner = index_of(lives_[owner].shares_gradient);
      tensor.gradient = arena_.at(wanted[owner].gradient);
      if (wanted[i].has_also) tensor.also = arena_.at(wanted[i].also);
    }
    scratch_ = reinterpret_cast<std::byte*>(arena_.at(scratch));
  }

  void forward(const Call& call) {
    for (const auto& step : steps_) step->forward(call, scratch_);
  }

  /// The mean over the batch of ln sum_k exp(l_k) - l_label; its gradient goes to the logits.
  double cross_entropy(std::span<const std::uint16_t> labels) {
    const std::size_t classes = logits_->shape.size();
    float* slope = logits_->next_gradient();
    const double share = 1 / static_cast<double>(batch_);
    double loss = 0;
    for (std::size_t n = 0; n < batch_; ++n) {
      const float* row = logits_->data + n * classes;
      const double most = static_cast<double>(*std::max_element(row, row + classes));
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(row[k]) - most);
      loss += std::log(sum) + most - static_cast<double>(row[labels[n]]);
      for (std::size_t k = 0; k < classes; ++k) {
        const double p = std::exp(static_cast<double>(row[k]) - most) / sum;
        slope[n * classes + k] = static_cast<float>((p - (k == labels[n] ? 1.0 : 0.0)) * share);
      }
    }
    return loss * share;
  }

  std::size_t batch_;
  std::vector<Tensor> tensors_;  ///< one a value of the network, then copies in other layouts
  std::vector<Life> lives_;      ///< of each tensor
  std::vector<std::unique_ptr<Step>> steps_;
  Tensor* blocked_images_ = nullptr;
  Tensor* logits_ = nullptr;
  Arena arena_;
  std::size_t scratch_bytes_ = 0;
  std::byte* scratch_ = nullptr;
};

}  // namespace

}  // namespace cpu

std::unique_ptr<Plan> make_cpu_plan(const model::Network& network, std::size_t batch) {
  assert(batch > 0);
  return std::make_unique<cpu::CpuPlan>(network, batch);
}

}  // namespace hearsay::engine
