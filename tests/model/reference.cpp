#include "model/reference.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "model/reference_step.h"

namespace hearsay::model {

namespace {

template <class T>
std::span<T> part(std::span<T> all, const Segment& segment) {
  return all.subspan(segment.offset, segment.size);
}

/// All values of one pass and their gradients.
class Pass {
 public:
  Pass(const Network& net, const Doubles& images)
      : net_(net), batch_(images.size() / net.shape(net.input()).size()) {
    assert(images.size() == batch_ * net.shape(net.input()).size());
    for (const Operation& operation : net.operations()) {
      values_.emplace_back(batch_ * operation.shape.size());
    }
    values_[net.input()] = images;
  }

  void run_forward(const Doubles& parameters, Doubles& buffers, bool training, double momentum,
                   const Dropped& dropped) {
    for (Value o = 0; o < values_.size(); ++o) {
      Step step = make_step(o, parameters, training, dropped);
      step.momentum = momentum;
      for (std::size_t i : net_.operations()[o].buffers) {
        step.buffers.push_back(part(std::span(buffers), net_.buffers().segments()[i]));
      }
      step.y = values_[o];
      std::visit([&](const auto& kind) { forward(kind, step); }, net_.operations()[o].kind);
    }
  }

  /// Computes the gradients of the parameters from that of the logits; returns that of the images.
  Doubles run_backward(const Doubles& parameters, const Dropped& dropped, const Doubles& top,
                       Doubles& gradient) {
    std::vector<Doubles> gradients;
    for (const Doubles& value : values_) gradients.emplace_back(value.size());
    gradients.back() = top;
    for (Value o = values_.size(); o-- > 0;) {
      Step step = make_step(o, parameters, true, dropped);
      step.dy = gradients[o];
      for (Value input : net_.operations()[o].inputs) step.dx.emplace_back(gradients[input]);
      for (std::size_t i : net_.operations()[o].parameters) {
        step.dw.push_back(part(std::span(gradient), net_.layout().segments()[i]));
      }
      std::visit([&](const auto& kind) { backward(kind, step); }, net_.operations()[o].kind);
    }
    return gradients[net_.input()];
  }

  const Doubles& logits() const { return values_.back(); }

 private:
  Step make_step(Value o, const Doubles& parameters, bool training, const Dropped& dropped) const {
    const Operation& operation = net_.operations()[o];
    Step step;
    step.index = o;
    step.batch = batch_;
    step.out = operation.shape;
    step.training = training;
    step.dropped = &dropped;
    for (Value input : operation.inputs) step.x.emplace_back(values_[input]);
    if (!operation.inputs.empty()) step.in = net_.shape(operation.inputs[0]);
    for (std::size_t i : operation.parameters) {
      step.w.push_back(part(std::span(parameters), net_.layout().segments()[i]));
    }
    return step;
  }

  const Network& net_;
  std::size_t batch_;
  std::vector<Doubles> values_;
};

/// The mean of -log softmax(logits)[label] over the samples; sets its gradient.
double cross_entropy(const Doubles& logits, std::span<const std::uint16_t> labels,
                     Doubles& gradient) {
  const std::size_t classes = logits.size() / labels.size();
  const double batch = static_cast<double>(labels.size());
  double loss = 0;
  for (std::size_t b = 0; b < labels.size(); ++b) {
    const std::span<const double> row = std::span(logits).subspan(b * classes, classes);
    const double largest = *std::ranges::max_element(row);
    double sum = 0;
    for (double logit : row) sum += std::exp(logit - largest);
    loss += (largest + std::log(sum) - row[labels[b]]) / batch;
    for (std::size_t k = 0; k < classes; ++k) {
      const double probability = std::exp(row[k] - largest) / sum;
      gradient[b * classes + k] = (probability - (k == labels[b] ? 1 : 0)) / batch;
    }
  }
  return loss;
}

/// The mean over samples and outputs of e^2, or of Huber's function of e; sets its gradient.
double mean_error(const Doubles& outputs, const Samples& samples, Doubles& gradient) {
  const double count = static_cast<double>(outputs.size());
  const bool huber = samples.loss.kind == engine::Loss::Kind::kHuber;
  const double delta = static_cast<double>(samples.loss.delta);
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double e = outputs[i] - static_cast<double>(samples.numbers[i]);
    if (!huber) {
      sum += e * e;
      gradient[i] = 2 * e / count;
    } else if (std::abs(e) <= delta) {
      sum += e * e / 2;
      gradient[i] = e / count;
    } else {
      sum += delta * (std::abs(e) - delta / 2);
      gradient[i] = std::copysign(delta, e) / count;
    }
  }
  return sum / count;
}

double loss_of(const Doubles& outputs, const Samples& samples, Doubles& gradient) {
  return samples.loss.of_numbers() ? mean_error(outputs, samples, gradient)
                                   : cross_entropy(outputs, samples.labels, gradient);
}

}  // namespace

void forward(const Input&, Step&) {}
void backward(const Input&, Step&) {}

Dropped dropped_by(const Network& net, const Random& random) {
  return [&net, random](std::size_t operation, std::size_t sample, std::size_t entry) {
    const std::uint64_t size = net.shape(operation).size();
    const double rate = std::get<Dropout>(net.operations()[operation].kind).rate;
    const std::uint64_t index = (std::uint64_t{operation} << 40) + sample * size + entry;
    return to_unit_float(random.word(index)) < rate;
  };
}

Outcome reference_gradient(const Network& net, const Doubles& parameters, Doubles& buffers,
                           const Samples& samples, const Dropped& dropped) {
  Pass pass(net, samples.images);
  pass.run_forward(parameters, buffers, true, BatchNorm::kMomentum, dropped);
  Outcome outcome;
  outcome.logits = pass.logits();
  Doubles top(outcome.logits.size());
  outcome.loss = loss_of(outcome.logits, samples, top);
  outcome.gradient.resize(net.layout().dim());
  outcome.images_gradient = pass.run_backward(parameters, dropped, top, outcome.gradient);
  return outcome;
}

double reference_loss(const Network& net, const Doubles& parameters, const Doubles& buffers,
                      const Samples& samples, const Dropped& dropped) {
  Pass pass(net, samples.images);
  Doubles unused = buffers;
  pass.run_forward(parameters, unused, true, 0, dropped);
  Doubles top(pass.logits().size());
  return loss_of(pass.logits(), samples, top);
}

Doubles reference_logits(const Network& net, const Doubles& parameters, const Doubles& buffers,
                         const Doubles& images) {
  Pass pass(net, images);
  Doubles unchanged = buffers;
  pass.run_forward(parameters, unchanged, false, 0, {});
  return pass.logits();
}

void reference_observe(const Network& net, const Doubles& parameters, Doubles& buffers,
                       const Doubles& images, double momentum) {
  Pass(net, images).run_forward(parameters, buffers, true, momentum, {});
}

}  // namespace hearsay::model
