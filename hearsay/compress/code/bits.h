#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hearsay/core/bytes.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {

/// Writes a bit string of known length, least significant bit first, a whole word at a time.
class BitPacker {
 public:
  /// Appends space for `bits` bits, padded with zeros to a byte, to `out`, which must not change
  /// until `finish`.
  BitPacker(Bytes& out, std::size_t bits) : out_(out), size_(out.size() + (bits + 7) / 8) {
    const std::size_t begin = out.size();
    out.resize(size_ + sizeof buffer_);  // so that a whole word can be stored at the last byte
    at_ = out.data() + begin;
  }

  /// Append the low `count` bits of `bits`; its other bits must be zero. count <= 57.
  void put(std::uint64_t bits, unsigned count) {
    buffer_ |= bits << fill_;
    fill_ += count;
    std::memcpy(at_, &buffer_, sizeof buffer_);
    at_ += fill_ / 8;
    buffer_ = fill_ < 64 ? buffer_ >> (fill_ & ~7u) : 0;
    fill_ &= 7;
  }

  void put_zeros(std::uint64_t count) {
    for (; count > 32; count -= 32) put(0, 32);
    put(0, static_cast<unsigned>(count));
  }

  void finish() { out_.resize(size_); }

 private:
  Bytes& out_;
  std::size_t size_;
  std::uint8_t* at_ = nullptr;
  std::uint64_t buffer_ = 0;
  unsigned fill_ = 0;
};

/// Reads a bit string from the front of untrusted bytes. Running out throws CorruptData.
class BitReader {
 public:
  explicit BitReader(ByteView bytes) : bytes_(bytes) {}

  /// The next `count` bits. count <= 56.
  std::uint64_t get(unsigned count) {
    if (fill_ < count) refill();
    if (fill_ < count) throw CorruptData("[message] ends early, inside a bit string");
    const std::uint64_t bits = buffer_ & ((std::uint64_t{1} << count) - 1);
    drop(count);
    return bits;
  }

  /// The number of zero bits before the next 1 bit, which is consumed too.
  std::uint64_t get_zeros() {
    std::uint64_t zeros = 0;
    for (;;) {
      if (buffer_ != 0) {
        const auto run = static_cast<unsigned>(std::countr_zero(buffer_));
        drop(run);
        drop(1);
        return zeros + run;
      }
      zeros += fill_;
      fill_ = 0;
      refill();
      if (fill_ == 0) throw CorruptData("[message] ends early, inside a bit string");
    }
  }

  /// Bytes consumed, the last one perhaps only in part.
  std::size_t used() const { return at_ - fill_ / 8; }

 private:
  /// Bits above `fill_` are zero. Afterwards at least 57 bits are buffered, or all that remain.
  void refill() {
    if (at_ + sizeof buffer_ <= bytes_.size()) {
      std::uint64_t word;
      std::memcpy(&word, bytes_.data() + at_, sizeof word);
      const unsigned take = (64 - fill_) / 8;
      if (take < 8) word &= (std::uint64_t{1} << (8 * take)) - 1;
      buffer_ |= word << fill_;
      at_ += take;
      fill_ += 8 * take;
      return;
    }
    while (fill_ <= 56 && at_ < bytes_.size()) {
      buffer_ |= std::uint64_t{bytes_[at_++]} << fill_;
      fill_ += 8;
    }
  }

  void drop(unsigned count) {
    buffer_ = count < 64 ? buffer_ >> count : 0;
    fill_ -= count;
  }

  ByteView bytes_;
  std::size_t at_ = 0;
  std::uint64_t buffer_ = 0;
  unsigned fill_ = 0;
};

/// The remaining bytes of `in`, without consuming them.
inline ByteView peek(const ByteReader& in) { return ByteReader(in).take(in.left()); }

}  // namespace hearsay::compress
