#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hearsay {

/// One tensor inside a model's flat array.
struct Segment {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
  std::vector<std::size_t> shape;
};

/// The placement of a model's tensors in one array of `dim` floats: segments in order, without
/// gaps. Used by layer-wise compression, exports and reports. A segment may be empty.
class Layout {
 public:
  Layout() = default;

  /// One unnamed tensor of `dim` floats.
  explicit Layout(std::size_t dim) { add("x", {dim}); }

  /// Append a tensor; its size is the product of `shape`.
  void add(std::string name, std::vector<std::size_t> shape) {
    std::size_t size = 1;
    for (std::size_t extent : shape) size *= extent;
    segments_.push_back({std::move(name), dim_, size, std::move(shape)});
    dim_ += size;
  }

  const std::vector<Segment>& segments() const { return segments_; }
  std::size_t dim() const { return dim_; }

 private:
  std::vector<Segment> segments_;
  std::size_t dim_ = 0;
};

}  // namespace hearsay
