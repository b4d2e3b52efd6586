#include "hearsay/backend/cpu/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/philox.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane: Random::words does as well
std::size_t random_blocks(const Random&, std::uint64_t, std::uint32_t*, std::size_t) { return 0; }
#else

/// The upper halves of the 64-bit products of all lanes.
template <class D, class V>
HWY_INLINE V high_products(D d, V a, V b) {
  const hn::RepartitionToWide<D> wide;
  const auto even = hn::MulEven(a, b);
  const V moved = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a)));
  const auto odd = hn::MulEven(moved, b);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

/// One lane per block, whose number differs in the lowest 32 bits: these must not overflow. Writes
/// whole vectors of blocks, and returns how many.
std::size_t random_blocks(const Random& random, std::uint64_t first, std::uint32_t* words,
                          std::size_t blocks) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto& start = random.counter();
  const auto m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
  const std::uint32_t upper = start[1] | (static_cast<std::uint32_t>(first >> 32) & 0xffffu);
  std::size_t done = 0;
  for (; done + lanes <= blocks; done += lanes) {
    auto c0 = hn::Iota(d, static_cast<std::uint32_t>(first + done));
    auto c1 = hn::Set(d, upper), c2 = hn::Set(d, start[2]), c3 = hn::Set(d, start[3]);
    std::uint32_t k0 = random.key()[0], k1 = random.key()[1];
    for (int i = 0; i < 10; ++i, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const auto high0 = high_products(d, c0, m0), high1 = high_products(d, c2, m1);
      const auto low0 = hn::Mul(c0, m0), low1 = hn::Mul(c2, m1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
      c1 = low1;
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
      c3 = low0;
    }
    hn::StoreInterleaved4(c0, c1, c2, c3, d, words + 4 * done);
  }
  return done;
}
#endif

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cassert>

namespace hearsay::backend::cpu {

HWY_EXPORT(random_blocks);

void random_words(const Random& random, std::uint64_t first, std::span<std::uint32_t> words) {
  assert(words.size() % 4 == 0);
  while (!words.empty()) {
    const std::uint64_t until_carry = (std::uint64_t{1} << 32) - (first & 0xffffffffu);
    const auto blocks =
        static_cast<std::size_t>(std::min<std::uint64_t>(words.size() / 4, until_carry));
    std::size_t done = HWY_DYNAMIC_DISPATCH(random_blocks)(random, first, words.data(), blocks);
    for (; done < blocks; ++done) std::ranges::copy(random.words(first + done), &words[4 * done]);
    words = words.subspan(4 * blocks);
    first += blocks;
  }
}

}  // namespace hearsay::backend::cpu
#endif  // HWY_ONCE
