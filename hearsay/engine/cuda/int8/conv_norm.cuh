#pragma once

#include "hearsay/engine/cuda/int8/convolution.cuh"
#include "hearsay/engine/cuda/int8/range_norm.cuh"

/// A convolution and the norm that follows it in one launch, forward and backward: what is between
/// them, sums and gradients of 4 bytes an entry, stays in shared memory. It does for images of up
/// to 32 x 32 with 16 channels (less with more); where it does not, conv2d.cu and range_norm.cu
/// compute one after the other. All have the same bits.
namespace hearsay::engine::cuda::int8 {

/// Where the parts of a block's shared memory begin, in bytes.
struct BlockMemory {
  unsigned offsets = 0;   ///< of the product's units; before it the canvas
  unsigned slots = 0;     ///< 4 bytes per entry of the convolution's output
  unsigned codes = 0;     ///< forward: of the residual; backward: of the convolution's output
  unsigned runs = 0;      ///< forward: largest and smallest code; backward: how many there are
  unsigned shares = 0;    ///< backward: of each in the gradient of the range
  unsigned extremes = 0;  ///< backward: the codes
  unsigned sums = 0;      ///< forward: S of the groups; backward: sums of channels, then of groups
  unsigned bytes = 0;

  bool operator==(const BlockMemory&) const = default;
};

/// What a launch knows. An item is a row of a channel, whose values are all of one run, or every
/// phases-th value of it: with 16 channels two, which is free of bank conflicts, else as many as
/// there are threads for.
struct Sizes {
  ConvSizes conv;
  Norm norm;
  BlockMemory memory;
  unsigned phases;  ///< items per row of a channel

  bool operator==(const Sizes&) const = default;
};

constexpr unsigned phases_of(unsigned channels, unsigned height, unsigned width) {
  unsigned phases = channels == 16 && width % 2 == 0 ? 2 : 1;
  while (phases * height * channels < kThreads && width % (2 * phases) == 0) phases *= 2;
  return phases;
}

/// Kernels are compiled once for any sizes, and once for each of those that ResNets for CIFAR
/// consist of: with constants the compiler divides by shifts and unrolls.
struct AnySizes {
  __host__ __device__ static void tell(Sizes&) {}
};

/// A convolution of 3 x 3 that keeps channels and pixels, and a norm of eight groups.
template <unsigned Channels, unsigned Side>
struct KnownSizes {
  __host__ __device__ static void tell(Sizes& s) {
    for (Extent* image : {&s.conv.x, &s.conv.y, &s.norm.x}) {
      image->height = image->width = Side;
      image->channels = Channels;
    }
    s.conv.stride = s.conv.border = 1;
    s.conv.product = {.rows = Side,
                      .columns = Side,
                      .step = 1,
                      .kernel = 3,
                      .canvas_width = Side + 2,
                      .pixel_bytes = pixel_bytes_of(Channels),
                      .groups_in = Channels / 16,
                      .groups_out = Channels / 16};
    s.norm.channels = Channels;
    s.norm.groups = 8;
    s.norm.members = Channels / 8;
    s.norm.run = Channels / 8 * Side * Side / kRuns;
    constexpr unsigned kPhases = phases_of(Channels, Side, Side);
    s.phases = kPhases;
  }
};

/// of(Known()) for these sizes.
template <class Of, class Known, class... Others>
auto kernel_for(const Sizes& sizes, const Of& of) {
  Sizes told = sizes;
  Known::tell(told);
  if constexpr (sizeof...(Others) > 0) {
    if (told != sizes) return kernel_for<Of, Others...>(sizes, of);
  }
  return of(Known());
}
template <class Of>
auto kernel_of(const Sizes& sizes, const Of& of) {
  return kernel_for<Of, KnownSizes<16, 32>, KnownSizes<32, 16>, KnownSizes<64, 8>, AnySizes>(sizes,
                                                                                             of);
}

/// What a thread visits where the order does not matter.
struct Item {
  __device__ Item(const Sizes& s, unsigned i)
      : channel(i % s.norm.x.channels),
        row(i / s.norm.x.channels / s.phases),
        first((row * s.norm.x.width + i / s.norm.x.channels % s.phases) * s.norm.x.channels +
              channel),
        step(s.phases * s.norm.x.channels),
        count(s.norm.x.width / s.phases) {}
  unsigned channel, row;
  unsigned first, step, count;  ///< places in the image

  __device__ static unsigned all(const Sizes& s) {
    return s.norm.x.height * s.norm.x.channels * s.phases;
  }
};

struct Codes {
  std::int8_t* codes;
  float* scales;
};

/// The gradients that a launch reads and writes.
struct Gradients {
  const float* dy;
  float* residual;      ///< dy, or added to what is there; null: not wanted
  float* parts;         ///< of weight, bias and v: [sample][which][channel]
  std::int16_t* codes;  ///< Q16 of the gradient of the convolution's output
  float* scales;
  float* dx;  ///< null: not wanted
  unsigned add_residual, add;
  unsigned operation, unused;  ///< its random bytes
};

using ForwardKernel = void (*)(const std::int8_t* x, const float* x_scales, Factor weights,
                               const float* const* parameters, Sizes s, const std::int8_t* residual,
                               const float* residual_scales, Codes between, Codes y);
ForwardKernel forward_kernel(const Sizes& sizes);

using BackwardKernel = void (*)(const std::int8_t* between, const float* scales, Factor weights,
                                const float* const* parameters, const StreamKey* keys, Sizes s,
                                Gradients g);
BackwardKernel backward_kernel(const Sizes& sizes);

}  // namespace hearsay::engine::cuda::int8
