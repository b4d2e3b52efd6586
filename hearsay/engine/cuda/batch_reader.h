#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/engine/cuda/image_reader.h"
#include "hearsay/engine/stream_key.h"

namespace hearsay::engine::cuda {

struct Picking;

/// Which samples the peers of a bank read in which round, and how those are augmented: as batches.h
/// and data/augment.h define it, drawn on the device.
///
/// The orders of the passes that a round reads lie on the device; the host computes those of a new
/// pass when a round first needs it, and the staging buffer carries them there.
class BatchReader {
 public:
  /// The samples of each row's peer, indices into the training set, as many for each.
  using Parts = std::vector<std::span<const std::uint32_t>>;

  BatchReader(Parts parts, std::size_t batch, const data::Dataset& dataset,
              const data::Recipe& recipe);

  std::size_t rows() const { return parts_.size(); }

  /// Fills `slots` (device memory for rows() * batch of them) for the rounds, peers and seeds that
  /// `keys` names, one per row. A row keeps its peer and seed.
  void pick(backend::cuda::LaunchRecorder& recorder, std::span<const StreamKey> keys, Slot* slots);

  /// Fills a batch of slots with given samples, augmented as those of that stream are.
  void pick(backend::cuda::LaunchRecorder& recorder, const StreamKey& key,
            std::span<const std::uint32_t> samples, Slot* slots) const;

 private:
  Picking picking() const;
  void bring_passes(backend::cuda::LaunchRecorder& recorder, std::span<const StreamKey> keys);

  Parts parts_;
  std::size_t batch_, samples_;
  std::size_t passes_;  ///< passes per row on the device at once; pass p lies at p % passes_
  std::uint32_t height_, width_;  ///< of stored images
  data::Recipe recipe_;
  backend::cuda::Memory<std::uint32_t> orders_;  ///< [row][passes_][samples_]: indices of samples
  std::vector<std::uint64_t> there_;             ///< which pass [row][passes_] holds
};

}  // namespace hearsay::engine::cuda
