#include "hearsay/backend/cpu/int8/pack.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/int8/pack.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // without vectors
void to_planes(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t pitch,
               std::int8_t* planes) {
  for (std::size_t p = 0; p < pixels; ++p) {
    for (std::size_t c = 0; c < channels; ++c) planes[c * pitch + p] = x[p * channels + c];
  }
}

void to_quads(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t columns,
              std::int8_t* b) {
  for (std::size_t p = 0; p < pixels; ++p) {
    for (std::size_t c = 0; c < channels; ++c) {
      b[(p / 4 * columns + c) * 4 + p % 4] = x[p * channels + c];
    }
  }
}
#else  // vectors of 16 bytes: the first cache bounds it

using ByteTag = hn::FixedTag<std::uint8_t, 16>;
using PairTag = hn::FixedTag<std::uint16_t, 8>;
using Bytes = hn::Vec<ByteTag>;

HWY_INLINE Bytes load(const std::int8_t* from) {
  return hn::LoadU(ByteTag(), reinterpret_cast<const std::uint8_t*>(from));
}
HWY_INLINE void store(Bytes bytes, std::int8_t* to) {
  hn::StoreU(bytes, ByteTag(), reinterpret_cast<std::uint8_t*>(to));
}

/// The transpose of 16 x 16 bytes. Interleaving rows r and r + 8 four times moves the bits of the
/// row's index into the column's.
HWY_INLINE void transpose(const std::int8_t* in, std::size_t in_stride, std::int8_t* out,
                          std::size_t out_stride) {
  Bytes a[16], b[16];
  for (std::size_t r = 0; r < 16; ++r) a[r] = load(in + r * in_stride);
  const auto interleave = [](const Bytes* from, Bytes* to) {
    for (std::size_t r = 0; r < 8; ++r) {
      to[2 * r] = hn::InterleaveLower(ByteTag(), from[r], from[r + 8]);
      to[2 * r + 1] = hn::InterleaveUpper(ByteTag(), from[r], from[r + 8]);
    }
  };
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  interleave(b, a);
  for (std::size_t r = 0; r < 16; ++r) store(a[r], out + r * out_stride);
}

void to_planes(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t pitch,
               std::int8_t* planes) {
  for (std::size_t p = 0; p < pixels; p += 16) {
    for (std::size_t c = 0; c < channels; c += 16) {
      transpose(x + p * channels + c, channels, planes + c * pitch + p, pitch);
    }
  }
}

void to_quads(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t columns,
              std::int8_t* b) {
  for (std::size_t p = 0; p < pixels; p += 4, b += 4 * columns) {
    for (std::size_t c = 0; c < channels; c += 16) {
      const std::int8_t* from = x + p * channels + c;
      const Bytes r0 = load(from), r1 = load(from + channels);
      const Bytes r2 = load(from + 2 * channels), r3 = load(from + 3 * channels);
      const auto pairs = [](Bytes low) { return hn::BitCast(PairTag(), low); };
      const auto low01 = pairs(hn::InterleaveLower(ByteTag(), r0, r1));
      const auto low23 = pairs(hn::InterleaveLower(ByteTag(), r2, r3));
      const auto high01 = pairs(hn::InterleaveUpper(ByteTag(), r0, r1));
      const auto high23 = pairs(hn::InterleaveUpper(ByteTag(), r2, r3));
      std::int8_t* to = b + 4 * c;
      store(hn::BitCast(ByteTag(), hn::InterleaveLower(PairTag(), low01, low23)), to);
      store(hn::BitCast(ByteTag(), hn::InterleaveUpper(PairTag(), low01, low23)), to + 16);
      store(hn::BitCast(ByteTag(), hn::InterleaveLower(PairTag(), high01, high23)), to + 32);
      store(hn::BitCast(ByteTag(), hn::InterleaveUpper(PairTag(), high01, high23)), to + 48);
    }
  }
}
#endif

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearsay::backend::cpu {

HWY_EXPORT(to_planes);
HWY_EXPORT(to_quads);

void to_planes(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t pitch,
               std::int8_t* planes) {
  HWY_DYNAMIC_DISPATCH(to_planes)(x, pixels, channels, pitch, planes);
}
void to_quads(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t columns,
              std::int8_t* b) {
  HWY_DYNAMIC_DISPATCH(to_quads)(x, pixels, channels, columns, b);
}

}  // namespace hearsay::backend::cpu
#endif  // HWY_ONCE
