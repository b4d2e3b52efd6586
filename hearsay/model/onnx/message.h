#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearsay::model::onnx {

/// A message of protocol buffers, as its bytes: fields are appended, each with its number
/// (protobuf.dev/programming-guides/encoding). A repeated field is one appended several times.
class Message {
 public:
  /// int32, int64 and enums.
  Message& integer(unsigned field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  /// float.
  Message& real(unsigned field, float value);
  /// string and bytes.
  Message& text(unsigned field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(unsigned field, const Message& value) { return text(field, value.bytes_); }

  /// The fields of another message of the same kind.
  Message& append(const Message& fields) {
    bytes_ += fields.bytes_;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(unsigned field, unsigned type) { varint(std::uint64_t{field} << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace hearsay::model::onnx
