#include <algorithm>
#include <cassert>

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/norm/batch_norm_passes.cuh"

namespace hearsay::engine::cuda {

namespace {

using namespace batch_norm;
using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

class BatchNormStep final : public Step {
 public:
  explicit BatchNormStep(const Site& site)
      : site_(site), normals_(peers() * channels()), slopes_(peers() * channels()) {
    with_width(site.x->type, channels(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 const auto grid = ChannelGrid::of_sums(*site_.x, W, kChannelThreads);
                 partials_ = Memory<float2>(grid.partials());
                 tickets_ = Memory<unsigned>(grid.tickets());
               });
    site.x->wants_moments = true;
    site.y->norm = {.x = site.x->data,
                    .normals = normals_.data(),
                    .relu = site.relu,
                    .residual = site.residual != nullptr};
  }

  void forward(LaunchRecorder& recorder, const Call& call) override {
    with_width(site_.x->type, channels(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 const auto grid = ChannelGrid::of_sums(*site_.x, W, kChannelThreads);
                 const auto* x = static_cast<const T*>(site_.x->data);
                 const T* residual =
                     site_.residual ? static_cast<const T*>(site_.residual->data) : nullptr;
                 auto* y = static_cast<T*>(site_.y->data);
                 NormPass norm{.normals = normals_.data(),
                               .relu = site_.relu,
                               .pixels = grid.pixels,
                               .model = model(call)};
                 if (call.training) norm.moments = site_.x->moments;
                 if (!call.training) {
                   recorder.launch(read_statistics, dim3(blocks_for(channels(), 128), grid.peers),
                                   128, 0, norm.model, grid.channels, normals_.data());
                 } else if (norm.moments.parts == nullptr) {
                   recorder.launch(
                       channel_sums<W, MomentTerms<T, W>, MomentFinish<T>>, grid.blocks(),
                       kChannelThreads, 0, grid, MomentTerms<T, W>{.x = x},
                       MomentFinish<T>{.x = x, .model = norm.model, .normals = normals_.data()},
                       partials_.data(), tickets_.data());
                 }
                 const ChannelGrid pass = pass_grid<W>(norm.moments);
                 recorder.launch(normalize<T, W>, pass.blocks_and_keeper(), kPassThreads,
                                 channels() * sizeof(Normal), pass, norm, x, residual, y);
               });
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    with_width(site_.x->type, channels(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 const auto* x = static_cast<const T*>(site_.x->data);
                 const TileSums sums = site_.y->gradient_sums;
                 // The step that made the sums has already zeroed dy where relu does.
                 const bool stopped = !site_.relu || sums.parts != nullptr;
                 const Through<T, W> through{.dy = static_cast<const T*>(site_.y->gradient),
                                             .y = static_cast<const T*>(site_.y->data),
                                             .passes = stopped ? Passes::kAll
                                                       : site_.residual
                                                           ? Passes::kPositive
                                                           : Passes::kPositiveFromInput};
                 const Targets<T> to = targets<T>(stopped);
                 const GradientFinish finish{
                     .model = model(call), .normals = normals_.data(), .slopes = slopes_.data()};
                 if (sums.parts == nullptr) {
                   const auto grid = ChannelGrid::of_sums(*site_.x, W, kChannelThreads);
                   recorder.launch(
                       channel_sums<W, GradientTerms<T, W>, GradientFinish>, grid.blocks(),
                       kChannelThreads, 0, grid,
                       GradientTerms<T, W>{.x = x, .through = through, .normals = normals_.data()},
                       finish, partials_.data(), tickets_.data());
                   if (to.dx == nullptr && to.residual == nullptr) return;
                 }
                 const ChannelGrid pass = pass_grid<W>(sums);
                 recorder.launch(pull_back<T, W>, pass.blocks_and_keeper(), kPassThreads,
                                 slab_bytes<Tangent, W>(), pass, sums, finish, x, through, to);
               });
  }

 private:
  std::size_t peers() const { return site_.x->peers; }
  std::size_t channels() const { return site_.x->shape.channels; }
  template <class Value, int W>
  std::size_t slab_bytes() const {
    return std::min<std::size_t>(channels(), std::size_t{kPassThreads} * W) * sizeof(Value);
  }
  template <int W>
  ChannelGrid pass_grid(const TileSums& sums) const {
    return ChannelGrid::of_pass(*site_.x, W, kPassThreads,
                                kPassBlocks<W> * static_cast<unsigned>(site_.processors),
                                sums.count);
  }
  /// Where gradients go. That of a residual which shares the array of dy (gradient_owners.h) is
  /// there already, unless relu masks some of it; then it overwrites dy.
  template <class T>
  Targets<T> targets(bool stopped) const {
    Targets<T> to{.dx = static_cast<T*>(site_.x->gradient)};
    to.add = to.dx != nullptr && site_.x->adds();
    if (site_.residual == nullptr || !site_.residual->wants_gradient()) return to;
    to.residual = static_cast<T*>(site_.residual->gradient);
    to.add_residual = site_.residual->adds();
    if (to.residual != site_.y->gradient) return to;
    assert(to.add_residual == 0);
    if (stopped) to.residual = nullptr;
    return to;
  }
  NormModel model(const Call& call) const {
    return {.parameters = call.parameters,
            .buffers = call.buffers,
            .new_buffers = call.new_buffers,
            .gradient = call.gradient,
            .momentum = call.momentum,
            .weight = site_.places.parameter[0],
            .bias = site_.places.parameter[1],
            .mean = site_.places.buffer[0],
            .variance = site_.places.buffer[1]};
  }

  Site site_;
  Memory<Normal> normals_;
  Memory<Slope> slopes_;
  Memory<float2> partials_;
  Memory<unsigned> tickets_;
};

}  // namespace

std::unique_ptr<Step> make_batch_norm(const Site& site) {
  return std::make_unique<BatchNormStep>(site);
}

}  // namespace hearsay::engine::cuda
