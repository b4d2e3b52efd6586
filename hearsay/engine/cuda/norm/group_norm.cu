#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/norm/sample_sums.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;
using model::GroupNorm;

/// Of a sample's group: y = relu(weight_c (x - mean) r + bias_c + residual).
struct Normal {
  float mean, r;
};

struct Sizes {
  Sample sample;
  unsigned groups, batch;
  std::size_t weight, bias;  ///< where they lie in a model
};

/// y(p, c) = relu(weight_c (x - mean) r + bias_c + residual), mean and r = 1 / sqrt(variance +
/// epsilon) of the sample's group of channels. Grid: one block per sample of all peers, 512
/// threads, which stride over its entries, channels fastest. Shared memory: a float per channel and
/// per group, dynamic, and 2,048 bytes for each of the two instantiations of sum_channels. Three
/// passes over x (mean, squares, result), after the first from caches; normals[sample][group] is
/// kept for backward. Sums: sample_sums.h. Not measured.
template <class T>
__global__ void __launch_bounds__(kSampleThreads)
    group_norm(const T* x, const float* const* parameters, Sizes s, Normal* normals,
               const T* residual, bool relu, T* y) {
  backend::cuda::begin_launch();
  extern __shared__ float totals[];  // one per channel, then one per group
  const std::size_t first = std::size_t{blockIdx.x} * s.sample.channels * s.sample.pixels;
  const float* model = parameters[blockIdx.x / s.batch];
  Normal* own = normals + std::size_t{blockIdx.x} * s.groups;
  x += first;
  group_moments(s.sample, s.groups, x, totals, totals + s.sample.channels,
                [&](unsigned group, float mean, double variance) {
                  own[group] = {mean, static_cast<float>(rsqrt(variance + GroupNorm::kEpsilon))};
                });
  const unsigned members = s.sample.channels / s.groups;
  struct Line {
    Normal normal;
    float weight, bias;
  };
  s.sample.for_each(
      [&](unsigned c) {
        return Line{own[c / members], model[s.weight + c], model[s.bias + c]};
      },
      [&](unsigned at, unsigned, const Line& line) {
        float v =
            fmaf((to_float(x[at]) - line.normal.mean) * line.normal.r, line.weight, line.bias);
        if (residual != nullptr) v += to_float(residual[first + at]);
        y[first + at] = from_float<T>(relu && v < 0 ? 0.0f : v);
      });
}

/// With g the gradient of y where y > 0, and for a channel S1 = sum of g, S2 = sum of g (x - m);
/// for a group of M values A = sum of weight_c S1, B = sum of weight_c S2:
///
///   d weight_c = sum over samples of r S2,   d bias_c = of S1,
///   dx = weight_c r g - r A / M - (x - m) r^3 B / M
///
/// Grid: one block per sample of all peers, 512 threads. Shared memory: 2 floats per channel and 2
/// per group, dynamic, and 2 x 512 floats (4,096 bytes) of sum_channels. Two passes over x, dy (and
/// y); parts of the parameters' gradients go to parts[sample][weight, bias][channel], which
/// sum_samples adds up. A and B are summed in double over channels ascending. Not measured.
template <class T>
__global__ void __launch_bounds__(kSampleThreads)
    group_norm_backward(const T* x, const T* y, const T* dy, const float* const* parameters,
                        Sizes s, bool relu, const Normal* normals, float* parts, T* dx, bool add,
                        T* residual, bool add_residual) {
  backend::cuda::begin_launch();
  extern __shared__ float totals[];  // S1 and S2 per channel, then slope and rest per group
  const unsigned channels = s.sample.channels, members = channels / s.groups;
  float* lines = totals + 2 * channels;
  const std::size_t first = std::size_t{blockIdx.x} * channels * s.sample.pixels;
  const float* model = parameters[blockIdx.x / s.batch];
  const Normal* own = normals + std::size_t{blockIdx.x} * s.groups;
  const auto gradient = [&](unsigned at) {
    return relu && !(to_float(y[first + at]) > 0) ? 0.0f : to_float(dy[first + at]);
  };
  sum_channels<2>(
      s.sample,
      [&](unsigned at, unsigned c, float(&sums)[2]) {
        const float g = gradient(at);
        sums[0] += g;
        sums[1] = fmaf(g, to_float(x[first + at]) - own[c / members].mean, sums[1]);
      },
      totals);
  // This sample's parts of the parameters' gradients, and per group the factors of x - m and 1 in
  // dx.
  float* part = parts + std::size_t{blockIdx.x} * 2 * channels;
  for (unsigned c = threadIdx.x; c < channels; c += kSampleThreads) {
    part[c] = own[c / members].r * totals[channels + c];
    part[channels + c] = totals[c];
  }
  for (unsigned group = threadIdx.x; group < s.groups; group += kSampleThreads) {
    double sum = 0, product = 0;
    for (unsigned c = group * members; c < (group + 1) * members; ++c) {
      const double weight = model[s.weight + c];
      sum += weight * static_cast<double>(totals[c]);
      product += weight * static_cast<double>(totals[channels + c]);
    }
    const double r = own[group].r, count = static_cast<double>(members) * s.sample.pixels;
    lines[group] = static_cast<float>(-r * r * r * product / count);
    lines[s.groups + group] = static_cast<float>(-r * sum / count);
  }
  __syncthreads();
  struct Line {
    float mean, slope, rest, factor;
  };
  s.sample.for_each(
      [&](unsigned c) {
        const unsigned group = c / members;
        return Line{own[group].mean, lines[group], lines[s.groups + group],
                    model[s.weight + c] * own[group].r};
      },
      [&](unsigned at, unsigned, const Line& line) {
        const float g = gradient(at);
        if (dx != nullptr) {
          const float through = fmaf(line.slope, to_float(x[first + at]) - line.mean, line.rest);
          store_gradient(fmaf(line.factor, g, through), add, dx + first + at);
        }
        if (residual != nullptr) store_gradient(g, add_residual, residual + first + at);
      });
}

class GroupNormStep final : public Step {
 public:
  GroupNormStep(std::size_t groups, const Site& site)
      : site_(site),
        sizes_{.sample = {.channels = static_cast<unsigned>(site.x->shape.channels),
                          .pixels = static_cast<unsigned>(site.x->shape.pixels())},
               .groups = static_cast<unsigned>(groups),
               .batch = static_cast<unsigned>(site.x->batch),
               .weight = site.places.parameter[0],
               .bias = site.places.parameter[1]},
        normals_(samples() * groups),
        parts_(samples() * 2 * site.x->shape.channels) {}

  void forward(LaunchRecorder& recorder, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(group_norm<T>, samples(), kSampleThreads, floats(1, 1),
                      static_cast<const T*>(site_.x->data), call.parameters, sizes_,
                      normals_.data(),
                      site_.residual ? static_cast<const T*>(site_.residual->data) : nullptr,
                      site_.relu, static_cast<T*>(site_.y->data));
    });
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    const bool to_x = site_.x->wants_gradient();
    const bool to_residual = site_.residual && site_.residual->wants_gradient();
    const bool add = to_x && site_.x->adds();
    const bool add_residual = to_residual && site_.residual->adds();
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(group_norm_backward<T>, samples(), kSampleThreads, floats(2, 2),
                      static_cast<const T*>(site_.x->data), static_cast<const T*>(site_.y->data),
                      static_cast<const T*>(site_.y->gradient), call.parameters, sizes_, site_.relu,
                      normals_.data(), parts_.data(), static_cast<T*>(site_.x->gradient), add,
                      to_residual ? static_cast<T*>(site_.residual->gradient) : nullptr,
                      add_residual);
    });
    const unsigned channels = sizes_.sample.channels;
    recorder.launch(sum_samples<2>,
                    dim3(blocks_for(2 * channels, 128), static_cast<unsigned>(site_.x->peers)), 128,
                    0, parts_.data(), sizes_.batch, channels,
                    Offsets<2>{{sizes_.weight, sizes_.bias}}, call.gradient);
  }

 private:
  unsigned samples() const { return static_cast<unsigned>(site_.x->peers * site_.x->batch); }
  std::size_t floats(unsigned a_channel, unsigned a_group) const {
    return (a_channel * sizes_.sample.channels + a_group * sizes_.groups) * sizeof(float);
  }

  Site site_;
  Sizes sizes_;
  Memory<Normal> normals_;
  Memory<float> parts_;  ///< of the parameters' gradients: [sample][weight, bias][channel]
};

}  // namespace

std::unique_ptr<Step> make_group_norm(const model::GroupNorm& norm, const Site& site) {
  return std::make_unique<GroupNormStep>(norm.groups, site);
}

}  // namespace hearsay::engine::cuda
