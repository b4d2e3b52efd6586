#include "hearsay/backend/cpu/int8/product.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/backend/cpu/int8/product_sets.h"
#include "hearsay/core/error.h"

namespace hearsay::backend::cpu {

namespace {

#if defined(__x86_64__)
bool has_vnni() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#endif
bool has_plain() { return true; }

struct Set {
  std::string_view name;
  bool (*exists)();
  Multiply* multiply;
};
constexpr std::array kSets {
#if defined(__x86_64__)
  Set{"amx", has_amx, multiply_amx}, Set{"avx512-vnni", has_vnni, multiply_vnni},
      Set{"avx2", has_avx2, multiply_avx2},
#endif
      Set{"plain", has_plain, multiply_plain},
};
constexpr auto kNames = [] {
  std::array<std::string_view, kSets.size()> names;
  for (std::size_t i = 0; i < kSets.size(); ++i) names[i] = kSets[i].name;
  return names;
}();

/// Throws if there is none of that name, or this machine lacks it.
const Set& find(std::string_view name) {
  const auto set = std::ranges::find(kSets, name, &Set::name);
  if (set == kSets.end()) {
    throw InvalidArgument(
        fmt::format("[HEARSAY_ISA] no instruction set is named '{}'; there are {}", name,
                    fmt::join(kNames, ", ")));
  }
  if (!set->exists()) {
    throw InvalidArgument(fmt::format("[HEARSAY_ISA] this machine has no {}", name));
  }
  return *set;
}

const Set& fastest() {
  return *std::ranges::find_if(kSets, [](const Set& set) { return set.exists(); });
}

std::atomic<const Set*>& chosen() {
  static std::atomic<const Set*> set = [] {
    const char* asked = std::getenv("HEARSAY_ISA");
    return asked != nullptr && *asked != '\0' ? &find(asked) : &fastest();
  }();
  return set;
}

}  // namespace

void multiply(const ByteProduct& product, const std::int8_t* a, const std::int8_t* b,
              std::int32_t* c) {
  assert(product.columns % 16 == 0 && product.length % 4 == 0);
  assert(product.terms() <= ByteProduct::kMostTerms);
  chosen().load(std::memory_order_relaxed)->multiply(product, a, b, c);
}

std::span<const std::string_view> byte_product_sets() { return kNames; }

bool has_byte_product_set(std::string_view name) {
  const auto set = std::ranges::find(kSets, name, &Set::name);
  return set != kSets.end() && set->exists();
}

std::string_view byte_product_set() { return chosen().load()->name; }

void use_byte_product_set(std::string_view name) {
  chosen().store(name.empty() ? &fastest() : &find(name));
}

void multiply_plain(const ByteProduct& product, const std::int8_t* a, const std::int8_t* b,
                    std::int32_t* c) {
  const std::size_t columns = product.columns;
  for (std::size_t i = 0; i < product.rows; ++i) {
    std::int32_t* row = c + i * columns;
    std::fill_n(row, columns, 0);
    const std::int8_t* quads = b;
    for (const std::ptrdiff_t segment : product.segments) {
      const std::int8_t* x = a + i * product.stride + segment;
      for (std::size_t k = 0; k < product.length; k += 4, quads += 4 * columns) {
        for (std::size_t j = 0; j < columns; ++j) {
          for (std::size_t q = 0; q < 4; ++q) row[j] += x[k + q] * quads[4 * j + q];
        }
      }
    }
  }
}

}  // namespace hearsay::backend::cpu
