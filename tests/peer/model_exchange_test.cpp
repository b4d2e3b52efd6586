#include "hearsay/peer/model_exchange.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/net/frame.h"

namespace hearsay::peer {
namespace {

constexpr std::size_t kBytes = net::kMostPieceBytes * 2 + 12;  // three pieces
constexpr net::FrameLimits kLimits{.longest_data = 64, .peers = 4};

Bytes some_model(std::uint8_t seed = 0) {
  Bytes model(kBytes);
  for (std::size_t k = 0; k < model.size(); ++k) {
    model[k] = static_cast<std::uint8_t>(seed + 7 * k + k / 251);
  }
  return model;
}

/// Peer 0, whom peer 1 has asked for a model; and peer 1.
struct Pair {
  Pair() {
    zero.asked(1);
    one.ask(0);
  }
  void answer(std::uint8_t seed = 0) {
    zero.answer(std::make_shared<const Bytes>(some_model(seed)),
                ModelExchange::digest_of(some_model(seed)));
  }
  /// The next piece from 0 to 1, changed on its way.
  void move_piece(const std::function<void(net::ModelPiece&)>& change = {}) {
    const Bytes frame = zero.next_piece(1);
    net::ModelPiece piece = net::decode_model_piece(net::decode_frame(frame, kLimits));
    if (change) change(piece);
    one.receive(0, piece);
    zero.sent(1);
  }

  ModelExchange zero{kBytes}, one{kBytes};
};

TEST(ModelExchange, MovesAModelInPieces) {
  Pair pair;
  EXPECT_TRUE(pair.zero.is_wanted());
  pair.answer();
  EXPECT_FALSE(pair.zero.is_wanted());
  EXPECT_EQ(pair.zero.receivers(), std::vector<std::uint32_t>{1});
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_FALSE(pair.one.take());
    EXPECT_EQ(pair.one.source(), 0u);
    ASSERT_TRUE(pair.zero.has_piece(1));
    pair.move_piece();
  }
  EXPECT_FALSE(pair.zero.has_piece(1));
  EXPECT_EQ(pair.one.take(), some_model());
  EXPECT_FALSE(pair.one.take()) << "once";
  EXPECT_FALSE(pair.one.source());
}

TEST(ModelExchange, AnswersOnceAConnection) {
  Pair pair;
  pair.answer();
  pair.zero.asked(1);
  EXPECT_FALSE(pair.zero.is_wanted());
  for (int piece = 0; piece < 3; ++piece) pair.move_piece();
  pair.zero.asked(1);
  EXPECT_FALSE(pair.zero.is_wanted());
  pair.zero.down(1);
  pair.zero.asked(1);
  EXPECT_TRUE(pair.zero.is_wanted());
}

TEST(ModelExchange, ForgetsWhatABrokenConnectionCarried) {
  Pair pair;
  pair.answer();
  pair.move_piece();
  pair.zero.down(1);
  pair.one.down(0);
  EXPECT_TRUE(pair.zero.receivers().empty());
  EXPECT_FALSE(pair.one.source());
  // Another peer's is taken from its start.
  pair.one.ask(2);
  EXPECT_EQ(pair.one.received(), 0u);
}

TEST(ModelExchange, KeepsAWholeModelWhoseConnectionBroke) {
  Pair pair;
  pair.answer();
  for (int piece = 0; piece < 3; ++piece) pair.move_piece();
  pair.one.down(0);
  EXPECT_EQ(pair.one.take(), some_model());
}

TEST(ModelExchange, GivesEachOfSeveralItsModel) {
  ModelExchange zero{kBytes};
  zero.asked(1);
  zero.answer(std::make_shared<const Bytes>(some_model(1)),
              ModelExchange::digest_of(some_model(1)));
  zero.asked(2);
  zero.answer(std::make_shared<const Bytes>(some_model(2)),
              ModelExchange::digest_of(some_model(2)));
  EXPECT_EQ(zero.receivers(), (std::vector<std::uint32_t>{1, 2}));
  const auto first_byte = [&](std::uint32_t peer) {
    const Bytes frame = zero.next_piece(peer);
    return net::decode_model_piece(net::decode_frame(frame, kLimits)).bytes[0];
  };
  EXPECT_EQ(first_byte(1), 1);
  EXPECT_EQ(first_byte(2), 2);
}

TEST(ModelExchange, TakesTheFirstWholeModelOfThoseItAskedFor) {
  Pair pair;
  pair.answer();
  pair.one.ask(7);  // the first is slow
  while (pair.zero.has_piece(1)) pair.move_piece();
  EXPECT_EQ(pair.one.take(), some_model(0));
  const Bytes other = some_model(3);
  pair.one.receive(
      7, {.total = other.size(), .offset = 0, .bytes = ByteView(other).first(100), .digest = {}});
  EXPECT_FALSE(pair.one.take()) << "too late, and no error";
}

TEST(ModelExchange, RefusesPiecesThatWereNotAskedFor) {
  Pair pair;
  pair.answer();
  const Bytes frame = pair.zero.next_piece(1);
  const net::ModelPiece piece = net::decode_model_piece(net::decode_frame(frame, kLimits));
  EXPECT_THROW(pair.one.receive(3, piece), CorruptData);
  ModelExchange nobody{kBytes};
  EXPECT_THROW(nobody.receive(0, piece), CorruptData);
  pair.one.receive(0, piece);
  EXPECT_THROW(pair.one.receive(0, piece), CorruptData) << "twice";
}

TEST(ModelExchange, RefusesAModelOfAnotherSize) {
  Pair pair;
  pair.answer();
  EXPECT_THROW(pair.move_piece([](net::ModelPiece& piece) { piece.total += 4; }), CorruptData);
}

TEST(ModelExchange, RefusesAModelThatIsNotWhatWasSent) {
  Pair pair;
  pair.answer();
  pair.move_piece();
  pair.move_piece();
  EXPECT_THROW(pair.move_piece([](net::ModelPiece& piece) { (*piece.digest)[5] ^= 1; }),
               CorruptData);
  EXPECT_FALSE(pair.one.take());
  EXPECT_FALSE(pair.one.source()) << "another peer is to be asked";
}

}  // namespace
}  // namespace hearsay::peer
