#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hearsay {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian; so are our hosts");

/// Append the little-endian bytes of `value` to `out`.
template <class T>
requires std::is_arithmetic_v<T>
void append(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

/// Append the little-endian bytes of an array.
template <class T>
requires std::is_arithmetic_v<T>
void append(Bytes& out, std::span<const T> values) {
  if (values.empty()) return;
  const std::size_t at = out.size();
  out.resize(at + values.size_bytes());
  std::memcpy(out.data() + at, values.data(), values.size_bytes());
}

/// Reads values from the front of untrusted bytes. Running out throws CorruptData that names
/// `what`.
class ByteReader {
 public:
  ByteReader(ByteView bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <class T>
  requires std::is_arithmetic_v<T> T read() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// Fill `out` from the next out.size_bytes() bytes.
  template <class T>
  requires std::is_arithmetic_v<T>
  void read(std::span<T> out) {
    const ByteView from = take(out.size_bytes());
    if (!out.empty()) std::memcpy(out.data(), from.data(), from.size());
  }

  /// The next `count` bytes.
  ByteView take(std::size_t count);

  std::size_t left() const { return bytes_.size(); }
  std::string_view what() const { return what_; }

 private:
  ByteView bytes_;
  std::string what_;
};

}  // namespace hearsay
