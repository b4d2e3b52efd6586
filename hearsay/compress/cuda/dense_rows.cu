#include "hearsay/compress/cuda/dense_rows.h"

#include <algorithm>

namespace hearsay::compress::cuda {

using backend::cuda::Memory;

DenseRows::DenseRows(Context& context, const Layout& layout)
    : context_(context), dim_(layout.dim()) {
  constexpr std::size_t kMost = 4096;
  std::vector<Stretch> stretches;
  std::vector<std::uint32_t> first;
  for (const Segment& segment : layout.segments()) {
    if (segment.size == 0) continue;
    first.push_back(static_cast<std::uint32_t>(stretches.size()));
    for (std::size_t at = 0; at < segment.size; at += kMost) {
      stretches.push_back({static_cast<std::uint32_t>(tensors_.size()),
                           static_cast<std::uint32_t>(segment.offset + at),
                           static_cast<std::uint32_t>(std::min(kMost, segment.size - at))});
    }
    tensors_.push_back(
        {static_cast<std::uint32_t>(segment.offset), static_cast<std::uint32_t>(segment.size)});
  }
  first.push_back(static_cast<std::uint32_t>(stretches.size()));
  stretches_ = Memory<Stretch>(std::span<const Stretch>(stretches));
  first_stretch_ = Memory<std::uint32_t>(std::span<const std::uint32_t>(first));
}

void DenseRows::view(std::size_t rows, std::vector<backend::VectorView>& q) {
  if (rows > capacity_) {
    context_.recorder.submit();  // what was recorded with the old memory
    capacity_ = rows;
    dense_ = Memory<float>(std::max<std::size_t>(rows * dim_, 1));  // a view of nothing is dense
    scales_ = Memory<float>(rows * tensors_.size());
    partial_ = Memory<double>(rows * stretches_.size());
  }
  rows_ = rows;
  q.clear();
  for (std::size_t i = 0; i < rows; ++i) q.push_back({dense_.data() + i * dim_});
}

dim3 DenseRows::grid() const {
  return {static_cast<unsigned>(stretches_.size()), static_cast<unsigned>(rows_), 1};
}

}  // namespace hearsay::compress::cuda
