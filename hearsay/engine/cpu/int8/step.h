#pragma once

#include <cstddef>
#include <memory>

#include "hearsay/engine/cpu/step.h"

/// The operations of networks in 8 bits (engine/quantize.h has the roundings), a chunk of samples
/// at a time. Values are codes of a byte with a scale per sample, by pixel, all channels of a pixel
/// together; gradients between operations are f32. A product quantizes the gradient d of its output
/// to 16 bits, sample by sample; then
///
///   data      products of SR8(d) with the weights' codes
///   weights   of the two halves of d with the input's codes, exact over a chunk
///
/// so that only the latter, which are summed over many samples, need more than 8 bits ("gradient
/// bifurcation": Banner, Hubara, Hoffer, Soudry 2018; Aketi, Kodge, Roy 2022).
namespace hearsay::engine::cpu::int8 {

/// Samples that are computed together. Results depend on it: the weight gradients of a chunk have
/// one unit.
inline constexpr std::size_t kChunk = 8;

/// What the steps need besides the peer's arrays: which samples of the batch are in the chunk.
struct Call : cpu::Call {
  std::size_t first = 0;           ///< the chunk's first sample in the batch
  std::size_t count = 0;           ///< samples of the chunk
  const StreamKey* key = nullptr;  ///< of stochastic rounding, in backward
};

struct Site : cpu::Site {};

class Step {
 public:
  virtual ~Step() = default;
  virtual Demands demands() const { return {}; }
  /// Memory beside the arena.
  virtual std::size_t bytes() const { return 0; }

  /// Reads the parameters, once for all chunks of a batch. `backward` if gradients will be
  /// computed.
  virtual void prepare(const Call&, bool /*backward*/) {}
  /// Computes the output from the inputs.
  virtual void forward(const Call& call, std::byte* scratch) = 0;
  /// Computes the output of the chunk's last `forward` again, whose memory was lent to others.
  virtual void recompute(const Call&) {}
  /// Computes the gradients of the inputs from the output's; adds those of parameters.
  virtual void backward(const Call& call, std::byte* scratch) = 0;
};

/// body(lane, n) for the samples of the chunk, each of which is work for that many entries.
template <class Body>
void for_each_sample(const Lanes& lanes, const Call& call, std::size_t entries, const Body& body) {
  const Chunks parts = lanes.parts(call.count, entries);
  lanes.run(parts.count(), [&](std::size_t lane, std::size_t k) {
    for (std::size_t n = parts.first(k); n < parts.first(k) + parts.size(k); ++n) body(lane, n);
  });
}

std::unique_ptr<Step> make_conv2d(const model::Conv2d&, const Site&);
std::unique_ptr<Step> make_linear(const model::Linear&, const Site&);
std::unique_ptr<Step> make_range_evo_norm(const model::RangeEvoNorm&, const Site&);
std::unique_ptr<Step> make_relu(const Site&);
std::unique_ptr<Step> make_add(const Site&);
std::unique_ptr<Step> make_shortcut(const Site&);
std::unique_ptr<Step> make_max_pool(const model::MaxPool&, const Site&);
std::unique_ptr<Step> make_global_average_pool(const Site&);
std::unique_ptr<Step> make_dropout(const model::Dropout&, const Site&);
std::unique_ptr<Step> make_flatten(const Site&);

// Refused before a step is made: check() in program.h.
inline std::unique_ptr<Step> make_batch_norm(const Site&) { return nullptr; }
inline std::unique_ptr<Step> make_group_norm(const model::GroupNorm&, const Site&) {
  return nullptr;
}
inline std::unique_ptr<Step> make_layer_norm(const Site&) { return nullptr; }
inline std::unique_ptr<Step> make_evo_norm(const model::EvoNorm&, const Site&) { return nullptr; }
inline std::unique_ptr<Step> make_gelu(const Site&) { return nullptr; }

}  // namespace hearsay::engine::cpu::int8
