// What an honest key does not allow: frames that are broken, out of turn, too slow or too many.
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hearsay/net/ack.h"
#include "hearsay/net/tls/outbox.h"
#include "net_tls/endpoints.h"
#include "net_tls/raw_tls.h"

namespace hearsay::net {
namespace {

/// A header that says that, and so many bytes after it.
Bytes raw_frame(std::uint32_t length, std::uint8_t type, std::uint16_t flags, std::uint64_t number,
                std::size_t body, std::uint8_t version = kFrameVersion) {
  Bytes out;
  append(out, length);
  append(out, version);
  append(out, type);
  append(out, flags);
  append(out, number);
  out.resize(out.size() + body, 200);
  return out;
}

/// Bytes that no peer may send, after its HELLO or instead of it.
struct Broken {
  const char* name;
  Bytes bytes;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

std::vector<Broken> broken_frames() {
  const auto longest = static_cast<std::uint32_t>(kTestLimits.longest_data);
  const auto pulse = static_cast<std::uint32_t>(kRecordBytes);
  return {
      {"AnotherVersion", raw_frame(8, 3, 0, 1, 8, 2)},
      {"NoVersion", raw_frame(8, 3, 0, 1, 8, 0)},
      {"NoType", raw_frame(8, 0, 0, 1, 8)},
      {"AnUnknownType", raw_frame(8, 8, 0, 1, 8)},
      {"AnUnknownFlag", raw_frame(8, 3, 2, 1, 8)},
      {"AFlagOfAnotherType", raw_frame(16, 4, 1, 1, 16)},
      {"DataWithoutNumber", raw_frame(8, 3, 0, 0, 8)},
      {"PulseWithNumber", raw_frame(pulse, 2, 0, 1, pulse)},
      {"DataWithoutBody", raw_frame(0, 3, 0, 1, 0)},
      {"DataTooLong", raw_frame(longest + 1, 3, 0, 1, longest + 1)},
      {"DataOfFourGigabytes", raw_frame(0xffffffff, 3, 0, 1, 100)},
      {"PulseOfAPartOfARecord", raw_frame(pulse + 1, 2, 0, 0, pulse + 1)},
      {"PulseTooLong", raw_frame(65 * pulse, 2, 0, 0, 65 * pulse)},
      {"AckTooShort", raw_frame(15, 4, 0, 1, 15)},
      {"AckTooLong", raw_frame(17, 4, 0, 1, 17)},
      {"AskWithBody", raw_frame(1, 5, 0, 0, 1)},
      {"ModelWithoutBody", raw_frame(8, 6, 0, 1, 8)},
      {"ModelTooLong", raw_frame(kMostModelBytes + 1, 6, 0, 1, 100)},
      {"ByeWithoutReason", raw_frame(0, 7, 0, 0, 0)},
      {"ByeWithoutAKnownReason", raw_frame(1, 7, 0, 0, 1)},
      {"HelloTooShort", raw_frame(95, 1, 0, 0, 95)},
      {"HelloTooLong", raw_frame(97, 1, 0, 0, 97)},
      {"ABodyThatIsRefused", raw_frame(9, 3, 0, 13, 9)},
      {"Text", Bytes(100, 'x')},
  };
}

class Frames : public ::testing::Test {
 protected:
  Frames() {
    peers_.make(0);
    peers_.seen_by(0).corrupt = [](const Frame& frame) { return frame.header.number == 13; };
    peers_.start(0);
  }
  ~Frames() override { EXPECT_EQ(peers_.seen_by(0).broken(), ""); }

  /// Of peer 1, whose handshake succeeds.
  RawPeer proven(const std::string& from = "127.0.0.1") {
    RawPeer raw{RawSocket::connected(peers_.port(0), from), RawPeer::Side::kClient,
                RawTls{.key = key_of(peers_.identity(1))}};
    EXPECT_TRUE(raw.shaken()) << raw.error();
    return raw;
  }
  RawPeer welcome(const std::string& from = "127.0.0.1") {
    RawPeer raw = proven(from);
    EXPECT_TRUE(raw.write(encode_frame(raw_hello(1))));
    EXPECT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes) << raw.error();
    return raw;
  }
  Recorder& seen() { return peers_.seen_by(0); }

  Endpoints peers_{2};
};

class BrokenFrames : public Frames, public ::testing::WithParamInterface<Broken> {};
std::string name_of_broken(const ::testing::TestParamInfo<Broken>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(All, BrokenFrames, ::testing::ValuesIn(broken_frames()), name_of_broken);

TEST_P(BrokenFrames, CloseTheConnection) {
  const Bytes& bytes = GetParam().bytes;
  RawPeer raw = welcome();
  ASSERT_TRUE(raw.write(data_frame(1)));  // the control: this one arrives
  ASSERT_TRUE(raw.write(bytes));
  EXPECT_EQ(raw.read_all(), encode_frame(ByeReason::kCorrupt));
  ASSERT_TRUE(seen().wait_down(1));
  EXPECT_EQ(seen().seen(1).numbers, std::vector<std::uint64_t>{1});
  EXPECT_TRUE(seen().seen(1).why.starts_with("[")) << seen().seen(1).why;
  RawPeer again = welcome();
  EXPECT_TRUE(seen().wait_up(1, 2)) << "it may come back";
}

TEST_P(BrokenFrames, BeforeHelloCloseTheConnection) {
  const Bytes& bytes = GetParam().bytes;
  RawPeer raw = proven();
  ASSERT_TRUE(raw.write(bytes));
  ASSERT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes);
  EXPECT_EQ(raw.read_all(), encode_frame(ByeReason::kCorrupt));
  EXPECT_EQ(seen().seen(1).judged, 0);
}

TEST_F(Frames, AFrameInPiecesArrivesWhole) {
  RawPeer raw = welcome();
  const Bytes frame = data_frame(7, Bytes(50, 3));
  for (const std::uint8_t& byte : frame) ASSERT_TRUE(raw.write({&byte, 1}));
  ASSERT_TRUE(seen().wait(1, [](const Recorder::Seen& all) { return !all.numbers.empty(); }));
  EXPECT_EQ(seen().seen(1).bodies, std::vector<Bytes>{Bytes(50, 3)});
}

TEST_F(Frames, PartsOfAFrameAreASignOfLife) {
  RawPeer raw = welcome();
  const Bytes frame = data_frame(7, Bytes(50, 3));
  ASSERT_TRUE(raw.write({frame.data(), 20}));
  EXPECT_TRUE(seen().wait(1, [](const Recorder::Seen& all) { return all.parts > 0; }));
  EXPECT_TRUE(seen().seen(1).numbers.empty());
}

TEST(Outbox, ShortFramesOvertakeModels) {
  Outbox outbox(kTestLimits);
  const Bytes first = data_frame(1, Bytes(700)), second = data_frame(2, Bytes(700));
  const Bytes pulse = encode_frame(FrameType::kPulse, 0, 0, Bytes(kRecordBytes));
  const Bytes ack = encode_frame(Ack{.highest = 3});
  for (const Bytes* frame : {&first, &second, &pulse, &ack}) outbox.put(*frame);
  Bytes expected;
  for (const Bytes* frame : {&pulse, &ack, &first, &second}) {
    expected.insert(expected.end(), frame->begin(), frame->end());
  }
  const Outbox::Chunk chunk = outbox.take();
  EXPECT_EQ(chunk.bytes, expected);
  EXPECT_EQ(chunk.kinds[0], first.size() + second.size());
  EXPECT_EQ(chunk.kinds[2], pulse.size() + ack.size());
  EXPECT_TRUE(outbox.take().bytes.empty());
}

TEST_F(Frames, FramesBeforeHelloAreNotLookedAt) {
  Bytes hello_as_data = encode_frame(raw_hello(1));
  hello_as_data[5] = static_cast<std::uint8_t>(FrameType::kData);
  hello_as_data[8] = 1;  // its number
  const std::vector<Bytes> frames{data_frame(1), encode_frame(FrameType::kAsk, 0, 0, {}),
                                  hello_as_data, raw_frame(8, 3, 0, 1, 0)};  // the last: a header
  for (const Bytes& frame : frames) {
    RawPeer raw = proven();
    ASSERT_TRUE(raw.write(frame));
    ASSERT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes);
    EXPECT_EQ(raw.read_all(), encode_frame(ByeReason::kCorrupt)) << "at once";
  }
  EXPECT_EQ(seen().seen(1).judged, 0);
}

TEST_F(Frames, ASecondHelloClosesTheConnection) {
  RawPeer raw = welcome();
  ASSERT_TRUE(raw.write(encode_frame(raw_hello(1))));
  EXPECT_EQ(raw.read_all(), encode_frame(ByeReason::kCorrupt));
  ASSERT_TRUE(seen().wait_down(1));
  EXPECT_EQ(seen().seen(1).why, "[frame] HELLO again");
  EXPECT_EQ(seen().seen(1).judged, 1);
}

TEST_F(Frames, AnotherByeIsOfNoUse) {
  RawPeer raw = proven();
  ASSERT_TRUE(raw.write(encode_frame(ByeReason::kLeft)));
  ASSERT_TRUE(raw.write(encode_frame(raw_hello(1))));
  ASSERT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes);
  EXPECT_EQ(raw.read_all(), Bytes());
  EXPECT_EQ(seen().seen(1).judged, 0);
}

TEST_F(Frames, WhatAConnectionBreaksOffIsNoFrame) {
  {
    RawPeer raw = welcome();
    ASSERT_TRUE(raw.write(raw_frame(500, 3, 0, 1, 100)));
    ASSERT_TRUE(seen().wait_up(1));
  }
  ASSERT_TRUE(seen().wait_down(1));
  EXPECT_EQ(seen().seen(1).why, "closed without a word");
  EXPECT_TRUE(seen().seen(1).numbers.empty());
}

TEST_F(Frames, AResetIsADeath) {
  {
    RawPeer raw = welcome();
    ASSERT_TRUE(seen().wait_up(1));
    const linger hard{.l_onoff = 1, .l_linger = 0};
    setsockopt(raw.socket().get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  }
  ASSERT_TRUE(seen().wait_down(1));
  EXPECT_EQ(seen().seen(1).why, "reset");
}

TEST_F(Frames, WritingToAClosedConnectionHarmsNobody) {
  for (int times = 1; times <= 10; ++times) {
    {
      RawPeer raw = welcome();
      ASSERT_TRUE(seen().wait_up(1, times));
    }
    for (int k = 0; k < 200; ++k) peers_.at(0).send(1, data_frame(1, Bytes(1000)));
    ASSERT_TRUE(seen().wait_down(1, times));
  }
}

TEST_F(Frames, SendSaysWhenItsQueueIsFull) {
  RawPeer raw = welcome();  // and reads no more
  ASSERT_TRUE(seen().wait_up(1));
  const Bytes data = data_frame(1, Bytes(kTestLimits.longest_data));
  const Bytes pulse = encode_frame(FrameType::kPulse, 0, 0, Bytes(kRecordBytes));
  const auto count = [&](const Bytes& frame) {
    std::size_t sent = 0;
    while (sent < 1'000'000'000 && peers_.at(0).send(1, frame)) sent += frame.size();
    return sent;
  };
  std::size_t taken = 0;
  for (std::size_t more = 1; more > 0; taken += more) more = count(data);
  EXPECT_GE(taken, 8u << 20);
  EXPECT_LT(taken, 64u << 20) << "more than what waits here and in two buffers of TCP";
  // Others have a queue of their own.
  const std::size_t pulses = count(pulse);
  EXPECT_GT(pulses, 900'000u);
  EXPECT_LT(pulses, 8u << 20) << "what waits here, and what TCP still took";
  // When the other reads, there is room again, and all of it arrives.
  Bytes arrived = raw.read(taken + pulses);
  EXPECT_EQ(arrived.size(), taken + pulses);
  EXPECT_TRUE(peers_.at(0).send(1, data));
  EXPECT_EQ(raw.read(data.size()), data);
}

TEST_F(Frames, WhoReadsNothingIsWaitedForBriefly) {
  RawPeer raw = welcome();
  ASSERT_TRUE(seen().wait_up(1));
  while (peers_.at(0).send(1, data_frame(1, Bytes(1000)))) {
  }
  peers_.at(0).close(1, {ByeReason::kLeft});
  ASSERT_TRUE(seen().wait_down(1)) << "down waits for nobody";
  const auto start = std::chrono::steady_clock::now();
  peers_.destroy(0);
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::seconds(10));  // 1, if undisturbed
}

}  // namespace
}  // namespace hearsay::net
