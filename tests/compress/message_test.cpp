#include "hearsay/compress/code/message.h"

#include <gtest/gtest.h>

#include <limits>

#include "hearsay/core/error.h"

namespace hearsay::compress {
namespace {

MessageHeader example() {
  return {.kind = MessageKind::kModel, .sender = 3, .round = 41, .weight = 0.25f, .push_sum = 1.5};
}

MessageHeader read(const Bytes& bytes) {
  ByteReader reader(bytes, "message");
  return read_header(reader);
}

TEST(MessageHeader, ReadsBackAndTakesItsBytesOnly) {
  Bytes bytes;
  append_header(example(), bytes);
  EXPECT_EQ(bytes.size(), kHeaderBytes);
  bytes.push_back(7);
  ByteReader reader(bytes, "message");
  EXPECT_EQ(read_header(reader), example());
  EXPECT_EQ(reader.left(), 1u);
}

TEST(MessageHeader, AnyFlippedBitIsNoticed) {
  Bytes bytes;
  append_header(example(), bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_THROW(read(damaged), CorruptData) << bit;
  }
}

TEST(MessageHeader, IsNotReadFromTooFewBytes) {
  Bytes bytes;
  append_header(example(), bytes);
  for (std::size_t n = 0; n < kHeaderBytes; ++n) {
    EXPECT_THROW(read(Bytes(bytes.begin(), bytes.begin() + n)), CorruptData);
  }
}

TEST(MessageHeader, RejectsWeightsThatAreNotPositiveAndFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad :
       {0.0, -1.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    MessageHeader header = example();
    header.weight = static_cast<float>(bad);
    Bytes bytes;
    append_header(header, bytes);
    EXPECT_THROW(read(bytes), CorruptData) << bad;
    header = example();
    header.push_sum = bad;
    bytes.clear();
    append_header(header, bytes);
    EXPECT_THROW(read(bytes), CorruptData) << bad;
  }
}

TEST(MessageHeader, SaysWhatIsWrong) {
  Bytes bytes;
  append_header(example(), bytes);
  bytes[0] = 9;
  try {
    read(bytes);
    FAIL() << "no exception";
  } catch (const CorruptData& error) {
    EXPECT_STREQ(error.what(), "[message] message version 9; this build reads version 1");
  }
}

}  // namespace
}  // namespace hearsay::compress
