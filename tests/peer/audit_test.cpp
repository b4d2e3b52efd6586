#include "hearsay/peer/world/audit.h"

#include <gtest/gtest.h>

#include <array>

namespace hearsay::peer {
namespace {

using Kind = Movement::Kind;

/// Two peers with models of two entries, whose every change is told to an audit: all numbers are
/// exact in binary.
class AuditedPair {
 public:
  AuditedPair() {
    for (Member& peer : peers_) audit.entered(peer.x, peer.u);
  }

  /// Message `number` of peer 0 to peer 1: 0.5 (8, -4) and 0.5 u = 0.5.
  Movement movement(Kind kind, std::uint64_t number = 1) const {
    return {.kind = kind,
            .sender = 0,
            .receiver = 1,
            .sender_life = 10,
            .receiver_life = 20,
            .number = number,
            .amount = 0.5f,
            .push_sum = 1,
            .q = {kVector.data()}};
  }
  /// The audit is told, and the peer that is concerned gains or loses the mass.
  void happen(Kind kind, std::uint64_t number = 1) {
    audit.moved(movement(kind, number));
    change(kind == Kind::kApplied ? 1 : 0,
           kind == Kind::kApplied || kind == Kind::kReturned ? 0.5f : -0.5f);
  }
  void change(std::size_t peer, float amount) {
    for (std::size_t k = 0; k < 2; ++k) peers_[peer].x[k] += amount * kVector[k];
    peers_[peer].u += static_cast<double>(amount);
  }

  Audit::Drift drift() const {
    Audit::Sum sum(2);
    for (const Member& peer : peers_) sum.add(peer.x, peer.u);
    return audit.drift(sum);
  }
  bool balances() const { return drift().x == 0 && drift().u == 0; }
  std::uint64_t owed() const { return audit.owed({0, 1, 10, 20}); }

  static constexpr std::array<float, 2> kVector{8, -4};
  struct Member {
    std::array<float, 2> x{1, 2};
    double u = 1;
  };
  Audit audit{2};
  std::array<Member, 2> peers_;
};

TEST(Audit, IsSilentOnACleanHistory) {
  AuditedPair pair;
  for (const std::uint64_t number : {1u, 2u, 3u, 4u}) pair.happen(Kind::kSent, number);
  EXPECT_TRUE(pair.balances()) << "flying";
  pair.happen(Kind::kApplied, 2);
  pair.happen(Kind::kReturned, 3);
  pair.happen(Kind::kApplied, 4);
  EXPECT_EQ(pair.owed(), 0u);
  pair.happen(Kind::kReturned, 4);
  EXPECT_TRUE(pair.balances()) << "owed";
  EXPECT_EQ(pair.owed(), 1u);
  pair.happen(Kind::kPaid, 4);
  EXPECT_EQ(pair.owed(), 0u);
  EXPECT_TRUE(pair.balances());
  EXPECT_EQ(pair.audit.fault(), "");
  EXPECT_EQ(pair.audit.messages(), 4u);
}

TEST(Audit, AllowsAMessageToBeAppliedAfterItWasTakenBack) {
  AuditedPair pair;
  pair.happen(Kind::kSent);
  pair.happen(Kind::kReturned);
  pair.happen(Kind::kApplied);
  EXPECT_EQ(pair.owed(), 1u);
  pair.happen(Kind::kPaid);
  EXPECT_EQ(pair.owed(), 0u);
  EXPECT_TRUE(pair.balances());
  EXPECT_EQ(pair.audit.fault(), "");
}

TEST(Audit, FollowsLocalSteps) {
  AuditedPair pair;
  const std::array<float, 2> direction{4, 2};
  pair.audit.stepped(0.25, direction);
  EXPECT_GT(pair.drift().x, 0);
  for (std::size_t k = 0; k < 2; ++k) pair.peers_[0].x[k] -= 0.25f * direction[k];
  EXPECT_TRUE(pair.balances());
}

TEST(Audit, FollowsEntriesAndDeaths) {
  AuditedPair pair;
  pair.happen(Kind::kSent);
  pair.audit.died(pair.peers_[0].x, pair.peers_[0].u);
  pair.peers_[0] = {};
  pair.audit.entered(pair.peers_[0].x, pair.peers_[0].u);
  EXPECT_TRUE(pair.balances());
  pair.happen(Kind::kApplied);
  EXPECT_TRUE(pair.balances()) << "what flew when its sender died arrives";
}

TEST(Audit, TakesSparseVectorsForWhatTheyStandFor) {
  AuditedPair pair;
  const std::array<std::uint32_t, 1> index{1};
  const std::array<float, 1> value{-4};
  Movement movement = pair.movement(Kind::kSent);
  movement.q = {nullptr, index, value};
  pair.audit.moved(movement);
  pair.peers_[0].x[1] += 2;
  pair.peers_[0].u -= 0.5;
  EXPECT_TRUE(pair.balances());
}

TEST(Audit, FindsAMessageAppliedTwice) {
  AuditedPair pair;
  pair.happen(Kind::kSent, 7);
  pair.happen(Kind::kApplied, 7);
  pair.happen(Kind::kApplied, 7);
  EXPECT_EQ(pair.audit.fault(),
            "message 7 from peer 0 (life 10) to peer 1 (life 20) was applied twice");
}

TEST(Audit, FindsAMessageThatCountsTwiceInAnyWay) {
  for (const Kind kind : {Kind::kSent, Kind::kReturned, Kind::kPaid}) {
    AuditedPair pair;
    for (const Kind once : {Kind::kSent, Kind::kReturned, Kind::kApplied, Kind::kPaid}) {
      pair.happen(once);
    }
    ASSERT_EQ(pair.audit.fault(), "");
    pair.happen(kind);
    EXPECT_TRUE(pair.audit.fault().ends_with(" twice")) << pair.audit.fault();
  }
}

TEST(Audit, FindsAMessageThatWasNeverSent) {
  for (const Kind kind : {Kind::kApplied, Kind::kReturned, Kind::kPaid}) {
    AuditedPair pair;
    pair.happen(kind);
    EXPECT_TRUE(pair.audit.fault().ends_with(" and never sent")) << pair.audit.fault();
  }
}

TEST(Audit, FindsAPaymentWithoutAReturn) {
  AuditedPair pair;
  pair.happen(Kind::kSent);
  pair.happen(Kind::kApplied);
  pair.happen(Kind::kPaid);
  EXPECT_EQ(
      pair.audit.fault(),
      "message 1 from peer 0 (life 10) to peer 1 (life 20) was paid for and never taken back");
}

TEST(Audit, TellsLivesApart) {
  AuditedPair pair;
  pair.happen(Kind::kSent);
  Movement movement = pair.movement(Kind::kApplied);
  movement.receiver_life = 21;
  pair.audit.moved(movement);
  EXPECT_EQ(pair.audit.fault(),
            "message 1 from peer 0 (life 10) to peer 1 (life 21) was applied and never sent");
}

TEST(Audit, KeepsTheFirstFault) {
  AuditedPair pair;
  pair.happen(Kind::kSent, 1);
  pair.happen(Kind::kSent, 1);
  pair.happen(Kind::kApplied, 2);
  EXPECT_TRUE(pair.audit.fault().ends_with("was sent twice"));
}

TEST(Audit, FindsMassMadeOfNothing) {
  AuditedPair pair;
  pair.peers_[1].u += 0.25;
  EXPECT_EQ(pair.drift().u, 0.25);
  EXPECT_EQ(pair.drift().x, 0);
  pair.peers_[1].u -= 0.25;
  pair.peers_[1].x[1] += 2;
  EXPECT_EQ(pair.drift().u, 0);
  EXPECT_EQ(pair.drift().x, 0.5) << "2 of the 2 + 2 that entered";
}

TEST(Audit, FindsADebitThatNobodyMade) {
  AuditedPair pair;
  pair.audit.moved(pair.movement(Kind::kSent));
  EXPECT_EQ(pair.drift().u, 0.5);
  EXPECT_GT(pair.drift().x, 0);
  EXPECT_EQ(pair.audit.fault(), "");
}

}  // namespace
}  // namespace hearsay::peer
