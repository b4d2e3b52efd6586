// Ways to be let in, or to get a byte, without being listed. Each is tried by code that also makes
// the honest connection, which must succeed.
#include <sys/socket.h>

#include <ostream>

#include <gtest/gtest.h>

#include "hearsay/core/random.h"
#include "hearsay/core/sha256.h"
#include "net_tls/endpoints.h"
#include "net_tls/raw_tls.h"

namespace hearsay::net {
namespace {

struct Keys {
  Key listed{}, own{}, unlisted = make_ed25519();
};

/// A way in: how somebody introduces himself who takes it, and why that is refused if he dials, and
/// if he is dialled (null: that cannot be). `listed` is a key in the fleet file, and so is `own`,
/// which is that of the peer that is attacked.
struct Way {
  const char* name;
  const char* dials;
  const char* is_dialled;
  RawTls (*make)(const Keys& keys);
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

const std::vector<Way> kWays{
    {"NoCertificate", "peer did not return a certificate", nullptr,
     [](const Keys&) { return RawTls{}; }},
    {"UnlistedKey", "its key is that of hs1:", "its key is that of hs1:",
     [](const Keys& keys) { return RawTls{.key = keys.unlisted}; }},
    {"UnlistedKeyThatNamesAListedId", "its key is that of hs1:", "its key is that of hs1:",
     [](const Keys& keys) {
       Bytes der(64);
       unsigned char* end = der.data();
       der.resize(static_cast<std::size_t>(i2d_PUBKEY(keys.listed.get(), &end)));
       Sha256 hash;
       hash.update(der);
       return RawTls{.key = keys.unlisted, .name = to_text(hash.finish())};
     }},
    {"UnlistedKeyWithAListedCertificateBehindIt",
     "its key is that of hs1:", "its key is that of hs1:",
     [](const Keys& keys) { return RawTls{.key = keys.unlisted, .chained = keys.listed}; }},
    {"ListedCertificateWithoutItsKey", "bad signature", "bad signature",
     [](const Keys& keys) { return RawTls{.key = make_mixed(keys.listed, keys.unlisted)}; }},
    {"RsaKey", "peer did not return a certificate", "alert handshake failure",
     [](const Keys&) { return RawTls{.key = make_rsa()}; }},
    {"EcdsaKey", "peer did not return a certificate", "alert handshake failure",
     [](const Keys&) { return RawTls{.key = make_p256()}; }},
    {"Ed448Key", "peer did not return a certificate", "alert handshake failure",
     [](const Keys&) { return RawTls{.key = make_ed448()}; }},
    {"RsaKeyWithAListedCertificateBehindIt", "peer did not return a certificate",
     "alert handshake failure",
     [](const Keys& keys) { return RawTls{.key = make_rsa(), .chained = keys.listed}; }},
    {"ItsOwnKey", "its key is that of hs1:", "its key is that of hs1:",
     [](const Keys& keys) { return RawTls{.key = keys.own}; }},
    {"ListedKeyOverTls12", "unsupported protocol", "alert protocol version",
     [](const Keys& keys) { return RawTls{.key = keys.listed, .version = TLS1_2_VERSION}; }},
    {"ListedKeyOverTls11", "unsupported protocol", "alert protocol version",
     [](const Keys& keys) { return RawTls{.key = keys.listed, .version = TLS1_1_VERSION}; }},
    {"ListedKeyWithoutAlpn", "it does not speak hearsay/1", "it does not speak hearsay/1",
     [](const Keys& keys) { return RawTls{.key = keys.listed, .protocol = std::nullopt}; }},
    {"ListedKeyWithALaterProtocol", "no application protocol", "bad extension",
     [](const Keys& keys) { return RawTls{.key = keys.listed, .protocol = "hearsay/2"}; }},
    {"ListedKeyWithAnotherProtocol", "no application protocol", "bad extension",
     [](const Keys& keys) { return RawTls{.key = keys.listed, .protocol = "http/1.1"}; }},
};

std::string name_of_way(const ::testing::TestParamInfo<Way>& info) { return info.param.name; }

std::vector<Way> ways_of_servers() {
  std::vector<Way> ways = kWays;
  std::erase_if(ways, [](const Way& way) { return way.is_dialled == nullptr; });
  return ways;
}

/// Peer 0 is attacked; peer 1 is listed; peer 2 is listed, and not the one that peer 0 dials.
class Attack : public ::testing::Test {
 protected:
  Attack() {
    peers_.make(0);
    keys_.own = key_of(peers_.identity(0));
    keys_.listed = key_of(peers_.identity(1));
  }
  ~Attack() override { EXPECT_EQ(peers_.seen_by(0).broken(), ""); }

  RawPeer client(const RawTls& tls, SSL_SESSION* resumed = nullptr) {
    return {RawSocket::connected(peers_.port(0)), RawPeer::Side::kClient, tls, resumed};
  }
  /// A server where peer 0 thinks that peer 1 is.
  RawPeer server(const RawListener& listener, const RawTls& tls) {
    return {listener.accept(), RawPeer::Side::kServer, tls};
  }
  void dial(const RawListener& listener) {
    peers_.fleet().peers[1].address = Address{"127.0.0.1", listener.port()};
    peers_.start(0, {1});
  }
  /// Says what an honest peer says, and gets nothing for it.
  void expect_nothing(RawPeer& raw) {
    raw.write(encode_frame(raw_hello(1)));
    raw.write(encode_frame(FrameType::kAsk, 0, 0, {}));
    EXPECT_EQ(raw.read_all(), Bytes());
    EXPECT_NE(raw.error(), "");
    EXPECT_EQ(peers_.seen_by(0).hellos(), 0) << "a HELLO was composed for it";
  }
  /// The control: who owns a listed key is let in.
  void expect_welcome(RawPeer& raw, std::uint32_t slot = 1) {
    ASSERT_TRUE(raw.shaken()) << raw.error();
    ASSERT_TRUE(raw.write(encode_frame(raw_hello(slot))));
    EXPECT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes) << raw.error();
    EXPECT_TRUE(peers_.seen_by(0).wait_up(slot));
  }

  Endpoints peers_{3};
  Keys keys_;
};

class AttackOfClient : public Attack, public ::testing::WithParamInterface<Way> {};
class AttackOfServer : public Attack, public ::testing::WithParamInterface<Way> {};

TEST_P(AttackOfClient, IsRefused) {
  peers_.start(0);
  RawPeer raw = client(GetParam().make(keys_));
  expect_nothing(raw);
  EXPECT_TRUE(peers_.log_of(0).wait("a connection from 127.0.0.1 is refused: "));
  EXPECT_EQ(peers_.log_of(0).count(GetParam().dials), 1u) << peers_.log_of(0).all();
  RawPeer honest = client({.key = keys_.listed});
  expect_welcome(honest);
  EXPECT_EQ(peers_.seen_by(0).hellos(), 1);
}

TEST_P(AttackOfServer, IsRefused) {
  RawListener listener;
  dial(listener);
  {
    RawPeer raw = server(listener, GetParam().make(keys_));
    expect_nothing(raw);
  }
  EXPECT_TRUE(peers_.log_of(0).wait("no connection with peer-1"));
  EXPECT_EQ(peers_.log_of(0).count(GetParam().is_dialled), 1u) << peers_.log_of(0).all();
  RawPeer honest = server(listener, {.key = keys_.listed});
  expect_welcome(honest);
}

INSTANTIATE_TEST_SUITE_P(Ways, AttackOfClient, ::testing::ValuesIn(kWays), name_of_way);
INSTANTIATE_TEST_SUITE_P(Ways, AttackOfServer, ::testing::ValuesIn(ways_of_servers()), name_of_way);

TEST_F(Attack, DatesOfCertificatesProveNothing) {
  peers_.start(0);
  RawPeer raw = client({.key = keys_.listed, .not_after = "19990101000000Z"});
  expect_welcome(raw);
}

TEST_F(Attack, AnotherListedPeerIsNotTheOneThatWasDialled) {
  RawListener listener;
  dial(listener);
  RawPeer raw = server(listener, {.key = key_of(peers_.identity(2))});
  expect_nothing(raw);
  EXPECT_TRUE(peers_.log_of(0).wait(
      fmt::format("no connection with peer-1 at 127.0.0.1:{}: its key is that of {}",
                  listener.port(), to_text(peers_.identity(2).id()))));
  // It may come by itself.
  RawPeer honest = client({.key = key_of(peers_.identity(2))});
  expect_welcome(honest, 2);
}

TEST_F(Attack, WhoIsRemovedFromTheFleetFileIsRefused) {
  peers_.start(0);
  RawPeer before = client({.key = keys_.listed});
  expect_welcome(before);
  Fleet fleet = peers_.fleet();
  fleet.peers.erase(fleet.peers.begin() + 1);
  peers_.at(0).set_fleet(fleet);
  ASSERT_TRUE(peers_.seen_by(0).wait_down(1));
  EXPECT_EQ(before.read_all(), encode_frame(ByeReason::kRemoved));
  RawPeer raw = client({.key = keys_.listed});
  raw.write(encode_frame(raw_hello(1)));
  EXPECT_EQ(raw.read_all(), Bytes());
  EXPECT_EQ(peers_.seen_by(0).hellos(), 1);
}

TEST_F(Attack, SessionsAreNotResumed) {
  peers_.start(0);
  Owned<SSL_SESSION> session;
  {
    RawPeer honest = client({.key = keys_.listed});
    expect_welcome(honest);
    session = honest.session();
    EXPECT_EQ(SSL_SESSION_is_resumable(session.get()), 0) << "it gave a ticket";
    EXPECT_EQ(SSL_SESSION_get_max_early_data(session.get()), 0u);
    EXPECT_FALSE(SSL_SESSION_has_ticket(session.get()));
  }
  ASSERT_TRUE(peers_.seen_by(0).wait_down(1));
  RawPeer raw = client({.key = keys_.unlisted}, session.get());
  EXPECT_FALSE(raw.resumed());
  raw.write(encode_frame(raw_hello(1)));
  EXPECT_EQ(raw.read_all(), Bytes());
  EXPECT_EQ(peers_.seen_by(0).hellos(), 1);
}

TEST_F(Attack, NoTlsNoAnswer) {
  peers_.start(0);
  const auto noise = [](std::size_t size) {
    Bytes bytes(size);
    Random random(size, Purpose::kTest);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    return bytes;
  };
  const auto bytes_of = [](std::string_view text) { return Bytes(text.begin(), text.end()); };
  const std::vector<Bytes> said{
      encode_frame(raw_hello(1)),  // the protocol without TLS
      bytes_of("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
      bytes_of("SSH-2.0-OpenSSH_9.2\r\n"),
      bytes_of("\x16\x03\x01\xff\xff"),  // a record that is too long
      Bytes(1000, 0),
      Bytes(1000, 0xff),
      noise(1),
      noise(100),
      noise(5000),
      noise(100'000),
  };
  for (const Bytes& bytes : said) {
    const RawSocket raw = RawSocket::connected(peers_.port(0));
    raw.write(bytes);
    shutdown(raw.get(), SHUT_WR);
    const Bytes answer = raw.read_all();
    EXPECT_LE(answer.size(), 7u) << "more than an alert";
    EXPECT_TRUE(answer.empty() || answer[0] == 21) << "no alert";
  }
  EXPECT_EQ(peers_.seen_by(0).hellos(), 0);
  RawPeer honest = client({.key = keys_.listed});
  expect_welcome(honest);
}

TEST_F(Attack, ADialledPortThatSpeaksNoTlsGetsOnlyAGreetingOfTls) {
  RawListener listener;
  dial(listener);
  {
    const RawSocket raw = listener.accept();
    raw.write(Bytes(100, 'x'));
    const Bytes said = raw.read_all();
    ASSERT_GT(said.size(), 5u);
    EXPECT_EQ(said[0], 22) << "no handshake";
    EXPECT_LT(said.size(), 1000u);
  }
  EXPECT_TRUE(peers_.log_of(0).wait("no connection with peer-1"));
  EXPECT_EQ(peers_.seen_by(0).hellos(), 0);
  RawPeer honest = server(listener, {.key = keys_.listed});
  expect_welcome(honest);
}

TEST_F(Attack, AListedPeerGetsNothingButHelloBeforeItsOwn) {
  peers_.start(0);
  RawPeer raw = client({.key = keys_.listed});
  ASSERT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes);
  EXPECT_FALSE(peers_.at(0).send(1, data_frame(1)));
  raw.write(encode_frame(FrameType::kAsk, 0, 0, {}));  // send me your model
  EXPECT_EQ(raw.read_all(), encode_frame(ByeReason::kCorrupt));
  EXPECT_EQ(peers_.seen_by(0).seen(1).judged, 0);
}

TEST_F(Attack, WhoSomebodyIsSaysHisKeyNotHisHello) {
  peers_.start(0);
  RawPeer raw = client({.key = keys_.listed});
  ASSERT_TRUE(raw.write(encode_frame(raw_hello(2))));
  ASSERT_TRUE(peers_.seen_by(0).wait_up(1));
  EXPECT_EQ(peers_.seen_by(0).seen(1).hello->slot, 2u) << "judge may refuse that";
  EXPECT_EQ(peers_.seen_by(0).seen(2).hellos, 0);
  EXPECT_FALSE(peers_.at(0).send(2, data_frame(1)));
}

TEST_F(Attack, AWrongRunGetsAReasonAndNothingElse) {
  peers_.seen_by(0).verdict = [](std::uint32_t, const Hello& hello) -> std::optional<Bye> {
    if (hello.run[0] == std::byte{0}) return std::nullopt;
    return Bye{ByeReason::kWrongRun};
  };
  peers_.start(0);
  Hello wrong = raw_hello(1);
  wrong.run[0] = std::byte{1};
  {
    RawPeer raw = client({.key = keys_.listed});
    raw.write(encode_frame(wrong));
    ASSERT_EQ(raw.read(kHelloFrameBytes).size(), kHelloFrameBytes);
    EXPECT_EQ(raw.read_all(), encode_frame(ByeReason::kWrongRun));
  }
  RawPeer honest = client({.key = keys_.listed});
  expect_welcome(honest);
}

}  // namespace
}  // namespace hearsay::net
