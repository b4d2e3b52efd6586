#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "hearsay/engine/cpu/arena.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

/// The tensors of a plan and their memory. First declare, step by step, which tensors are read and
/// written; then `place` gives them memory. A tensor that its step can recompute cheaply is not
/// kept between its last reader in forward and the first in backward.
///
/// Time: step k runs forward at time k, the loss at K, and step k runs backward at 2K - k.
class Storage {
 public:
  using Step = std::size_t;

  /// Without a gradient: images. A quantized type has one scale per sample.
  Tensor& add(const model::Shape& shape, std::size_t samples, std::size_t block, bool has_gradient,
              ElementType type = ElementType::kF32, std::size_t border = 0);
  Tensor& operator[](std::size_t i) { return items_[i].tensor; }

  /// Declare the next step: the tensors it reads and writes, and the memory it needs.
  void add_step(const std::vector<Tensor*>& inputs, const Tensor& output, const Demands& demands);

  /// The gradient of `term` is that of `sum`, in the same memory. For the step declared last, which
  /// produces `sum`; a later reader of `term` cancels this, as its gradient is written first.
  void share_gradient(const Tensor& term, const Tensor& sum) {
    items_[term.number].gradient_is_of = sum.number;
  }

  /// Give memory to all tensors; `logits` is read by the loss.
  void place(const Tensor& logits);

  std::byte* scratch(Step step) const { return scratch_[step]; }
  std::byte* back_scratch(Step step) const { return back_scratch_[step]; }

  /// To be called before a forward pass, and before each step of a backward pass. The latter
  /// returns the producers of the tensors that the step needs and that were not kept: they must
  /// recompute them now.
  void go_forward();
  std::span<const Step> go_back(Step step);

  std::size_t bytes() const { return arena_.bytes(); }

 private:
  struct Item {
    Tensor tensor;
    bool has_gradient;
    Step made = 0;              ///< the step that produces it; 0 for the images, too
    bool cheap = false;         ///< can be recomputed by the step that produces it
    std::vector<Step> reads{};  ///< ascending
    std::vector<Step> rereads{};
    std::optional<std::size_t> gradient_is_of{};
    std::byte* first = nullptr;   ///< its values in the forward pass
    std::byte* second = nullptr;  ///< and in the backward pass, if recomputed
  };

  std::size_t owner_of_gradient(std::size_t i) const;

  std::deque<Item> items_;                  // a deque: tensors do not move
  std::vector<std::size_t> scratch_bytes_;  ///< per step
  Arena arena_;
  std::vector<std::byte*> scratch_, back_scratch_;
  /// By the step before which they are recomputed: items, and the steps that produce them.
  std::vector<std::vector<std::size_t>> recomputed_;
  std::vector<std::vector<Step>> makers_;
};

}  // namespace hearsay::engine::cpu
