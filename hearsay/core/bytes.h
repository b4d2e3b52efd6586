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

static_assert(std::endian::native == std::endian::little, "the wire is little-endian; so are our hosts");

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

/// Reads values off the front of foreign bytes. Running out throws CorruptData, which names `what`.
class ByteReader {
 public:
  ByteReader(ByteView bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <class T>
    requires std::is_arithmetic_v<T>
  T read() {
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

/// Packs bits into bytes, least significant bit first. `flush` pads the last byte with zeros.
class BitWriter {
 public:
  explicit BitWriter(Bytes& out) : out_(out) {}
  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;
  ~BitWriter() { flush(); }

  /// Append the low `count` bits of `bits`. count <= 32.
  void put(std::uint32_t bits, unsigned count) {
    buffer_ |= (bits & ((std::uint64_t{1} << count) - 1)) << fill_;
    fill_ += count;
    while (fill_ >= 8) {
      out_.push_back(static_cast<std::uint8_t>(buffer_));
      buffer_ >>= 8;
      fill_ -= 8;
    }
  }

  void flush() {
    if (fill_ > 0) out_.push_back(static_cast<std::uint8_t>(buffer_));
    buffer_ = 0;
    fill_ = 0;
  }

 private:
  Bytes& out_;
  std::uint64_t buffer_ = 0;
  unsigned fill_ = 0;
};

}  // namespace hearsay
