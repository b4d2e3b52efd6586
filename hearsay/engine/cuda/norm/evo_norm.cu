#include <cmath>
#include <numbers>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/norm/sample_sums.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;
using model::EvoNorm;
using model::RangeEvoNorm;

constexpr unsigned kRuns = RangeEvoNorm::kRuns;
constexpr unsigned kWarp = 32;

/// Of a sample's group: y = weight_c h s + bias_c (+ residual), h = x gate(v_c x).
struct Spread {
  float mean, s;  ///< mean: of the variance; range needs none
};

/// The largest and smallest value of one run of a group, and how often they occur.
struct Extremes {
  float high, low, highs, lows;
};

struct Sizes {
  Sample sample;
  unsigned groups, batch;
  std::size_t weight, bias, v;  ///< where they lie in a model
  double kappa;                 ///< of the range; 0: the variance measures the spread
  unsigned run;                 ///< values of one of a group's runs
  bool hard;  ///< the gate: max(0, min(1, t / 6 + 1 / 2)), or the logistic function
};

/// h = x gate(v x), dh/dx and dh/dv.
struct Bend {
  __device__ Bend(float x, float v, bool hard) {
    if (hard) {
      const float line = fmaf(v * (1.0f / 6), x, 0.5f);
      const bool inside = line >= 0 && line <= 1;
      const float gate = line < 0 ? 0.0f : line > 1 ? 1.0f : line;  // NaN passes
      value = x * gate;
      to_x = inside ? gate + (line - 0.5f) : gate;
      to_v = inside ? x * x * (1.0f / 6) : 0.0f;
    } else {
      const float gate = 1 / (1 + expf(-v * x));
      value = x * gate;
      const float curve = x * gate * (1 - gate);
      to_x = fmaf(v, curve, gate);
      to_v = x * curve;
    }
  }
  float value, to_x, to_v;
};

/// The extremes of run r of a group, by one warp: lanes stride over the run's values, then a
/// shuffle tree; then once more to count. Maxima and counts do not depend on the tree. All lanes
/// have the result.
template <class T>
__device__ Extremes find_extremes(const T* x, const Sizes& s, unsigned group, unsigned r) {
  const unsigned lane = threadIdx.x % kWarp, run = s.run;
  const unsigned first = s.sample.channels / s.groups * group;
  const auto at = [&](unsigned k) {
    const unsigned j = r * run + k;
    return to_float(x[j % s.sample.pixels * s.sample.channels + first + j / s.sample.pixels]);
  };
  Extremes found{at(0), at(0), 0, 0};
  for (unsigned k = lane; k < run; k += kWarp) {
    const float value = at(k);
    found.high = fmaxf(found.high, value);
    found.low = fminf(found.low, value);
  }
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    found.high = fmaxf(found.high, __shfl_xor_sync(~0u, found.high, step));
    found.low = fminf(found.low, __shfl_xor_sync(~0u, found.low, step));
  }
  for (unsigned k = lane; k < run; k += kWarp) {
    const float value = at(k);
    found.highs += value == found.high;
    found.lows += value == found.low;
  }
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    found.highs += __shfl_xor_sync(~0u, found.highs, step);
    found.lows += __shfl_xor_sync(~0u, found.lows, step);
  }
  return found;
}

/// s = 1 / (kappa R + epsilon) of every group, R the mean range of its 16 runs (a warp per run,
/// then a thread per group, in double, ascending). `ranges` is shared memory for a float per run.
template <class T>
__device__ void measure_ranges(const T* x, const Sizes& s, float* ranges, Extremes* extremes,
                               Spread* spreads) {
  for (unsigned k = threadIdx.x / kWarp; k < s.groups * kRuns; k += kSampleThreads / kWarp) {
    const Extremes found = find_extremes(x, s, k / kRuns, k % kRuns);
    if (threadIdx.x % kWarp == 0) {
      extremes[k] = found;
      ranges[k] = found.high - found.low;
    }
  }
  __syncthreads();
  for (unsigned group = threadIdx.x; group < s.groups; group += kSampleThreads) {
    double sum = 0;
    for (unsigned r = 0; r < kRuns; ++r) sum += static_cast<double>(ranges[group * kRuns + r]);
    const double mean = sum / kRuns;
    const double spread = s.kappa * mean + RangeEvoNorm::kEpsilon;
    spreads[group] = {0, static_cast<float>(1 / spread)};
  }
  __syncthreads();
}

/// y(p, c) = x gate(v_c x) s weight_c + bias_c (+ residual), s of the sample's group: by its
/// variance (EvoNorm) or by the ranges of its runs (kappa > 0, RangeEvoNorm). Grid: one block per
/// sample of all peers, 512 threads. Shared memory, dynamic: a float per channel and per group, or
/// a float per run; each of the two instantiations of sum_channels has 2,048 bytes more. x is read
/// three times, for mean, squares, result or for extremes, counts, result; after the first time
/// from caches. Order of sums as in sample_sums.h. Not measured.
template <class T>
__global__ void __launch_bounds__(kSampleThreads)
    evo_norm(const T* x, const float* const* parameters, Sizes s, Spread* spreads,
             Extremes* extremes, const T* residual, T* y) {
  backend::cuda::begin_launch();
  extern __shared__ float shared[];
  const std::size_t first = std::size_t{blockIdx.x} * s.sample.channels * s.sample.pixels;
  const float* model = parameters[blockIdx.x / s.batch];
  Spread* own = spreads + std::size_t{blockIdx.x} * s.groups;
  x += first;
  if (s.kappa > 0) {
    measure_ranges(x, s, shared, extremes + std::size_t{blockIdx.x} * s.groups * kRuns, own);
  } else {
    group_moments(s.sample, s.groups, x, shared, shared + s.sample.channels,
                  [&](unsigned group, float mean, double variance) {
                    own[group] = {mean, static_cast<float>(rsqrt(variance + EvoNorm::kEpsilon))};
                  });
  }
  const unsigned members = s.sample.channels / s.groups;
  struct Line {
    float v, s, weight, bias;
  };
  s.sample.for_each(
      [&](unsigned c) {
        return Line{model[s.v + c], own[c / members].s, model[s.weight + c], model[s.bias + c]};
      },
      [&](unsigned at, unsigned, const Line& line) {
        const Bend h(to_float(x[at]), line.v, s.hard);
        float value = fmaf(h.value * line.s, line.weight, line.bias);
        if (residual != nullptr) value += to_float(residual[first + at]);
        y[first + at] = from_float<T>(value);
      });
}

/// With g the gradient of y, and for a channel S1 = sum of g, S2 = sum of g h, S3 = sum of g dh/dv:
///
///   d bias_c = sum over samples of S1,   d weight_c = of s S2,   d v_c = of weight_c s S3,
///   ds = sum over the group's channels of weight_c S2,   dx = weight_c s g dh/dx + (through s)
///
/// Through s: of the variance of M values -s^3 ds (x - m) / M; of the range -kappa s^2 ds / 16 for
/// the maximum of a run, minus that for its minimum, shared by the values that are equal to it.
///
/// Grid: one block per sample of all peers, 512 threads. Shared memory: 3 floats per channel and
/// one per group, dynamic, and 3 x 512 floats (6,144 bytes) of sum_channels. Two passes over x and
/// dy; the parts of the parameters' gradients go to parts[sample][weight, bias, v][channel], which
/// sum_samples adds up. An entry finds its run's extremes, 16 bytes, in the cache: neighbouring
/// pixels of a channel share them. h is recomputed. Not measured.
template <class T>
__global__ void __launch_bounds__(kSampleThreads)
    evo_norm_backward(const T* x, const T* dy, const float* const* parameters, Sizes s,
                      const Spread* spreads, const Extremes* extremes, float* parts, T* dx,
                      bool add, T* residual, bool add_residual) {
  backend::cuda::begin_launch();
  extern __shared__ float totals[];  // S1, S2, S3 per channel, then a coefficient per group
  const unsigned channels = s.sample.channels, members = channels / s.groups;
  float* coefficients = totals + 3 * channels;
  const std::size_t first = std::size_t{blockIdx.x} * channels * s.sample.pixels;
  const float* model = parameters[blockIdx.x / s.batch];
  const Spread* own = spreads + std::size_t{blockIdx.x} * s.groups;
  sum_channels<3>(
      s.sample,
      [&](unsigned at, unsigned c, float(&sums)[3]) {
        const Bend h(to_float(x[first + at]), model[s.v + c], s.hard);
        const float g = to_float(dy[first + at]);
        sums[0] += g;
        sums[1] = fmaf(g, h.value, sums[1]);
        sums[2] = fmaf(g, h.to_v, sums[2]);
      },
      totals);
  // This sample's parts of the parameters' gradients, and per group what s contributes to dx.
  float* part = parts + std::size_t{blockIdx.x} * 3 * channels;
  for (unsigned c = threadIdx.x; c < channels; c += kSampleThreads) {
    const float factor = own[c / members].s;
    part[c] = factor * totals[channels + c];
    part[channels + c] = totals[c];
    part[2 * channels + c] = model[s.weight + c] * factor * totals[2 * channels + c];
  }
  for (unsigned group = threadIdx.x; group < s.groups; group += kSampleThreads) {
    double ds = 0;
    for (unsigned c = group * members; c < (group + 1) * members; ++c) {
      ds += static_cast<double>(model[s.weight + c]) * static_cast<double>(totals[channels + c]);
    }
    const double f = own[group].s, count = static_cast<double>(members) * s.sample.pixels;
    coefficients[group] =
        static_cast<float>(s.kappa > 0 ? -s.kappa * f * f * ds / kRuns : -f * f * f * ds / count);
  }
  __syncthreads();
  struct Line {
    float v, factor, coefficient, mean;
    unsigned before, runs;  ///< values of the group before the channel; the group's first run
  };
  s.sample.for_each(
      [&](unsigned c) {
        const unsigned group = c / members;
        return Line{model[s.v + c],
                    model[s.weight + c] * own[group].s,
                    coefficients[group],
                    own[group].mean,
                    (c - group * members) * s.sample.pixels,
                    (blockIdx.x * s.groups + group) * kRuns};
      },
      [&](unsigned at, unsigned pixel, const Line& line) {
        const float g = to_float(dy[first + at]);
        if (dx != nullptr) {
          const float value = to_float(x[first + at]);
          const Bend h(value, line.v, s.hard);
          float gradient = line.factor * g * h.to_x;
          if (s.kappa == 0) {
            gradient = fmaf(line.coefficient, value - line.mean, gradient);
          } else {
            const Extremes run = extremes[line.runs + (line.before + pixel) / s.run];
            if (value == run.high) gradient += line.coefficient / run.highs;
            if (value == run.low) gradient -= line.coefficient / run.lows;
          }
          store_gradient(gradient, add, dx + first + at);
        }
        if (residual != nullptr) store_gradient(g, add_residual, residual + first + at);
      });
}

class EvoNormStep final : public Step {
 public:
  EvoNormStep(std::size_t groups, bool range, bool hard, const Site& site)
      : site_(site),
        sizes_{.sample = {.channels = static_cast<unsigned>(site.x->shape.channels),
                          .pixels = static_cast<unsigned>(site.x->shape.pixels())},
               .groups = static_cast<unsigned>(groups),
               .batch = static_cast<unsigned>(site.x->batch),
               .weight = site.places.parameter[0],
               .bias = site.places.parameter[1],
               .v = site.places.parameter[2],
               .kappa = range ? kappa(site.x->shape.size() / groups / kRuns) : 0,
               .run = static_cast<unsigned>(site.x->shape.size() / groups / kRuns),
               .hard = hard},
        spreads_(samples() * groups),
        parts_(std::size_t{samples()} * 3 * site.x->shape.channels) {
    if (range) extremes_ = Memory<Extremes>(samples() * groups * kRuns);
  }

  void forward(LaunchRecorder& recorder, const Call& call) override {
    const std::size_t floats = sizes_.kappa > 0 ? std::size_t{sizes_.groups} * kRuns
                                                : sizes_.sample.channels + sizes_.groups;
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(evo_norm<T>, samples(), kSampleThreads, floats * sizeof(float),
                      static_cast<const T*>(site_.x->data), call.parameters, sizes_,
                      spreads_.data(), extremes_.data(),
                      site_.residual ? static_cast<const T*>(site_.residual->data) : nullptr,
                      static_cast<T*>(site_.y->data));
    });
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    const unsigned channels = sizes_.sample.channels;
    const bool to_x = site_.x->wants_gradient();
    const bool to_residual = site_.residual && site_.residual->wants_gradient();
    const bool add = to_x && site_.x->adds();
    const bool add_residual = to_residual && site_.residual->adds();
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(
          evo_norm_backward<T>, samples(), kSampleThreads,
          (3 * channels + sizes_.groups) * sizeof(float), static_cast<const T*>(site_.x->data),
          static_cast<const T*>(site_.y->gradient), call.parameters, sizes_, spreads_.data(),
          extremes_.data(), parts_.data(), static_cast<T*>(site_.x->gradient), add,
          to_residual ? static_cast<T*>(site_.residual->gradient) : nullptr, add_residual);
    });
    recorder.launch(sum_samples<3>,
                    dim3(blocks_for(3 * channels, 128), static_cast<unsigned>(site_.x->peers)), 128,
                    0, parts_.data(), sizes_.batch, channels,
                    Offsets<3>{{sizes_.weight, sizes_.bias, sizes_.v}}, call.gradient);
  }

 private:
  static double kappa(std::size_t run) {
    const double m = static_cast<double>(run);
    return 0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) / std::sqrt(2 * std::log(m));
  }
  unsigned samples() const { return static_cast<unsigned>(site_.x->peers * site_.x->batch); }

  Site site_;
  Sizes sizes_;
  Memory<Spread> spreads_;
  Memory<Extremes> extremes_;  ///< [sample][group][run]
  Memory<float> parts_;        ///< of the parameters' gradients: [sample][weight, bias, v][channel]
};

}  // namespace

std::unique_ptr<Step> make_evo_norm(const model::EvoNorm& norm, const Site& site) {
  return std::make_unique<EvoNormStep>(norm.groups, false, false, site);
}

std::unique_ptr<Step> make_range_evo_norm(const model::RangeEvoNorm& norm, const Site& site) {
  return std::make_unique<EvoNormStep>(norm.groups, true, norm.gate == model::Gate::kHard, site);
}

}  // namespace hearsay::engine::cuda
