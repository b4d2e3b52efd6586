#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/batch_reader.h"

#include <cassert>

#include "hearsay/engine/batches.h"
#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

/// What the launches below need to know of a BatchReader.
struct Picking {
  unsigned batch, samples, passes, kind;
  unsigned flip, padding;
  unsigned height, width;  ///< of stored images
  double scale;
};

namespace {

using backend::cuda::LaunchRecorder;
using data::Recipe;

constexpr unsigned kThreads = 128;
constexpr std::uint64_t kNoPass = ~std::uint64_t{0};

/// orders[places[k]][.] = list[k][.]: copies the orders of new passes from the staging buffer to
/// where later rounds find them. Grid (ceil(samples / 128), new passes), 128 threads, one index per
/// thread. The grid differs from round to round, so rounds with new passes are graphs of their own.
/// Bound by launch latency; not measured.
__global__ void store_orders(const std::uint32_t* const* list, const std::uint32_t* const* places,
                             unsigned samples, std::uint32_t* orders) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= samples) return;
  orders[std::size_t{(*places)[blockIdx.y]} * samples + at] =
      (*list)[std::size_t{blockIdx.y} * samples + at];
}

/// A number below `count` from a word of 32 bits.
__device__ int place_of(unsigned word, unsigned count) {
  return static_cast<int>(std::uint64_t{word} * count >> 32);
}

/// As data/crop_flip.cpp: flip and shift from the first three words of Philox block k.
__device__ void crop(const Picking& p, const StreamKey& key, unsigned k, Slot& slot) {
  const auto words = key.stream(Purpose::kAugment).words(k);
  slot.mirrored = p.flip != 0 ? words[0] >> 31 : 0;
  slot.top = place_of(words[1], 2 * p.padding + 1) - static_cast<int>(p.padding);
  slot.left = place_of(words[2], 2 * p.padding + 1) - static_cast<int>(p.padding);
}

/// data/resized_crop.cpp: words 2a and 2a + 1 of the slot's 32 are those of attempt a, words 20 to
/// 22 the place and the flip.
__device__ void draw_box(const Picking& p, const StreamKey& key, unsigned k, Slot& slot) {
  constexpr unsigned kAttempts = 10, kBlocks = 8;
  const std::uint64_t first = std::uint64_t{k} * kBlocks;
  const Random random = key.stream(Purpose::kAugment);
  const auto last = random.words(first + kAttempts / 2);
  const double whole = static_cast<double>(p.height) * p.width;
  slot.mirrored = p.flip != 0 ? last[2] >> 31 : 0;
  slot.height = static_cast<int>(p.height);
  slot.width = static_cast<int>(p.width);
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    const auto four = random.words(first + attempt / 2);
    const double u = (attempt % 2 == 0 ? four[0] : four[2]) * 0x1p-32;
    const double v = (attempt % 2 == 0 ? four[1] : four[3]) * 0x1p-32;
    const double area = __dmul_rn(whole, __dadd_rn(p.scale, __dmul_rn(1 - p.scale, u)));
    const double ratio = exp((2 * v - 1) * log(4.0 / 3));
    const long w = lround(sqrt(area * ratio)), h = lround(sqrt(area / ratio));
    if (w == 0 || w > p.width || h == 0 || h > p.height) continue;
    slot.height = static_cast<int>(h);
    slot.width = static_cast<int>(w);
    slot.top = place_of(last[0], p.height - static_cast<unsigned>(h) + 1);
    slot.left = place_of(last[1], p.width - static_cast<unsigned>(w) + 1);
    return;
  }
}

__device__ Slot augmented(const Picking& p, const StreamKey& key, unsigned k, unsigned sample) {
  Slot slot{.sample = sample};
  if (p.kind == static_cast<unsigned>(Recipe::Kind::kCropFlip)) crop(p, key, k, slot);
  if (p.kind == static_cast<unsigned>(Recipe::Kind::kResizedCrop)) draw_box(p, key, k, slot);
  return slot;
}

/// slots[peer][k] = sample and augmentation of place round batch + k of the peer's stream of
/// passes. Grid (ceil(batch / 128), peers), 128 threads, one slot per thread; no shared memory.
/// Random words are functions of (seed, purpose, peer, round) and k, so threads are independent.
/// Bound by launch latency; not measured.
__global__ void pick_slots(const std::uint32_t* orders, const StreamKey* keys, Picking p,
                           Slot* slots) {
  backend::cuda::begin_launch();
  const unsigned k = blockIdx.x * kThreads + threadIdx.x, row = blockIdx.y;
  if (k >= p.batch) return;
  const StreamKey key = keys[row];
  const std::uint64_t place = std::uint64_t{key.round} * p.batch + k, pass = place / p.samples;
  const std::size_t order = std::size_t{row} * p.passes + pass % p.passes;
  slots[std::size_t{row} * p.batch + k] =
      augmented(p, key, k, orders[order * p.samples + place % p.samples]);
}

/// slots[k] = samples[k], augmented as slot k of the stream `key` is: the same for one batch of
/// given samples, which come in the staging buffer. Grid: ceil(batch / 128), 128 threads, one slot
/// per thread; no shared memory. Bound by launch latency; not measured.
__global__ void pick_given(const std::uint32_t* samples, const StreamKey* key, Picking p,
                           Slot* slots) {
  backend::cuda::begin_launch();
  const unsigned k = blockIdx.x * kThreads + threadIdx.x;
  if (k < p.batch) slots[k] = augmented(p, *key, k, samples[k]);
}

}  // namespace

BatchReader::BatchReader(Parts parts, std::size_t batch, const data::Dataset& dataset,
                         const Recipe& recipe)
    : parts_(std::move(parts)),
      batch_(batch),
      samples_(parts_.front().size()),
      passes_((batch + samples_ - 1) / samples_ + 1),  // a batch may begin at any place of a pass
      height_(static_cast<std::uint32_t>(dataset.stored_height())),
      width_(static_cast<std::uint32_t>(dataset.stored_width())),
      recipe_(recipe),
      orders_(rows() * passes_ * samples_),
      there_(rows() * passes_, kNoPass) {}

void BatchReader::bring_passes(LaunchRecorder& recorder, std::span<const StreamKey> keys) {
  std::vector<std::uint32_t> list, places;
  for (std::size_t i = 0; i < rows(); ++i) {
    const std::uint64_t begin = std::uint64_t{keys[i].round} * batch_;
    for (std::uint64_t pass = begin / samples_; pass <= (begin + batch_ - 1) / samples_; ++pass) {
      const std::size_t place = i * passes_ + pass % passes_;
      if (there_[place] == pass) continue;
      there_[place] = pass;
      places.push_back(static_cast<std::uint32_t>(place));
      for (std::uint32_t k : order_of_pass(keys[i].seed, keys[i].peer, pass, samples_)) {
        list.push_back(parts_[i][k]);
      }
    }
  }
  if (places.empty()) return;
  const dim3 grid(blocks_for(samples_, kThreads), static_cast<unsigned>(places.size()));
  recorder.launch(store_orders, grid, kThreads, 0,
                  recorder.put_list(std::span<const std::uint32_t>(list)),
                  recorder.put_list(std::span<const std::uint32_t>(places)),
                  static_cast<unsigned>(samples_), orders_.data());
}

void BatchReader::pick(LaunchRecorder& recorder, std::span<const StreamKey> keys, Slot* slots) {
  assert(keys.size() == rows());
  bring_passes(recorder, keys);
  recorder.launch(pick_slots, dim3(blocks_for(batch_, kThreads), static_cast<unsigned>(rows())),
                  kThreads, 0, orders_.data(), recorder.put(keys), picking(), slots);
}

void BatchReader::pick(LaunchRecorder& recorder, const StreamKey& key,
                       std::span<const std::uint32_t> samples, Slot* slots) const {
  assert(samples.size() == batch_);
  recorder.launch(pick_given, blocks_for(batch_, kThreads), kThreads, 0, recorder.put(samples),
                  recorder.put(key), picking(), slots);
}

Picking BatchReader::picking() const {
  return {.batch = static_cast<unsigned>(batch_),
          .samples = static_cast<unsigned>(samples_),
          .passes = static_cast<unsigned>(passes_),
          .kind = static_cast<unsigned>(recipe_.kind),
          .flip = recipe_.flip,
          .padding = static_cast<unsigned>(recipe_.padding),
          .height = height_,
          .width = width_,
          .scale = recipe_.scale};
}

}  // namespace hearsay::engine::cuda
