// HELLO, PULSE, ACK, MODEL and BYE.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "net/examples.h"

namespace hearsay::net {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Bytes body_of(const Hello& hello) {
  Bytes body;
  encode(hello, body);
  return body;
}

Bytes body_of(const Record& record) {
  Bytes body;
  encode({&record, 1}, body);
  return body;
}

template <class Decode>
void expect_only_whole(Bytes body, Decode decode) {
  EXPECT_NO_THROW(decode(body));
  for (std::size_t n = 0; n < body.size(); ++n) {
    EXPECT_THROW(decode(ByteView(body).first(n)), CorruptData) << n;
  }
  body.push_back(0);
  EXPECT_THROW(decode(body), CorruptData);
}

TEST(Hello, IsReadBack) {
  const Bytes body = body_of(example_hello());
  EXPECT_EQ(body.size(), kHelloBytes);
  EXPECT_EQ(decode_hello(body), example_hello());
  expect_only_whole(body, [](ByteView bytes) { decode_hello(bytes); });
}

TEST(Hello, IsLaidOutAsTheSpecificationSays) {
  const Bytes body = body_of(example_hello());
  EXPECT_EQ(body[31], 31);                                                 // run
  EXPECT_EQ(Bytes(body.begin() + 48, body.begin() + 50), (Bytes{42, 0}));  // rounds
  EXPECT_EQ(body[64], 99);                                                 // highest
  EXPECT_EQ(Bytes(body.begin() + 88, body.end()), (Bytes{3, 0, 0, 0, 0xfc, 0x1c, 0, 0}));
}

TEST(Hello, RejectsWhatNoPeerSends) {
  Hello hello = example_hello();
  hello.slot = kMostPeers;
  EXPECT_THROW(decode_hello(body_of(hello)), CorruptData);
  hello = example_hello();
  hello.incarnation = 0;
  EXPECT_THROW(decode_hello(body_of(hello)), CorruptData);
  Bytes body = body_of(example_hello());
  body.back() = 1;
  EXPECT_THROW(decode_hello(body), CorruptData);
}

TEST(Record, IsReadBack) {
  const Bytes body = body_of(example_record());
  EXPECT_EQ(body.size(), kRecordBytes);
  ASSERT_EQ(decode_records(body).size(), 1u);
  EXPECT_EQ(decode_records(body).front(), example_record());
  expect_only_whole(body, [](ByteView bytes) { decode_records(bytes); });
}

TEST(Record, ComesInPulsesOfUpToTheMost) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, kMostRecords}) {
    std::vector<Record> records(count, example_record());
    records.back().slot = 1;
    Bytes body;
    encode(records, body);
    EXPECT_EQ(decode_records(body), records);
  }
  EXPECT_THROW(decode_records(Bytes(kRecordBytes * (kMostRecords + 1))), CorruptData);
}

TEST(Record, MayHaveNoLossYet) {
  Record record = example_record();
  record.loss = record.accuracy = kNaN;
  const Record back = decode_records(body_of(record)).front();
  EXPECT_TRUE(std::isnan(back.loss) && std::isnan(back.accuracy));
}

TEST(Record, RejectsWhatNoPeerSends) {
  const auto rejects = [](auto change) {
    Record record = example_record();
    change(record);
    EXPECT_THROW(decode_records(body_of(record)), CorruptData);
  };
  for (const float bad : {kNaN, kInfinity, -kInfinity, -1.0f}) {
    rejects([&](Record& record) { record.rate = bad; });
    rejects([&](Record& record) { record.u = bad; });
  }
  rejects([](Record& record) { record.slot = kMostPeers; });
  rejects([](Record& record) { record.incarnation = 0; });
  rejects([](Record& record) { record.status = static_cast<Status>(0); });
  rejects([](Record& record) { record.status = static_cast<Status>(6); });
  for (const std::size_t at : {5u, 6u, 7u}) {
    Bytes body = body_of(example_record());
    body[at] = 1;
    EXPECT_THROW(decode_records(body), CorruptData);
  }
}

TEST(Ack, IsReadBack) {
  const Ack ack{.highest = 12, .seen = ~std::uint64_t{0}, .refused = 1};
  const Bytes bytes = encode_frame(ack);
  EXPECT_EQ(bytes.size(), kFrameHeaderBytes + kAckBytes);
  const Frame frame = decode_frame(bytes, kExampleLimits);
  EXPECT_EQ(decode_ack(frame), ack);
  expect_only_whole(Bytes(frame.body.begin(), frame.body.end()), [&](ByteView body) {
    decode_ack({frame.header, body});
  });
}

TEST(Bye, IsReadBack) {
  for (std::uint8_t k = 1; k <= 8; ++k) {
    const auto reason = static_cast<ByeReason>(k);
    const Bytes bytes = encode_frame(reason, 77);
    const Frame frame = decode_frame(bytes, kExampleLimits);
    EXPECT_EQ(decode_bye(frame.body), reason);
    EXPECT_EQ(frame.header.number, 77u);
    EXPECT_FALSE(name_of(reason).empty());
  }
  for (const Bytes& bad : {Bytes{}, Bytes{0}, Bytes{9}, Bytes{1, 1}}) {
    EXPECT_THROW(decode_bye(bad), CorruptData);
  }
}

TEST(ModelPiece, IsReadBack) {
  const Bytes whole(3000, 5);
  for (const std::size_t offset : {0u, 1000u, 2000u}) {
    ModelPiece piece{.total = 3000,
                     .offset = offset,
                     .bytes = ByteView(whole).subspan(offset, 1000),
                     .digest = {}};
    if (offset == 2000) piece.digest.emplace().fill(9);
    const Bytes bytes = encode_frame(piece);
    const ModelPiece back = decode_model_piece(decode_frame(bytes, kExampleLimits));
    EXPECT_EQ(back.total, 3000u);
    EXPECT_EQ(back.offset, offset);
    EXPECT_EQ(back.digest, piece.digest);
    EXPECT_EQ(Bytes(back.bytes.begin(), back.bytes.end()), Bytes(1000, 5));
  }
}

TEST(ModelPiece, LiesWithinTheModel) {
  const auto rejects = [](std::uint64_t total, std::uint64_t offset, std::size_t bytes) {
    Bytes body;
    append(body, offset);
    body.resize(body.size() + bytes);
    const Frame frame{{.length = 0, .type = FrameType::kModel, .flags = 0, .number = total}, body};
    EXPECT_THROW(decode_model_piece(frame), CorruptData) << total << " " << offset << " " << bytes;
  };
  rejects(0, 0, 32);
  rejects(100, 100, 32);
  rejects(100, ~std::uint64_t{0}, 5);
  rejects(100, 0, 0);
  rejects(100, 0, 100);
  rejects(100, 0, 131);
  rejects(100, 0, 133);
  const Frame frame{{}, {}};
  EXPECT_THROW(decode_model_piece(frame), CorruptData);
}

TEST(ModelPiece, OfTheLongestKindFitsIntoAFrame) {
  const Bytes whole(kMostPieceBytes);
  ModelPiece piece{.total = whole.size(), .offset = 0, .bytes = whole, .digest = {}};
  piece.digest.emplace();
  EXPECT_NO_THROW(decode_frame(encode_frame(piece), kExampleLimits));
}

TEST(Bodies, OfRandomBytesAreRejectedOrRead) {
  Random random(2, Purpose::kTest);
  int read = 0;
  const auto attempt = [&](auto decode) {
    try {
      decode();
      ++read;
    } catch (const CorruptData&) {
    }
  };
  for (int i = 0; i < 20'000; ++i) {
    Bytes body(i % 2 == 0 ? kRecordBytes * random.below(4) : random.below(200));
    for (std::uint8_t& byte : body) byte = static_cast<std::uint8_t>(random.below(256));
    const Frame frame{
        {.length = 0, .type = FrameType::kModel, .flags = 0, .number = random.below(300)}, body};
    attempt([&] { decode_hello(body); });
    attempt([&] { decode_records(body); });
    attempt([&] { decode_ack(frame); });
    attempt([&] { decode_bye(body); });
    attempt([&] { decode_model_piece(frame); });
  }
  EXPECT_GT(read, 10);
}

}  // namespace
}  // namespace hearsay::net
