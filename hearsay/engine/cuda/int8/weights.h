#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hearsay/backend/cuda/launch_recorder.h"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda::int8 {

/// A weight tensor [out][in][tap] in 8 bits (Q8, one scale for the whole tensor), as the factors b
/// of products (product.cuh): words of four terms in the order in which the lanes of a warp
/// multiply them. A unit is 16 terms, those of one tap and 16 inputs.
///
///   forward   units (tap, inputs), columns out
///   turned    units (tap from the last to the first, outputs), columns in: for gradients of data
///
/// Channels are padded with zeros.
struct PackedTensor {
  std::size_t at = 0;  ///< of the weights, in a peer's parameters
  unsigned out = 0, in = 0, taps = 0;
  unsigned first_block = 0;  ///< in the launch that packs all tensors
  std::uint32_t* forward = nullptr;
  std::uint32_t* turned = nullptr;                  ///< null: not wanted
  std::size_t forward_words = 0, turned_words = 0;  ///< of a peer
};

/// Words of a packed factor of so many units of terms and columns.
constexpr std::size_t packed_words(std::size_t units, std::size_t columns) {
  return (units + 1) / 2 * (columns / 16) * 128;
}

/// A product loads so many steps before it needs them, also beyond a peer's last: there is memory.
inline constexpr int kMostAhead = 4;

/// The codes of all weights of a network, of every peer's model.
class WeightCodes {
 public:
  WeightCodes(std::size_t peers, std::size_t parameters);

  /// Returns the tensor's number. All tensors are added before the first call of `pack`.
  std::size_t add(std::size_t at, std::size_t out, std::size_t in, std::size_t taps, bool turned);

  /// Quantizes and packs the peers' weights, on the recorder's current stream.
  void pack(backend::cuda::LaunchRecorder& recorder, const Call& call);

  const PackedTensor& tensor(std::size_t number) const { return tensors_[number]; }
  /// The magnitudes of the tensor by peer (magnitude_bits): their scales are theirs / 127.
  const std::uint32_t* magnitudes(std::size_t number) const {
    return magnitudes_.data() + number * peers_;
  }
  /// Those of all parameters.
  const std::uint32_t* magnitudes_of_models() const { return magnitudes(kMost - 1); }

 private:
  static constexpr std::size_t kMost = 512;  ///< tensors, and one for all parameters

  void prepare();

  std::size_t peers_, parameters_;
  unsigned blocks_ = 0;
  std::vector<PackedTensor> tensors_;
  std::vector<backend::cuda::Memory<std::uint32_t>> codes_;
  backend::cuda::Memory<std::uint32_t> magnitudes_;
  backend::cuda::Memory<PackedTensor> on_device_;  ///< a copy, made by the first call
  backend::cuda::Memory<unsigned> tensor_of_block_;
};

}  // namespace hearsay::engine::cuda::int8
