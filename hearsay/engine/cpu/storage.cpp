#include "hearsay/engine/cpu/storage.h"

#include <algorithm>

namespace hearsay::engine::cpu {

Tensor& Storage::add(const model::Shape& shape, std::size_t samples, std::size_t block,
                     bool has_gradient, ElementType type, std::size_t border) {
  Tensor tensor;
  tensor.shape = shape;
  tensor.tiles = {samples, shape.channels, shape.pixels(), block};
  tensor.type = type;
  tensor.border = border;
  tensor.number = items_.size();
  items_.push_back({.tensor = tensor, .has_gradient = has_gradient});
  return items_.back().tensor;
}

void Storage::add_step(const std::vector<Tensor*>& inputs, const Tensor& output,
                       const Demands& demands) {
  const Step step = scratch_bytes_.size();
  scratch_bytes_.push_back(demands.scratch_bytes);
  Item& made = items_[output.number];
  made.made = step;
  // Recomputing a tensor needs the inputs of the step that produces it, so those must be kept.
  made.cheap = demands.output_is_cheap && std::ranges::none_of(inputs, [&](const Tensor* input) {
                 return items_[input->number].cheap;
               });
  if (demands.output_in_backward) made.rereads.push_back(step);
  for (const Tensor* input : inputs) {
    Item& item = items_[input->number];
    item.reads.push_back(step);
    // The residual is read in backward only to recompute the sum.
    const bool again = made.cheap || (demands.input_in_backward && input == inputs.front());
    if (again) item.rereads.push_back(step);
    item.gradient_is_of.reset();
  }
}

std::size_t Storage::owner_of_gradient(std::size_t i) const {
  while (items_[i].gradient_is_of) i = *items_[i].gradient_is_of;
  return i;
}

void Storage::place(const Tensor& logits) {
  const std::size_t count = scratch_bytes_.size();
  const auto back = [&](Step step) { return 2 * count - step; };
  const auto is_used = [&](const Item& item) {  // others are inside a fused step
    return &item.tensor == &logits || !item.reads.empty();
  };

  // A gradient's memory is live until the producers of all tensors that share it have read it.
  std::vector<std::size_t> gradient_end(items_.size(), 0);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    std::size_t& end = gradient_end[owner_of_gradient(i)];
    end = std::max(end, back(items_[i].made));
  }

  struct Spots {
    std::optional<std::size_t> first, second, scales, gradient, second_gradient;
  };
  std::vector<Spots> places(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!is_used(item)) continue;
    const std::size_t bytes = item.tensor.bytes();
    std::size_t last = item.reads.empty() ? count : item.reads.back();
    std::size_t last_of_scales = last;
    if (!item.rereads.empty()) {
      const auto [early, late] = std::ranges::minmax(item.rereads);
      last_of_scales = back(early);
      if (item.cheap) {
        places[i].second = arena_.request(bytes, back(late), back(early));
      } else {
        last = back(early);
      }
    }
    places[i].first = arena_.request(bytes, item.made, last);
    if (is_quantized(item.tensor.type)) {
      const std::size_t of_scales = item.tensor.tiles.samples * sizeof(float);
      places[i].scales = arena_.request(of_scales, item.made, last_of_scales);
    }
    if (!item.has_gradient) continue;
    const std::size_t of_gradient = item.tensor.tiles.size() * sizeof(float);
    if (owner_of_gradient(i) == i) {
      const std::size_t begin = item.reads.empty() ? count : back(item.reads.back());
      places[i].gradient = arena_.request(of_gradient, begin, gradient_end[i]);
    }
    if (item.reads.size() > 1) {
      const Step second_reader = item.reads[item.reads.size() - 2];
      places[i].second_gradient = arena_.request(of_gradient, back(second_reader), back(item.made));
    }
  }
  std::vector<std::size_t> there(count), back_again(count);
  for (Step k = 0; k < count; ++k) {
    there[k] = arena_.request(scratch_bytes_[k], k, k);
    back_again[k] = arena_.request(scratch_bytes_[k], back(k), back(k));
  }
  arena_.allocate();

  const auto at = [&](std::optional<std::size_t> place) {
    return place ? arena_.at(*place) : nullptr;
  };
  const auto floats_at = [&](std::optional<std::size_t> place) {
    return reinterpret_cast<float*>(at(place));
  };
  recomputed_.resize(count);
  makers_.resize(count);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    item.first = item.tensor.values = at(places[i].first);
    item.tensor.scales = floats_at(places[i].scales);
    item.tensor.second_gradient = floats_at(places[i].second_gradient);
    if (item.has_gradient) item.tensor.gradient = floats_at(places[owner_of_gradient(i)].gradient);
    if (!places[i].second) continue;
    item.second = at(places[i].second);
    const Step first_in_backward = std::ranges::max(item.rereads);
    recomputed_[first_in_backward].push_back(i);
    makers_[first_in_backward].push_back(item.made);
  }
  for (Step k = 0; k < count; ++k) {
    scratch_.push_back(arena_.at(there[k]));
    back_scratch_.push_back(arena_.at(back_again[k]));
  }
}

void Storage::go_forward() {
  for (Item& item : items_) {
    item.tensor.values = item.first;
    item.tensor.contributions = 0;
  }
}

std::span<const Storage::Step> Storage::go_back(Step step) {
  for (std::size_t i : recomputed_[step]) items_[i].tensor.values = items_[i].second;
  return makers_[step];
}

}  // namespace hearsay::engine::cpu
