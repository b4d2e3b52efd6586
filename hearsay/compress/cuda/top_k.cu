#include <algorithm>

#include "hearsay/compress/cuda/select_large.cuh"
#include "hearsay/compress/cuda/select_small.cuh"
#include "hearsay/compress/cuda/sparse_rows.h"

namespace hearsay::compress::cuda {

namespace {

using backend::cuda::Memory;

/// Small units are launched by size: those of up to `entries` get `threads` and
/// shared_bytes(entries).
struct Class {
  std::size_t entries;
  unsigned threads;
};
constexpr Class kClasses[] = {{2048, 256}, {10'240, 512}, {38'400, 1024}};
constexpr std::size_t kClassCount = std::size(kClasses);

std::size_t shared_bytes(std::size_t entries) { return sizeof(unsigned) * (kBins + entries); }

/// Dynamic shared memory that a block can have: the device's limit less 1 KB for static arrays.
std::size_t most_shared() {
  int device = 0, bytes = 0;
  backend::cuda::check(cudaGetDevice(&device), "asking for the device");
  backend::cuda::check(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
      "asking for shared memory");
  return static_cast<std::size_t>(bytes) - 1024;
}

class TopKRows final : public SparseRows {
 public:
  TopKRows(Context& context, const TopKKind& kind, const Layout& layout)
      : SparseRows(context, units(layout, kind.scope, kind.keep), layout.dim(), kind.format) {
    const std::size_t limit = most_shared();
    std::vector<SmallUnit> small[kClassCount];
    std::vector<LargeUnit> large;
    std::vector<std::uint32_t> unit_of;
    std::uint32_t place = 0, number = 0;
    for (const Unit& unit : units_) {
      const DeviceUnit span{static_cast<std::uint32_t>(unit.begin),
                            static_cast<std::uint32_t>(unit.size),
                            static_cast<std::uint32_t>(unit.keep), place};
      const auto fits = [&](const Class& c) {
        return unit.size <= c.entries && shared_bytes(c.entries) <= limit;
      };
      const auto found = std::ranges::find_if(kClasses, fits);
      if (found != std::end(kClasses)) {
        small[found - kClasses].push_back({span, number});
      } else {
        const std::uint32_t pieces = pieces_of(unit.size);
        large.push_back({span, number, static_cast<std::uint32_t>(unit_of.size()), pieces});
        unit_of.insert(unit_of.end(), pieces, static_cast<std::uint32_t>(large.size() - 1));
      }
      place += span.keep;
      ++number;
    }
    for (std::size_t c = 0; c < kClassCount; ++c) {
      small_[c] = Memory<SmallUnit>(std::span<const SmallUnit>(small[c]));
    }
    large_ = Memory<LargeUnit>(std::span<const LargeUnit>(large));
    unit_of_ = Memory<std::uint32_t>(std::span<const std::uint32_t>(unit_of));
  }

 private:
  void select(const float* v, std::size_t rows, std::uint32_t) override {
    const Kept kept{.index = index_.data(),
                    .value = value_.data(),
                    .scales = scales_.data(),
                    .keep = keep_,
                    .units = static_cast<std::uint32_t>(units_.size()),
                    .format = format_};
    backend::cuda::LaunchRecorder& recorder = context_.recorder;
    // Classes run side by side: stream 0 takes the last, whose blocks take longest. A caller on a
    // side stream has others beside it already, and its classes come one after the other.
    const bool alone = recorder.current_stream() == 0;
    for (std::size_t c = 0; c < kClassCount; ++c) {
      if (small_[c].size() == 0) continue;
      const int stream = alone && c + 1 < kClassCount ? static_cast<int>(c) + 1 : 0;
      if (stream > 0) {
        recorder.fork(stream);
        recorder.use(stream);
      }
      const dim3 grid(static_cast<unsigned>(small_[c].size()), static_cast<unsigned>(rows));
      recorder.launch(select_small, grid, kClasses[c].threads, shared_bytes(kClasses[c].entries),
                      small_[c].data(), v, dim_, kept);
      if (stream > 0) recorder.use(0);
    }
    if (large_.size() > 0) select_large(v, rows, kept);
    for (std::size_t c = 0; alone && c + 1 < kClassCount; ++c) {
      if (small_[c].size() > 0) recorder.join(static_cast<int>(c) + 1);
    }
  }

  void select_large(const float* v, std::size_t rows, const Kept& kept) {
    const dim3 grid(static_cast<unsigned>(unit_of_.size()), static_cast<unsigned>(rows));
    const LargeSearch search = searches(rows);
    backend::cuda::LaunchRecorder& recorder = context_.recorder;
    recorder.launch(list_guessed, grid, kPieceThreads, 0, search, v, dim_);
    recorder.launch(search_first, grid, kPieceThreads, 0, search, v, dim_);
    recorder.launch(search_second, grid, kPieceThreads, 0, search, v, dim_);
    recorder.launch(search_last, grid, kListThreads, 0, search, v, dim_);
    recorder.launch(tally_large, grid, kListThreads, 0, search, v, dim_);
    recorder.launch(write_large, grid, kListThreads, 0, search, v, dim_, kept);
  }

  LargeSearch searches(std::size_t rows) {
    const std::size_t jobs = rows * large_.size();
    if (search_.size() < jobs) {  // in the first call: a bank has as many rows in every one
      guess_ = Memory<unsigned>(jobs);
      missed_ = Memory<unsigned>(jobs);
      largest_ = Memory<unsigned>(jobs);
      found_largest_ = Memory<unsigned>(jobs);
      bins_ = Memory<unsigned>(jobs * kBins);
      tickets_ = Memory<unsigned>(jobs);
      tallies_ = Memory<Tally>(rows * unit_of_.size());
      listed_ = Memory<unsigned>(rows * unit_of_.size());
      lists_ = Memory<std::uint16_t>(rows * unit_of_.size() * kListed);
      values_ = Memory<unsigned>(rows * unit_of_.size() * kListed);
      search_ = Memory<Search>(jobs);  // last: its size says that all are allocated
    }
    return {large_.data(),
            unit_of_.data(),
            guess_.data(),
            missed_.data(),
            search_.data(),
            largest_.data(),
            found_largest_.data(),
            bins_.data(),
            tickets_.data(),
            tallies_.data(),
            listed_.data(),
            lists_.data(),
            values_.data(),
            static_cast<std::uint32_t>(large_.size()),
            static_cast<std::uint32_t>(unit_of_.size())};
  }

  Memory<SmallUnit> small_[kClassCount];
  Memory<LargeUnit> large_;
  Memory<std::uint32_t> unit_of_;  ///< [piece of a large unit]
  Memory<Search> search_;
  Memory<unsigned> guess_, missed_, largest_, found_largest_, bins_, tickets_;
  Memory<Tally> tallies_;
  Memory<unsigned> listed_, values_;
  Memory<std::uint16_t> lists_;
};

}  // namespace

std::unique_ptr<Rows> make_top_k(Context& context, const TopKKind& kind, const Layout& layout) {
  return std::make_unique<TopKRows>(context, kind, layout);
}

}  // namespace hearsay::compress::cuda
