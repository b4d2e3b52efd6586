#include "hearsay/net/frame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "net/examples.h"

namespace hearsay::net {
namespace {

std::vector<Bytes> read_all(ByteView stream, std::size_t piece) {
  FrameReader reader(kExampleLimits);
  std::vector<Bytes> frames;
  while (!stream.empty()) {
    const std::size_t size = std::min(piece, stream.size());
    reader.feed(stream.first(size));
    stream = stream.subspan(size);
    while (const auto frame = reader.next()) {
      frames.push_back(
          encode_frame(frame->header.type, frame->header.flags, frame->header.number, frame->body));
    }
  }
  EXPECT_EQ(reader.waiting(), 0u);
  return frames;
}

Bytes with(Bytes frame, std::size_t at, std::uint8_t byte) {
  frame.at(at) = byte;
  return frame;
}

std::string complaint(const Bytes& frame) {
  try {
    FrameReader reader(kExampleLimits);
    reader.feed(frame);
    reader.next();
  } catch (const CorruptData& error) {
    return error.what();
  }
  return "none";
}

TEST(Frame, IsLaidOutAsTheSpecificationSays) {
  const Bytes body{0xaa, 0xbb, 0xcc};
  const Bytes expected{3, 0, 0, 0, 1, 3, 1, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0xaa, 0xbb, 0xcc};
  EXPECT_EQ(encode_frame(FrameType::kData, kUncompressedFlag, 0x0102030405060708, body), expected);
}

TEST(Frame, OfEveryTypeIsReadBack) {
  for (const Bytes& bytes : example_frames()) {
    const Frame frame = decode_frame(bytes, kExampleLimits);
    EXPECT_EQ(frame.header.length, frame.body.size());
    EXPECT_EQ(encode_frame(frame.header.type, frame.header.flags, frame.header.number, frame.body),
              bytes);
  }
}

TEST(Frame, IsHeaderAndExactlyItsBody) {
  for (Bytes bytes : example_frames()) {
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      EXPECT_THROW(decode_frame(ByteView(bytes).first(n), kExampleLimits), CorruptData);
    }
    bytes.push_back(0);
    EXPECT_THROW(decode_frame(bytes, kExampleLimits), CorruptData);
  }
}

TEST(FrameReader, CutsAStreamTheSameInPiecesOfAnySize) {
  const std::vector<Bytes> frames = example_frames();
  Bytes stream;
  for (const Bytes& frame : frames) append(stream, ByteView(frame));
  for (const std::size_t piece : {1u, 2u, 15u, 16u, 17u, 113u, 1000u, 100'000u}) {
    EXPECT_EQ(read_all(stream, piece), frames) << piece;
  }
}

TEST(FrameReader, NamesTheFrameThatHasBegun) {
  const Bytes frame = encode_frame(example_hello());
  FrameReader reader(kExampleLimits);
  reader.feed(ByteView(frame).first(kFrameHeaderBytes - 1));
  EXPECT_FALSE(reader.next() || reader.begun());
  reader.feed(ByteView(frame).subspan(kFrameHeaderBytes - 1, 1));
  EXPECT_FALSE(reader.next());
  ASSERT_TRUE(reader.begun());
  EXPECT_EQ(reader.begun()->type, FrameType::kHello);
  EXPECT_EQ(reader.waiting(), kFrameHeaderBytes);
  reader.feed(ByteView(frame).subspan(kFrameHeaderBytes));
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.begun());
}

TEST(FrameReader, RejectsAHeaderBeforeItsBody) {
  const Bytes hello = encode_frame(example_hello()), ask = encode_frame(FrameType::kAsk, 0, 0, {});
  EXPECT_EQ(complaint(with(hello, 0, 97)), "[frame] HELLO of 97 bytes; it has 96 to 96");
  EXPECT_EQ(complaint(with(hello, 3, 0x80)), "[frame] HELLO of 2147483744 bytes; it has 96 to 96");
  EXPECT_EQ(complaint(with(hello, 4, 2)), "[frame] version 2; this build reads version 1");
  EXPECT_EQ(complaint(with(hello, 5, 8)), "[frame] type 8; there are 1 to 7");
  EXPECT_EQ(complaint(with(hello, 5, 0)), "[frame] type 0; there are 1 to 7");
  EXPECT_EQ(complaint(with(hello, 6, 1)), "[frame] HELLO with flags 0x1; it knows 0x0");
  EXPECT_EQ(complaint(with(hello, 8, 1)), "[frame] HELLO with number 1; it has none");
  EXPECT_EQ(complaint(with(ask, 0, 1)), "[frame] ASK of 1 bytes; it has 0 to 0");
  const Bytes data = encode_frame(FrameType::kData, 0, 1, Bytes(1000));
  EXPECT_EQ(complaint(with(data, 8, 0)), "[frame] DATA with number 0; it has 1 or more");
  EXPECT_EQ(complaint(with(data, 6, 2)), "[frame] DATA with flags 0x2; it knows 0x1");
  EXPECT_EQ(complaint(encode_frame(FrameType::kData, 0, 1, Bytes(1001))),
            "[frame] DATA of 1001 bytes; it has 1 to 1000");
  const Bytes records(kRecordBytes * 17);
  EXPECT_EQ(complaint(encode_frame(FrameType::kPulse, 0, 0, records)),
            "[frame] PULSE of 1020 bytes; it has 60 to 960");
  EXPECT_EQ(complaint(encode_frame(FrameType::kPulse, 0, 0, ByteView(records).first(61))),
            "[frame] PULSE of 61 bytes; a record has 60");
}

TEST(FrameReader, RejectsOrReadsRandomBytes) {
  Random random(1, Purpose::kTest);
  int rejected = 0;
  for (int i = 0; i < 20'000; ++i) {
    FrameReader reader(kExampleLimits);
    Bytes bytes(random.below(64));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
    if (bytes.size() > 5 && i % 2 == 0) bytes[4] = 1, bytes[5] &= 7;
    reader.feed(bytes);
    try {
      while (reader.next()) {
      }
    } catch (const CorruptData&) {
      ++rejected;
    }
  }
  EXPECT_GT(rejected, 10'000);
}

}  // namespace
}  // namespace hearsay::net
