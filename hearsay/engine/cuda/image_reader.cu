#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/image_reader.h"

#include <vector>

#include "hearsay/data/image/pixels-inl.h"
#include "hearsay/data/targets.h"
#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

constexpr unsigned kThreads = 256;

struct Sizes {
  unsigned channels, height, width, margin, slots;
};

/// One channel of a stored image, normalised: slope p + offset, with two roundings as on the CPU.
template <class Entry>
struct Plane {
  const Entry* entries;
  unsigned stride;
  float2 normalizer;

  __device__ float normalize(float p) const {
    return __fadd_rn(__fmul_rn(normalizer.x, p), normalizer.y);
  }
  __device__ float operator()(int row, int column) const {
    return normalize(static_cast<float>(entries[row * static_cast<int>(stride) + column]));
  }
};

/// The inputs that output k of a resized row or column is a weighted mean of, with weights falling
/// linearly from the centre: data/resize.cpp. In double, recomputed by every thread.
struct Triangle {
  __device__ Triangle(int inputs, int outputs, int k) {
    const double ratio = static_cast<double>(inputs) / outputs;
    reach = fmax(ratio, 1.0);
    taps = min(inputs, static_cast<int>(ceil(reach)) * 2 + 1);
    centre = __dmul_rn(k + 0.5, ratio);
    first = static_cast<int>(
        fmin(fmax(floor(centre - reach), 0.0), static_cast<double>(inputs - taps)));
    for (int t = 0; t < taps; ++t) sum += raw(t);
  }
  __device__ double raw(int t) const {
    return fmax(0.0, 1 - fabs(first + t + 0.5 - centre) / reach);
  }
  __device__ float weight(int t) const { return static_cast<float>(raw(t) / sum); }

  int first, taps;
  double reach, centre, sum = 0;
};

/// One pixel of the resized box: rows of weighted columns, both ascending, in float.
template <class Entry>
__device__ float stretched(const Plane<Entry>& plane, const Slot& slot, const Triangle& down,
                           const Triangle& across) {
  float sum = 0;
  for (int i = 0; i < down.taps; ++i) {
    float row = 0;
    for (int j = 0; j < across.taps; ++j) {
      row += across.weight(j) * plane(slot.top + down.first + i, slot.left + across.first + j);
    }
    sum += down.weight(i) * row;
  }
  return sum;
}

/// images(slot, y, x, c) = the slot's sample, cropped, mirrored or resized, and normalised;
/// labels_out [slot] = its label, if there are labels. Grid: ceil(pixels of all slots / 256), 256
/// threads, one pixel with all its channels per thread (stored images are planes, the batch has
/// channels fastest). No shared memory, no sums across threads. Bytes in, 2 or 4 bytes per entry
/// out: small beside the network's tensors; bound not measured. Resizing takes (taps)^2 reads per
/// channel and weights in double.
template <class T, class Entry>
__global__ void read_images(const Entry* entries, const std::uint16_t* labels,
                            const float2* normalizers, Sizes s, const Slot* slots, T* images,
                            std::uint16_t* labels_out) {
  backend::cuda::begin_launch();
  const unsigned pixels = s.height * s.width;
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= s.slots * pixels) return;
  const Slot slot = slots[at / pixels];
  const unsigned pixel = at % pixels;
  if (pixel == 0 && labels != nullptr) labels_out[at / pixels] = labels[slot.sample];

  const int height = static_cast<int>(s.height), width = static_cast<int>(s.width);
  const int margin = static_cast<int>(s.margin);
  const int y = static_cast<int>(pixel / s.width), x = static_cast<int>(pixel % s.width);
  const unsigned stride = s.width + 2 * s.margin, area = (s.height + 2 * s.margin) * stride;
  const Entry* image = entries + std::size_t{slot.sample} * s.channels * area;
  T* out = images + std::size_t{at} * s.channels;
  // A box resized to the image's size, or else the image shifted, with black beyond its border.
  if (slot.height > 0) {
    const Triangle down(slot.height, height, y);
    const Triangle across(slot.width, width, slot.mirrored != 0 ? width - 1 - x : x);
    for (unsigned c = 0; c < s.channels; ++c) {
      const Plane<Entry> plane{image + c * area, stride, normalizers[c]};
      out[c] = from_float<T>(stretched(plane, slot, down, across));
    }
    return;
  }
  const int row = y + slot.top, shifted = x + slot.left;
  const bool inside = row >= 0 && row < height && shifted >= 0 && shifted < width;
  const int column = slot.mirrored != 0 ? width - 1 - shifted : shifted;
  for (unsigned c = 0; c < s.channels; ++c) {
    const Plane<Entry> plane{image + c * area, stride, normalizers[c]};
    out[c] = from_float<T>(inside ? plane(row + margin, column + margin) : plane.normalize(0));
  }
}

/// out(slot, k) = number k of the slot's sample. Grid: ceil(slots width / 256), 256 threads, one
/// number per thread; no shared memory. Bound by launch latency; not measured.
__global__ void read_numbers(const float* numbers, unsigned width, const Slot* slots,
                             unsigned count, float* out) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= count) return;
  out[at] = numbers[std::size_t{slots[at / width].sample} * width + at % width];
}

/// All targets of a regression as a model learns them.
std::vector<float> standardized(const data::Dataset& dataset, const data::Samples& samples) {
  std::vector<float> all(samples.targets.size());
  const std::size_t each = samples.targets_each;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    data::read_targets(dataset, samples, i, std::span(all).subspan(i * each, each));
  }
  return all;
}

}  // namespace

ImageReader::ImageReader(const data::Dataset& dataset, const data::Samples& samples)
    : channels_(static_cast<std::uint32_t>(dataset.channels)),
      height_(static_cast<std::uint32_t>(dataset.height)),
      width_(static_cast<std::uint32_t>(dataset.width)),
      margin_(static_cast<std::uint32_t>(dataset.margin)),
      targets_each_(static_cast<std::uint32_t>(samples.targets_each)),
      size_(samples.size()) {
  if (samples.inputs.type() == ElementType::kF32) {
    values_ = Memory<float>(std::span(samples.inputs.as<float>()));
  } else {
    pixels_ = Memory<std::uint8_t>(std::span(samples.inputs.as<std::uint8_t>()));
  }
  if (dataset.task() == data::Task::kRegression) {
    numbers_ = Memory<float>(std::span<const float>(standardized(dataset, samples)));
  } else {
    labels_ = Memory<std::uint16_t>(std::span(samples.labels()));
  }
  std::vector<float2> normalizers;
  for (std::size_t c = 0; c < dataset.channels; ++c) {
    const data::Normalizer normalizer(dataset, c);
    normalizers.push_back(make_float2(normalizer.slope, normalizer.offset));
  }
  normalizers_ = Memory<float2>(std::span<const float2>(normalizers));
}

void ImageReader::read(LaunchRecorder& recorder, const Slot* slots, const Tensor& images,
                       std::uint16_t* labels, float* numbers) const {
  const Sizes sizes{.channels = channels_,
                    .height = height_,
                    .width = width_,
                    .margin = margin_,
                    .slots = static_cast<unsigned>(images.peers * images.batch)};
  const unsigned blocks = blocks_for(images.pixels(), kThreads);
  with_storage(images.type, [&]<class T>(std::type_identity<T>) {
    auto* out = static_cast<T*>(images.data);
    if (values_.size() == 0) {
      recorder.launch(read_images<T, std::uint8_t>, blocks, kThreads, 0, pixels_.data(),
                      labels_.data(), normalizers_.data(), sizes, slots, out, labels);
    } else {
      recorder.launch(read_images<T, float>, blocks, kThreads, 0, values_.data(), labels_.data(),
                      normalizers_.data(), sizes, slots, out, labels);
    }
  });
  if (numbers_.size() == 0) return;
  const unsigned count = sizes.slots * targets_each_;
  recorder.launch(read_numbers, blocks_for(count, kThreads), kThreads, 0, numbers_.data(),
                  targets_each_, slots, count, numbers);
}

}  // namespace hearsay::engine::cuda
