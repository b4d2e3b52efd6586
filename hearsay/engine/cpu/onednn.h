#pragma once

#include <algorithm>
#include <cassert>

#include <dnnl.hpp>

#include "hearsay/engine/cpu/tensor.h"

/// Shared by the steps that call oneDNN.
namespace hearsay::engine::cpu {

inline const dnnl::engine& device() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

inline bool has_avx512() {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());  // a bit set
  const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (isa & wanted) == wanted;
}

/// Channels per block of the layouts that oneDNN's convolutions prefer on this machine.
inline std::size_t preferred_block() { return has_avx512() ? 16 : 8; }

inline dnnl::memory::dim dim(std::size_t value) { return static_cast<dnnl::memory::dim>(value); }

inline dnnl::memory::desc plain_desc(const dnnl::memory::dims& dims, dnnl::memory::format_tag tag) {
  return {dims, dnnl::memory::data_type::f32, tag};
}

/// oneDNN's description of that many samples of float activations.
inline dnnl::memory::desc describe(const Tensor& t, std::size_t samples) {
  assert(t.type == ElementType::kF32);
  using Tag = dnnl::memory::format_tag;
  const Tag tag = t.tiles.block == 16 ? Tag::nChw16c : t.tiles.block == 8 ? Tag::nChw8c : Tag::nchw;
  return plain_desc({dim(samples), dim(t.shape.channels), dim(t.shape.height), dim(t.shape.width)},
                    tag);
}

/// Scratch and intermediate memory is provided by the caller of a primitive, not owned by it.
inline dnnl::primitive_attr caller_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

inline dnnl::memory unbound(const dnnl::memory::desc& desc) { return {desc, device(), nullptr}; }

/// oneDNN does not write through the handles of inputs. (Not `bind`: given a std::byte*, argument
/// lookup would prefer std::bind where <functional> is included, and bind nothing.)
inline void bind_memory(dnnl::memory& memory, const void* data) {
  memory.set_data_handle(const_cast<void*>(data));
}

/// Hands out parts of a step's scratch memory, aligned to cache lines.
class ScratchCursor {
 public:
  explicit ScratchCursor(std::byte* at) : at_(at) {}
  std::byte* take(std::size_t bytes) {
    std::byte* part = at_;
    at_ += round_up(bytes);
    return part;
  }
  static std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  std::byte* at_;
};

}  // namespace hearsay::engine::cpu
