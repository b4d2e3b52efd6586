#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearsay/core/error.h"
#include "hearsay/core/layout.h"
#include "hearsay/model/operation.h"

namespace hearsay {
class ThreadPool;
}

namespace hearsay::model {

/// An operation does not accept the shape of its input. The text starts with the operation's name.
class DoesNotFit : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// A network as data: a list of operations, each reading the values of earlier ones.
///
///   Network net({3, 32, 32});
///   Value x = net.add("conv1", Conv2d{.out = 16, .padding = 1, .bias = false}, {net.input()});
///   x = net.add("bn1", BatchNorm{}, {x});
///
/// The output of the last operation is what a loss compares with the targets: one logit per class,
/// or one number per target. Parameters are named "<operation>.weight" and so on, have
/// PyTorch's shapes, and are stored in the order of the operations.
class Network {
 public:
  explicit Network(Shape input);

  Value input() const { return 0; }

  /// Append an operation and infer its output. Throws DoesNotFit.
  Value add(std::string name, Kind kind, std::vector<Value> inputs);

  const std::vector<Operation>& operations() const { return operations_; }
  const Shape& shape(Value value) const { return operations_[value].shape; }
  std::size_t outputs() const { return operations_.back().shape.size(); }

  /// The parameters, which are trained, sent and mixed.
  const Layout& layout() const { return layout_; }
  /// State of a model that is neither trained nor sent: running statistics of batch norm.
  const Layout& buffers() const { return buffers_; }

  /// The model before the first round, a function of the seed: the same for all peers. `pool`
  /// parallelizes the work, with bitwise the same result.
  void initialize(std::uint64_t seed, std::span<float> parameters,
                  ThreadPool* pool = nullptr) const;
  /// Running means 0, running variances 1.
  void initialize_buffers(std::span<float> buffers) const;

  /// Multiplications of one sample's forward pass in convolutions and linear layers.
  std::uint64_t multiplications() const;

 private:
  /// How a parameter is initialized: normal with `deviation`, uniform in +-`bound`, or `value`.
  struct Rule {
    double deviation = 0, bound = 0, value = 0;
  };

  struct Adder;
  void add_parameter(Operation& operation, const char* name, std::vector<std::size_t> shape,
                     Rule rule);
  void add_buffer(Operation& operation, const char* name, std::size_t size, float start);

  std::vector<Operation> operations_;
  Layout layout_, buffers_;
  std::vector<Rule> rules_;           ///< one per segment of layout_
  std::vector<float> buffer_starts_;  ///< one per segment of buffers_
};

}  // namespace hearsay::model
