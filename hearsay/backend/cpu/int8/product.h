#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearsay::backend::cpu {

/// Products of signed bytes with 32-bit sums, the one product of networks in 8 bits:
///
///   c[i][j] = sum over segments s and k < length of a[i stride + segments[s] + k] b[s length +
///   k][j]
///
/// for i < rows and j < columns. The rows of a are `length` contiguous bytes in each of a few
/// places, so that a convolution needs no copy of its patches: in an image of pixels of C bytes a
/// row of a kernel is 3 C contiguous bytes.
struct ByteProduct {
  std::size_t rows = 0;
  std::size_t columns = 0;                     ///< a multiple of 16
  std::size_t stride = 0;                      ///< bytes between the rows of a
  std::span<const std::ptrdiff_t> segments{};  ///< their places in a row of a
  std::size_t length = 0;                      ///< bytes of a segment, a multiple of 4

  /// The terms of a sum. At most kMostTerms: 127 x 128 x 132,104 < 2^31.
  std::size_t terms() const { return segments.size() * length; }
  static constexpr std::size_t kMostTerms = 132104;

  /// Rows of a that may be read, and of c that may be written: the last ones have no meaning.
  std::size_t padded_rows() const { return (rows + 15) / 16 * 16; }
};

/// Where entry [k][j] of b is, in quads of bytes: [k / 4][j][k % 4].
constexpr std::size_t quad_place(std::size_t k, std::size_t j, std::size_t columns) {
  return (k / 4 * columns + j) * 4 + k % 4;
}

/// c, row by row. All instruction sets compute the same: integers.
void multiply(const ByteProduct& product, const std::int8_t* a, const std::int8_t* b,
              std::int32_t* c);

/// The instruction sets that `multiply` has code for, fastest first: "amx", "avx512-vnni", "avx2",
/// "plain" on x86-64, "plain" elsewhere.
std::span<const std::string_view> byte_product_sets();

/// Whether this machine has it.
bool has_byte_product_set(std::string_view name);

/// The one in use: the fastest that the machine has, unless the environment variable
/// HEARSAY_ISA names another of byte_product_sets().
std::string_view byte_product_set();

/// Use another one from now on, for tests; "" for the fastest. Throws InvalidArgument if the
/// machine does not have it.
void use_byte_product_set(std::string_view name);

}  // namespace hearsay::backend::cpu
