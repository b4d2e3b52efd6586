#pragma once

#include "hearsay/engine/cuda/norm/sum_parts.cuh"
#include "hearsay/engine/cuda/norm/tile_sums.h"
#include "hearsay/model/operation.h"

/// From the moments of a channel to its Normal.
namespace hearsay::engine::cuda {

/// Where a call keeps the peers' arrays, and a batch norm's places in them.
struct NormModel {
  const float* const* parameters = nullptr;
  const float* const* buffers = nullptr;
  float* const* new_buffers = nullptr;
  float* const* gradient = nullptr;
  const float* momentum = nullptr;
  unsigned long weight = 0, bias = 0;    ///< offsets in `parameters` and `gradient`
  unsigned long mean = 0, variance = 0;  ///< offsets in `buffers`
};

/// The arguments of a forward pass.
struct NormPass {
  Normal* normals = nullptr;  ///< [peer][channel]
  unsigned long relu = 0;
  TileSums moments{};        ///< of the input; where set, the normals are found from them first
  unsigned long pixels = 0;  ///< of one peer
  NormModel model{};
};

struct Affine {
  float weight, bias;
};
__device__ inline Affine affine_of(const NormModel& model, unsigned peer, unsigned channel) {
  const float* own = model.parameters[peer];
  return {own[model.weight + channel], own[model.bias + channel]};
}

__device__ inline Normal normal_of(const Affine& affine, double mean, double variance) {
  const float v = static_cast<float>(variance + model::BatchNorm::kEpsilon);
  const float r = 1.0f / sqrtf(v);
  return {
      .mean = static_cast<float>(mean), .scale = affine.weight * r, .bias = affine.bias, .r = r};
}

/// Updates the running statistics with those of `count` values (the variance unbiased).
__device__ inline void follow_moments(const NormModel& model, unsigned peer, unsigned channel,
                                      double count, double mean, double variance) {
  const double momentum = static_cast<double>(*model.momentum);
  const auto follow = [&](std::size_t place, double value) {
    float& running = model.new_buffers[peer][place + channel];
    running = static_cast<float>((1 - momentum) * static_cast<double>(running) + momentum * value);
  };
  follow(model.mean, mean);
  follow(model.variance, variance * count / fmax(count - 1, 1.0));
}

/// found[channel] (shared memory) for all channels of a peer: from the moments, or, where there are
/// none, from pass.normals. The moments of a part with n pixels are its sum s and its squares m
/// about its own mean, so those of all N are sum s and sum (m + s^2 / n) - (sum s)^2 / N. If
/// `keeps`, the normals are stored to pass.normals and the running statistics updated. For all
/// threads of a block; `scratch` has one entry per thread (16 bytes). Every block of a launch does
/// this for itself: it reads count x channels pairs, 8 bytes each, from L2.
template <unsigned kThreads>
__device__ void find_normals(const NormPass& pass, unsigned peer, unsigned channels, bool keeps,
                             double2* scratch, Normal* found) {
  Normal* kept = pass.normals + static_cast<std::size_t>(peer) * channels;
  if (pass.moments.parts == nullptr) {
    for (unsigned channel = threadIdx.x; channel < channels; channel += kThreads) {
      found[channel] = kept[channel];
    }
    __syncthreads();
    return;
  }
  const auto parts = static_cast<unsigned>(pass.moments.count);
  const double all = static_cast<double>(pass.pixels), part_of = 1 / all, share = parts / all;
  // Loaded early: it takes two dependent reads.
  const Affine own = affine_of(pass.model, peer, min(threadIdx.x, channels - 1));
  sum_parts<kThreads>(
      pass.moments.parts + static_cast<std::size_t>(peer) * parts * channels, parts, channels, 0,
      channels, scratch,
      [&](float2 part) {
        const double s = static_cast<double>(part.x);
        return make_double2(s, static_cast<double>(part.y) + s * s * share);
      },
      [&](unsigned channel, double2 sum) {
        const double mean = sum.x * part_of;
        const double variance = fmax(sum.y * part_of - mean * mean, 0.0);
        const Affine affine = channel < kThreads ? own : affine_of(pass.model, peer, channel);
        const Normal normal = normal_of(affine, mean, variance);
        found[channel] = normal;
        if (!keeps) return;
        kept[channel] = normal;
        follow_moments(pass.model, peer, channel, all, mean, variance);
      });
}

}  // namespace hearsay::engine::cuda
