// Limits of time and number, for those who may not be honest.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "hearsay/net/tls/admission.h"
#include "hearsay/net/tls/dial.h"
#include "hearsay/net/tls/outbox.h"
#include "net_tls/endpoints.h"
#include "net_tls/raw_tls.h"

namespace hearsay::net {
namespace {

asio::ip::address address(const std::string& text) { return asio::ip::make_address(text); }

// ---- Admission: who may begin a connection ----

TEST(Admission, GivesSoManyPlacesAnAddressAndInAll) {
  Admission admission;
  std::vector<std::shared_ptr<void>> places;
  const auto takes = [&](const std::string& from, double now) {
    auto place = admission.admit(address(from), now);
    if (place) places.push_back(place);
    return place != nullptr;
  };
  for (std::size_t k = 0; k < Admission::kMostAnAddress; ++k) EXPECT_TRUE(takes("10.0.0.1", 0));
  EXPECT_FALSE(takes("10.0.0.1", 0));
  EXPECT_FALSE(takes("::ffff:10.0.0.1", 0)) << "the same address";
  for (std::size_t k = Admission::kMostAnAddress; k < Admission::kMost; ++k) {
    EXPECT_TRUE(takes("10.0.0.2", 0));
  }
  EXPECT_FALSE(takes("10.0.0.3", 0));
  EXPECT_FALSE(takes("10.0.0.3", 100)) << "places are not given back by time";
  places.pop_back();
  EXPECT_TRUE(takes("10.0.0.3", 100));
}

TEST(Admission, CountsANetworkOf64BitsAsOneAddress) {
  Admission admission;
  std::vector<std::shared_ptr<void>> places;
  for (std::size_t k = 0; k < Admission::kMostAnAddress; ++k) {
    places.push_back(admission.admit(address(fmt::format("2001:db8::{:x}", k + 1)), 0));
    EXPECT_TRUE(places.back());
  }
  EXPECT_FALSE(admission.admit(address("2001:db8::ffff:1"), 0));
  EXPECT_TRUE(admission.admit(address("2001:db8:0:1::1"), 0));
  EXPECT_TRUE(admission.admit(address("10.0.0.1"), 0));
}

TEST(Admission, GivesSoManyASecond) {
  Admission admission;
  std::size_t one = 0, other = 0, third = 0;
  for (int k = 0; k < 1000; ++k) one += admission.admit(address("10.0.0.1"), 5) != nullptr;
  for (int k = 0; k < 1000; ++k) other += admission.admit(address("10.0.0.2"), 5.5) != nullptr;
  for (int k = 0; k < 1000; ++k) third += admission.admit(address("10.0.0.3"), 5.9) != nullptr;
  EXPECT_EQ(one, Admission::kASecondAnAddress);
  EXPECT_EQ(one + other + third, Admission::kASecond);
  EXPECT_TRUE(admission.admit(address("10.0.0.1"), 6.1));
}

TEST(Admission, PlacesMayOutliveIt) {
  auto admission = std::make_unique<Admission>();
  const auto place = admission->admit(address("10.0.0.1"), 0);
  admission.reset();
  EXPECT_TRUE(place);
}

// ---- Backoff: when to dial again ----

TEST(DialBackoff, DoublesUpToALimitAndBeginsAnew) {
  Backoff backoff(Random(1, Purpose::kTest));
  double most = Backoff::kFirst;
  for (int k = 0; k < 20; ++k) {
    const double wait = backoff.next();
    EXPECT_GE(wait, most / 2);
    EXPECT_LE(wait, most);
    most = std::min(2 * most, Backoff::kLast);
  }
  backoff.lasted(1);
  EXPECT_GE(backoff.next(), Backoff::kLast / 2) << "it did not last";
  backoff.lasted(100);
  EXPECT_LE(backoff.next(), Backoff::kFirst);
}

// ---- Outbox: what waits to be sent ----

TEST(OutboxOfOne, GivesFramesInOrderAndShortOnesTogether) {
  Outbox outbox(kTestLimits);
  Bytes all;
  for (std::uint64_t k = 1; k <= 1000; ++k) {
    const Bytes frame = data_frame(k, Bytes(k));
    all.insert(all.end(), frame.begin(), frame.end());
    EXPECT_EQ(outbox.put(frame), k == 1 ? Outbox::Put::kFirst : Outbox::Put::kQueued);
  }
  Bytes taken;
  std::size_t chunks = 0;
  for (;;) {
    Outbox::Chunk chunk = outbox.take();
    if (chunk.bytes.empty()) break;
    ++chunks;
    taken.insert(taken.end(), chunk.bytes.begin(), chunk.bytes.end());
    outbox.written(chunk, chunk.bytes.size());
  }
  EXPECT_EQ(taken, all);
  EXPECT_LT(chunks, 20u);
  EXPECT_EQ(outbox.put(data_frame(1)), Outbox::Put::kFirst) << "somebody must be woken again";
}

TEST(OutboxOfOne, CountsWhatIsBeingWritten) {
  Outbox outbox(kTestLimits);
  const Bytes model = encode_frame(FrameType::kModel, 0, 1, Bytes(250'000));
  std::size_t taken = 0;
  while (outbox.put(model) != Outbox::Put::kFull) ++taken;
  EXPECT_EQ(taken, Outbox::kMostOther / model.size());
  Outbox::Chunk chunk = outbox.take();
  EXPECT_EQ(outbox.put(model), Outbox::Put::kFull);
  EXPECT_TRUE(outbox.written(chunk, 1000)) << "a frame was refused";
  EXPECT_EQ(outbox.put(model), Outbox::Put::kFull);
  EXPECT_TRUE(outbox.written(chunk, chunk.bytes.size() - 1000));
  EXPECT_FALSE(outbox.written(chunk, 0)) << "no other since";
  EXPECT_EQ(outbox.put(model), Outbox::Put::kQueued);
  outbox.discard();
  EXPECT_TRUE(outbox.take().bytes.empty());
  EXPECT_EQ(outbox.put(model), Outbox::Put::kQueued);
  EXPECT_TRUE(outbox.take().bytes.empty());
}

// ---- Against an endpoint ----

/// Peer 0 is an endpoint; the others are listed.
class Limits : public ::testing::Test {
 protected:
  Limits() {
    peers_.make(0);
    peers_.start(0);
  }
  ~Limits() override { EXPECT_EQ(seen().broken(), ""); }

  RawPeer proven(std::uint32_t slot, const std::string& from = "127.0.0.1") {
    return {RawSocket::connected(peers_.port(0), from), RawPeer::Side::kClient,
            RawTls{.key = key_of(peers_.identity(slot))}};
  }
  RawPeer welcome(std::uint32_t slot, const std::string& from = "127.0.0.1") {
    RawPeer raw = proven(slot, from);
    EXPECT_TRUE(raw.write(encode_frame(raw_hello(slot))));
    EXPECT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes) << raw.error();
    return raw;
  }
  Recorder& seen() { return peers_.seen_by(0); }

  Endpoints peers_{6};
};

TEST_F(Limits, WhoIsSlowIsClosed) {
  const auto start = std::chrono::steady_clock::now();
  const RawSocket silent = RawSocket::connected(peers_.port(0));
  const RawSocket slow = RawSocket::connected(peers_.port(0));
  ASSERT_TRUE(slow.write(Bytes{0x16, 0x03, 0x01, 0x00, 0xc8}));  // a handshake of 200 bytes
  RawPeer without_hello = proven(1), slow_hello = proven(2), half_frame = welcome(3);
  RawPeer slow_frame = welcome(4), honest = welcome(5);
  for (std::uint32_t slot = 3; slot <= 5; ++slot) ASSERT_TRUE(seen().wait_up(slot));
  const Bytes hello = encode_frame(raw_hello(2)), frame = data_frame(1, Bytes(1000));
  ASSERT_TRUE(half_frame.write(ByteView(frame).first(500)));
  std::uint64_t said = 0;
  bool hello_closed = false, frame_closed = false, slow_closed = false;
  while (!hello_closed || !frame_closed || !slow_closed) {  // a byte of each
    ASSERT_LT(std::chrono::steady_clock::now() - start, kPatience);
    slow_closed = slow_closed || !slow.write(Bytes{0}) || slow.is_closed();
    hello_closed = hello_closed || !slow_hello.write({&hello[said % hello.size()], 1});
    frame_closed = frame_closed || !slow_frame.write({&frame[said], 1});
    ASSERT_TRUE(honest.write(data_frame(++said)));
    ASSERT_LT(said, frame.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(silent.wait_closed());
  EXPECT_EQ(without_hello.read_all().size(), kHelloFrameBytes) << "and nothing else";
  EXPECT_EQ(slow_hello.read_all().size(), kHelloFrameBytes);
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  EXPECT_EQ(seen().seen(1).judged, 0);
  EXPECT_EQ(seen().seen(2).judged, 0);
  ASSERT_TRUE(seen().wait_down(3));
  ASSERT_TRUE(seen().wait_down(4));
  EXPECT_TRUE(seen().seen(4).why.starts_with("a frame of 1000 bytes took more than 5."))
      << seen().seen(4).why;
  EXPECT_TRUE(peers_.log_of(0).wait("a connection from 127.0.0.1 is refused: no HELLO within 5 s"));
  // The control: slow, but with whole frames.
  ASSERT_TRUE(seen().wait(5, [&](const auto& all) { return all.numbers.size() == said; }));
  EXPECT_TRUE(seen().seen(5).up);
}

TEST_F(Limits, FloodsLeaveRoomForOthers) {
  std::vector<RawSocket> first, second;
  for (std::size_t k = 0; k < Admission::kMostAnAddress + 8; ++k) {
    first.push_back(RawSocket::connected(peers_.port(0), "127.0.0.2"));
  }
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_TRUE(first.back().wait_closed()) << "one more than an address may have";
    first.pop_back();
  }
  for (const RawSocket& socket : first) EXPECT_FALSE(socket.is_closed());
  RawPeer honest = welcome(1, "127.0.0.3");
  ASSERT_TRUE(seen().wait_up(1)) << "others are let in";
  for (std::size_t k = 0; k < Admission::kMostAnAddress; ++k) {
    second.push_back(RawSocket::connected(peers_.port(0), "127.0.0.4"));
  }
  EXPECT_TRUE(RawSocket::connected(peers_.port(0), "127.0.0.5").wait_closed()) << "more than all";
  for (const RawSocket& socket : second) EXPECT_FALSE(socket.is_closed());
  EXPECT_TRUE(peers_.at(0).send(1, data_frame(1))) << "who is up is not harmed";
  EXPECT_EQ(honest.read(data_frame(1).size()), data_frame(1));
  second.clear();  // their places are free as soon as they are gone
  first.clear();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!seen().seen(2).up && std::chrono::steady_clock::now() < end) {
    RawPeer raw = proven(2, "127.0.0.5");
    if (!raw.shaken() || !raw.write(encode_frame(raw_hello(2)))) continue;
    if (raw.read(kHelloFrameBytes).size() == kHelloFrameBytes && seen().wait_up(2)) break;
  }
  EXPECT_GE(seen().seen(2).ups, 1);
}

TEST_F(Limits, StrangersDoNotFillTheLog) {
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 10; ++k) {
    EXPECT_TRUE(RawSocket::connected(peers_.port(0)).write(Bytes(100, 'x')));
  }
  ASSERT_TRUE(peers_.log_of(0).wait("refused"));
  for (int k = 0; k < 30; ++k) {
    RawPeer raw{RawSocket::connected(peers_.port(0)), RawPeer::Side::kClient,
                RawTls{.key = make_ed25519()}};
    raw.read_all();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(peers_.log_of(0).count("wrong version number"), 1u) << peers_.log_of(0).all();
  EXPECT_LE(static_cast<double>(peers_.log_of(0).count("refused")), 10 * (took.count() + 1));
}

}  // namespace
}  // namespace hearsay::net
