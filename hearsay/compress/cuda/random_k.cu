#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/sparse_rows.h"
#include "hearsay/compress/random_k.h"

namespace hearsay::compress::cuda {

namespace {

/// value[row][i] = factor * v[row][chosen[row][i]]; the indices are copied out of the staging
/// buffer, which the next submission overwrites. Grid (ceil(keep / 256), rows), 256 threads, one
/// kept entry per thread. No shared memory. Bound by scattered reads of v; the host's drawing of
/// the indices and their copy come before; not measured.
__global__ void gather(const std::uint32_t* const* chosen, const float* v, std::size_t dim,
                       double factor, std::size_t keep, std::uint32_t* index, float* value) {
  backend::cuda::begin_launch();
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= keep) return;
  const std::size_t place = blockIdx.y * keep + i;
  const std::uint32_t entry = (*chosen)[place];
  const float x = v[blockIdx.y * dim + entry];
  index[place] = entry;
  value[place] = factor == 1 ? x : static_cast<float>(factor * static_cast<double>(x));
}

/// The entries do not depend on x: the host draws them.
class RandomKRows final : public SparseRows {
 public:
  RandomKRows(Context& context, const RandomKKind& kind, const Layout& layout,
              const Streams& streams)
      : SparseRows(context, units(layout, Scope::kModel, kind.keep), layout.dim(),
                   ValueFormat::kF32),
        streams_(streams),
        factor_(kind.scaled && keep_ > 0
                    ? 1 / (static_cast<double>(keep_) / static_cast<double>(dim_))
                    : 1) {}

 private:
  void select(const float* v, std::size_t rows, std::uint32_t round) override {
    constexpr unsigned kThreads = 256;
    chosen_.clear();
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint32_t peer = streams_.first + static_cast<std::uint32_t>(i);
      draw_subset(dim_, keep_, Random(streams_.seed, Purpose::kRounding, peer, round), chosen_);
    }
    const dim3 grid(static_cast<unsigned>((keep_ + kThreads - 1) / kThreads),
                    static_cast<unsigned>(rows));
    context_.recorder.launch(gather, grid, kThreads, 0,
                             context_.recorder.put_list(std::span<const std::uint32_t>(chosen_)), v,
                             dim_, factor_, keep_, index_.data(), value_.data());
  }

  Streams streams_;
  double factor_;
  std::vector<std::uint32_t> chosen_;  ///< of all rows
};

}  // namespace

std::unique_ptr<Rows> make_random_k(Context& context, const RandomKKind& kind, const Layout& layout,
                                    const Streams& streams) {
  return std::make_unique<RandomKRows>(context, kind, layout, streams);
}

}  // namespace hearsay::compress::cuda
