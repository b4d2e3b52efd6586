#include "hearsay/transport/tls/mail.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

constexpr net::FrameLimits kLimits{.longest_data = kLongestFrame, .peers = 2};

/// One process on each side, whose frames arrive at once.
struct Mail {
  /// Hands over at most `frames` frames; the messages that are complete.
  std::vector<InMail::Message> pump(std::size_t frames = 1000) {
    std::vector<InMail::Message> messages;
    out.pump([&](const Bytes& frame) {
      if (frames-- == 0) return false;
      if (auto message = take(frame)) messages.push_back(std::move(*message));
      return true;
    });
    return messages;
  }
  std::optional<InMail::Message> take(const Bytes& frame) {
    return in.take(net::decode_frame(frame, kLimits), [this](Label, std::size_t bytes) {
      return std::span<std::uint8_t>(bodies.emplace_back(bytes));
    });
  }

  OutMail out;
  InMail in;
  std::deque<Bytes> bodies;
};

TEST(Mail, KeepsOrderAndCutsLongBodies) {
  Mail mail;
  const std::vector<std::size_t> sizes{0, 1, kPieceBytes, kPieceBytes + 1, 3 * kPieceBytes};
  std::vector<Bytes> bodies;
  for (const std::size_t size : sizes) bodies.push_back(bytes_like(size, 0, 1, 7));
  for (const Bytes& body : bodies) mail.out.add(gossip(7), Bytes{1, 2}, body);
  const std::vector<InMail::Message> messages = mail.pump();
  ASSERT_EQ(messages.size(), sizes.size());
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    EXPECT_EQ(messages[k].number, k + 1);
    EXPECT_EQ(messages[k].label, gossip(7));
    EXPECT_EQ(messages[k].head, (Bytes{1, 2}));
    EXPECT_TRUE(same(messages[k].body, bodies[k]));
  }
}

TEST(Mail, GoesOnWhereARefusedFrameWas) {
  Mail mail;
  const Bytes body = bytes_like(5 * kPieceBytes / 2, 0, 1, 3);
  mail.out.add(control(3), {}, body);
  EXPECT_TRUE(mail.pump(1).empty());
  EXPECT_TRUE(mail.pump(0).empty());
  const std::vector<InMail::Message> messages = mail.pump();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(same(messages[0].body, body));
}

TEST(Mail, KnowsWhatIsTaken) {
  Mail mail;
  mail.out.add(gossip(3), {}, {});
  mail.out.add(gossip(4), {}, {});
  mail.out.add(control(1), {}, {});
  mail.pump();
  EXPECT_TRUE(mail.out.all_taken(gossip(2)));
  EXPECT_FALSE(mail.out.all_taken(gossip(3)));
  mail.out.taken(1);
  EXPECT_TRUE(mail.out.all_taken(gossip(3)));
  EXPECT_FALSE(mail.out.all_taken(gossip(4)));
  EXPECT_FALSE(mail.out.all_taken(control(9)));
  EXPECT_THROW(mail.out.taken(1), CorruptData);
  EXPECT_THROW(mail.out.taken(4), CorruptData);
  mail.out.drop();
  EXPECT_TRUE(mail.out.all_taken(control(9)));
  mail.out.add(gossip(9), {}, {});
  EXPECT_THROW(mail.out.taken(4), CorruptData) << "not sent yet";
}

TEST(Mail, RejectsFramesThatCannotBe) {
  const auto frame = [](std::uint64_t number, std::uint8_t lane, std::uint8_t head,
                        std::uint64_t size, std::size_t more) {
    Bytes body{lane, head, 0, 0};
    append(body, std::uint32_t{5});
    append(body, size);
    body.resize(body.size() + more);
    return net::encode_frame(net::FrameType::kData, 0, number, body);
  };
  EXPECT_TRUE(Mail().take(frame(1, 0, 0, 3, 3)));
  EXPECT_THROW(Mail().take(frame(2, 0, 0, 3, 3)), CorruptData) << "a gap";
  EXPECT_THROW(Mail().take(frame(1, 3, 0, 3, 3)), CorruptData) << "no such lane";
  EXPECT_THROW(Mail().take(frame(1, 0, 65, 3, 99)), CorruptData) << "too long a head";
  EXPECT_THROW(Mail().take(frame(1, 0, 9, 0, 3)), CorruptData) << "the head is cut off";
  EXPECT_THROW(Mail().take(frame(1, 0, 0, 3, 4)), CorruptData) << "longer than it says";
  EXPECT_THROW(Mail().take(frame(1, 0, 0, std::uint64_t{1} << 60, 0)), CorruptData) << "huge";
  Mail mail;
  EXPECT_FALSE(mail.take(frame(1, 0, 0, 30, 3)));
  EXPECT_THROW(mail.take(frame(2, 0, 0, 3, 3)), CorruptData) << "within another one";
}

}  // namespace
}  // namespace hearsay::transport
