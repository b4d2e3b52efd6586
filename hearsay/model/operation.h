#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hearsay::model {

/// The tensor of one sample: channels x height x width. A vector of n features is {n, 1, 1}.
struct Shape {
  std::size_t channels = 0;
  std::size_t height = 1;
  std::size_t width = 1;

  std::size_t pixels() const { return height * width; }
  std::size_t size() const { return channels * pixels(); }
  bool operator==(const Shape&) const = default;
};

std::string to_string(const Shape& shape);  ///< "3x32x32"
Shape parse_shape(std::string_view text);   ///< the inverse. Throws InvalidArgument.

/// How the weights of a convolution or a linear layer are initialized.
enum class Start {
  kFanIn,   ///< PyTorch's default: weight and bias uniform in +-1 / sqrt(fan_in)
  kFanOut,  ///< the papers' convolutions: weight normal, std sqrt(2 / (k^2 out)); bias 0
  kZero,
};

/// One value of a network: the output of the operation with that index.
using Value = std::size_t;

// The operations. x is the input, y the output, c a channel; all sums are over one sample unless
// said otherwise. Parameters are listed in the order in which they are stored in the model's array.

struct Input {};  ///< the images

/// y_o = sum over i, kernel of weight[o][i][k][l] x_i (+ bias_o), zeros around the image.
struct Conv2d {
  std::size_t out = 0;  ///< channels
  std::size_t kernel = 3;
  std::size_t stride = 1;
  std::size_t padding = 0;
  bool bias = true;
  Start start = Start::kFanIn;
};

/// y = weight x + bias, on a flat value.
struct Linear {
  std::size_t out = 0;
  bool bias = true;
  Start start = Start::kFanIn;
};

/// y = weight_c (x - m_c) / sqrt(v_c + epsilon) + bias_c, with m and v (biased) the mean and
/// variance of channel c over batch and pixels; in evaluation the running ones. Buffers, local to a
/// peer: running_mean, running_var (of the unbiased variance, which is 0 for a single value), new =
/// 0.9 old + 0.1 of the batch.
struct BatchNorm {
  double weight = 1;  ///< where all weights start, here and below
  static constexpr double kEpsilon = 1e-5;
  static constexpr double kMomentum = 0.1;
};

/// Like batch norm, but m and v are over the pixels of a group of channels of one sample.
struct GroupNorm {
  std::size_t groups = 2;
  double weight = 1;
  static constexpr double kEpsilon = 1e-5;
};

/// Like group norm with one group, but weight and bias have one entry per feature (channel and
/// pixel).
struct LayerNorm {
  static constexpr double kEpsilon = 1e-5;
};

/// EvoNorm-S0 (Liu, Brock, Simonyan, Le 2020): y = weight_c x s(v_c x) / sqrt(Var_g(x) + epsilon) +
/// bias_c, with s the logistic function and Var_g the biased variance of the channel's group.
/// Norm and activation in one. Parameters weight, bias, v.
struct EvoNorm {
  std::size_t groups = 8;
  double weight = 1;
  static constexpr double kEpsilon = 1e-5;
};

/// The factor of x in EvoNorms, as a function of t = v_c x.
enum class Gate {
  kHard,  ///< the hard sigmoid max(0, min(1, t / 6 + 1 / 2)); its derivative is 1 / 6 where t / 6
          ///< + 1 / 2 is in [0, 1]
  kSigmoid,  ///< the logistic function 1 / (1 + exp(-t))
};

/// Range EvoNorm (Aketi, Kodge, Roy 2022): EvoNorm with 1 / (kappa R + epsilon) instead of
/// 1 / sqrt(Var + epsilon), and with a hard gate (their eq. 2; their code in full precision keeps
/// the logistic function). The group's values, in the order channel, row, column, are split into 16
/// runs of m; R = mean of the runs' maxima - mean of their minima, and kappa = 0.175
/// (1 + sqrt(pi ln 4)) / sqrt(2 ln m). Needs a group of at least 32 values, a multiple of 16. The
/// gradient of a maximum (minimum) is shared equally by the values that are equal to it.
struct RangeEvoNorm {
  std::size_t groups = 8;
  Gate gate = Gate::kHard;
  double weight = 1;
  static constexpr std::size_t kRuns = 16;
  static constexpr double kEpsilon = 1e-5;
};

struct Relu {};  ///< max(x, 0)
struct Gelu {};  ///< x Phi(x), with the error function

struct Add {};  ///< the sum of two values of one shape

/// Option A of He et al. 2016: every second row and column, `out` channels, the new ones zero, half
/// of them before the old ones and half after.
struct Shortcut {
  std::size_t out = 0;
};

/// The maximum of each window; one that extends beyond the image ignores what is outside.
struct MaxPool {
  std::size_t kernel = 2;
  std::size_t stride = 2;
  std::size_t padding = 0;
};
struct GlobalAveragePool {};  ///< the mean over the pixels of each channel

/// In training each entry is zero with probability `rate`, else x / (1 - rate). As operation o of a
/// network, entry j (channel, row, column) of sample b is dropped if and only if
///   to_unit_float(random.word(o 2^40 + b size + j)) < rate,
/// with size the number of entries of a sample; so o < 1024.
struct Dropout {
  double rate = 0.5;
};

struct Flatten {};  ///< channel, row, column become one index

using Kind =
    std::variant<Input, Conv2d, Linear, BatchNorm, GroupNorm, LayerNorm, EvoNorm, RangeEvoNorm,
                 Relu, Gelu, Add, Shortcut, MaxPool, GlobalAveragePool, Dropout, Flatten>;

/// One step of a network.
struct Operation {
  std::string name;
  Kind kind;
  std::vector<Value> inputs;            ///< earlier operations
  Shape shape;                          ///< of the output, for one sample
  std::vector<std::size_t> parameters;  ///< segments of Network::layout()
  std::vector<std::size_t> buffers;     ///< segments of Network::buffers()
};

}  // namespace hearsay::model
