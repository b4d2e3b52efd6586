#include "hearsay/engine/cuda/conv/convolve/conv_direction.h"

#include <algorithm>

#include "hearsay/engine/cuda/conv/image_map.h"

namespace hearsay::engine::cuda {

ConvDirection::ConvDirection(const Site& site, const ConvGeometry& geometry,
                             const model::Conv2d& conv, bool backward, const void* input)
    : choice_(choose(site, geometry, backward)),
      backward_(backward),
      input_(input),
      peers_(site.x->peers) {
  if (choice_.kernel == nullptr) return;
  const ConvGeometry& g = choice_.geometry;
  const ConvKernel& kernel = *choice_.kernel;
  const int entry = site.x->entry_bytes();
  groups_ = divide_up(g.out_c, kernel.out);
  peer_bytes_ = static_cast<long>(groups_) * choice_.chunks * kernel.weight_bytes(g);
  packed_ = backend::cuda::Memory<char>(peers_ * static_cast<std::size_t>(peer_bytes_));
  job_ = {.weight_at = static_cast<long>(site.places.parameter[0]),
          .out = static_cast<int>(conv.out),
          .in = static_cast<int>(site.x->shape.channels),
          .taps = g.taps,
          .exchanged = backward,
          .outputs_a_group = kernel.out,
          .inputs_a_chunk = kernel.bytes / entry,
          .pitch_entries = kernel.pitch / entry,
          .groups = groups_,
          .chunks = choice_.chunks,
          .packed = packed_.data(),
          .peer_bytes = peer_bytes_};
  if (!kernel.uses_tma()) return;
  const auto* function = reinterpret_cast<const void*>(kernel.tma_3x3[backward]);
  const auto shared = static_cast<std::size_t>(choice_.shared_bytes);
  blocks_at_once_ = std::max(backend::cuda::blocks_at_once(function, kernel.threads, shared), 1);
  map_ = make_image_map(input, patch_box(g, peers_, site.x->type, kernel.bytes, true));
}

bool ConvDirection::can_sum_moments() const {
  const ConvGeometry& g = choice_.geometry;
  return can_sum() && g.images % g.tile_i == 0 && g.out_h % g.tile_h == 0 &&
         g.out_w % g.tile_w == 0;
}

TileSums ConvDirection::sum(ConvLaunch& launch) {
  const ConvGeometry& g = choice_.geometry;
  if (sums_.size() == 0) {
    sums_ = backend::cuda::Memory<float2>(peers_ * static_cast<std::size_t>(g.tiles * g.out_c));
  }
  launch.sums = sums_.data();
  return {sums_.data(), static_cast<unsigned long>(g.tiles)};
}

void ConvDirection::launch(backend::cuda::LaunchRecorder& recorder, ConvLaunch launch) const {
  const ConvGeometry& g = choice_.geometry;
  const ConvKernel& kernel = *choice_.kernel;
  launch.geometry = g;
  launch.x = input_;
  launch.weights = packed_.data();
  launch.weights_stride = peer_bytes_;
  launch.chunks = choice_.chunks;
  launch.resident = choice_.resident;
  const auto threads = static_cast<unsigned>(kernel.threads);
  const auto shared = static_cast<std::size_t>(choice_.shared_bytes);
  dim3 grid(static_cast<unsigned>(g.tiles), static_cast<unsigned>(groups_),
            static_cast<unsigned>(peers_));
  if (!kernel.uses_tma()) {
    recorder.launch(kernel.launch(g, backward_), grid, threads, shared, launch);
    return;
  }
  // As many blocks as the device holds at once; each takes its share of the tiles.
  const int all = g.tiles * groups_ * static_cast<int>(peers_);
  grid.x = static_cast<unsigned>(divide_up(g.tiles, divide_up(all, blocks_at_once_)));
  recorder.launch(kernel.tma_3x3[backward_], grid, threads, shared, map_, launch);
}

}  // namespace hearsay::engine::cuda
