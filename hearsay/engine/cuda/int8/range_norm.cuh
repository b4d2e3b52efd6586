#pragma once

#include "hearsay/engine/cuda/int8/block.cuh"
#include "hearsay/engine/cuda/int8/step.h"

namespace hearsay::engine::cuda::int8 {

inline constexpr unsigned kRuns = model::RangeEvoNorm::kRuns;

/// Range EvoNorm with a hard gate on codes (engine/quantize.h), a block per sample. Forward leaves
/// every run's extremes and every group's S for backward.
struct Norm {
  Extent x;
  unsigned channels;         ///< that are not padding
  unsigned members, groups;  ///< channels of a group
  unsigned run;              ///< values of a run: of a group's, channel by channel
  unsigned batch, unused;
  float kappa, epsilon;
  std::size_t weight, bias, v;  ///< in a peer's parameters
  std::int8_t* extremes;        ///< [sample][high, low][group][run]
  float* spread;                ///< S, [sample][group]

  bool operator==(const Norm&) const = default;

  __host__ __device__ unsigned runs() const { return groups * kRuns; }
  /// The run of a channel's value at a pixel.
  __device__ unsigned run_of(unsigned channel, unsigned pixel) const {
    return channel / members * kRuns + (channel % members * x.pixels() + pixel) / run;
  }

  /// S of a group, from the extremes of all runs: its own and for backward.
  __device__ float spread_of(unsigned group, const int* high, const int* low, float s) const {
    int total = 0;
    for (unsigned r = group * kRuns; r < (group + 1) * kRuns; ++r) total += high[r] - low[r];
    return 1 / (kappa * s * static_cast<float>(total) * 0.0625f + epsilon);
  }

  /// A sample's part of the gradient of the bias (which = 0: sum of g), the weight (1: of g (q t))
  /// or v (2: of g q q inside) of channel c. `parts`: the sample's.
  __device__ void write_part(float* parts, unsigned which, unsigned c, double sum,
                             const float* spreads, const float* model, float scale) const {
    const auto of_group = static_cast<double>(spreads[c / members]);
    const auto s = static_cast<double>(scale), w = static_cast<double>(model[weight + c]);
    if (which == 0) parts[x.channels + c] = static_cast<float>(sum);
    if (which == 1) parts[c] = static_cast<float>(of_group * s * sum);
    if (which == 2) parts[2 * x.channels + c] = static_cast<float>(w * of_group * s * s / 6 * sum);
  }

  /// The sum of weight s P over a group's channels, P being `products`.
  __device__ double range_gradient(const double* products, unsigned group, const float* model,
                                   float s) const {
    double sum = 0;
    for (unsigned c = group * members; c < (group + 1) * members; ++c) {
      sum += static_cast<double>(model[weight + c]) * static_cast<double>(s) * products[c];
    }
    return sum;
  }

  /// D: what the maxima of a run share, and the minima with the opposite sign.
  __device__ float gradient_of_run(double range_gradient, float spread) const {
    const auto of_group = static_cast<double>(spread);
    return static_cast<float>(-static_cast<double>(kappa) * of_group * of_group * range_gradient /
                              kRuns);
  }
};

/// The coefficients of a channel.
struct Gate {
  __device__ Gate(const Norm& norm, const float* model, unsigned channel, float s)
      : line(channel < norm.channels ? model[norm.v + channel] * s / 6 : 0.0f) {}
  __device__ float at(float q) const { return line * q + 0.5f; }
  float line;
};
__device__ inline float clamped(float t) { return fminf(1.0f, fmaxf(0.0f, t)); }

/// The sizes of a norm, without what it keeps.
Norm sizes_of(const model::RangeEvoNorm& norm, const Site& site);

/// What a norm keeps from forward to backward, and a sample's parts of its parameters' gradients:
/// [sample][weight, bias, v][channel].
class NormState {
 public:
  NormState(const model::RangeEvoNorm& norm, const Site& site);

  const Norm& norm() const { return norm_; }
  float* parts() const { return parts_.data(); }

 private:
  Norm norm_;
  backend::cuda::Memory<std::int8_t> extremes_;
  backend::cuda::Memory<float> spread_, parts_;
};

}  // namespace hearsay::engine::cuda::int8
