#include "hearsay/gossip/message_exchange.h"

#include <gtest/gtest.h>

#include <deque>

#include "engine/far_kernels.h"
#include "hearsay/compress/code/message.h"
#include "hearsay/core/error.h"
#include "hearsay/core/thread_pool.h"
#include "support/inproc.h"

namespace hearsay::gossip {
namespace {

using transport::Lane;

constexpr std::size_t kDim = 3;
constexpr std::uint32_t kRound = 17;

/// Rank 0 of two with a MessageExchange; the test plays the other rank. Of four peers, 0 and 1 live
/// in rank 0, 2 and 3 in rank 1.
class MessageExchangeTest : public ::testing::Test {
 protected:
  MessageExchangeTest()
      : kernels_(backend::make_cpu_kernels(pool_)), x_(kernels_->allocate(2, kDim)) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t k = 0; k < kDim; ++k) x_.row(i)[k] = static_cast<float>(10 * i + k);
    }
  }

  /// Every peer sends a quarter of its vector to every other peer.
  static graph::Weights all_to_all() {
    std::vector<graph::Edge> edges;
    for (std::uint32_t from = 0; from < 4; ++from) {
      for (std::uint32_t to = 0; to < 4; ++to) {
        if (from != to) edges.push_back({from, to, 0.25});
      }
    }
    return {4, edges};
  }

  /// Sends a message as peer `from` of the other process would.
  void send_from_there(std::uint32_t from, std::uint32_t to, ByteView body,
                       std::uint32_t round = kRound,
                       compress::MessageKind kind = compress::MessageKind::kModel) {
    Bytes head;
    compress::append_header({.kind = kind,
                             .sender = from,
                             .round = round,
                             .weight = 0.125f * static_cast<float>(from),
                             .push_sum = 2.0},
                            head);
    append(head, to);
    bodies_.emplace_back(body.begin(), body.end());
    there_->send(0, {Lane::kGossip, 0}, head, bodies_.back());
  }
  static Bytes vector_of(float value, std::size_t dim = kDim) {
    Bytes bytes;
    append(bytes, std::span<const float>(std::vector<float>(dim, value)));
    return bytes;
  }

  void begin() {
    outbox_.send_all(x_);
    message_exchange_.send(weights_, kRound, outbox_, {});
  }
  /// Returns what there is to mix.
  algorithm::Exchange receive() {
    algorithm::Exchange arrived;
    message_exchange_.receive(weights_, kRound, outbox_, {},
                              [&](const algorithm::Exchange& exchange) { arrived = exchange; });
    return arrived;
  }
  /// The other rank takes all that was sent to it.
  void take_there() {
    for (int k = 0; k < 4; ++k) {  // two senders, two receivers
      ASSERT_TRUE(there_->receive({Lane::kGossip, 0}, std::chrono::seconds(10)));
    }
  }
  std::string refusal() {
    try {
      receive();
    } catch (const CorruptData& error) {
      return error.what();
    }
    return "";
  }

  std::deque<Bytes> bodies_;  // until they are received
  transport::Hub hub_{2};
  std::unique_ptr<transport::Transport> here_ = hub_.join(0), there_ = hub_.join(1);
  ProcessGroup group_{*here_};
  ThreadPool pool_{1};
  std::unique_ptr<backend::Kernels> kernels_;
  backend::Array x_;
  Layout layout_{kDim};
  std::unique_ptr<compress::Compressor> compressor_ = compress::make_compressor("identity");
  transport::Placement placement_{4, 2};
  graph::Weights weights_ = all_to_all();
  algorithm::Outbox outbox_;
  MessageExchange message_exchange_{{.group = group_,
                                     .placement = placement_,
                                     .compressor = *compressor_,
                                     .layout = layout_,
                                     .kernels = *kernels_}};
};

TEST_F(MessageExchangeTest, SendsAVectorToAProcessOnce) {
  begin();
  std::size_t bodies = 0;
  for (int k = 0; k < 4; ++k) {  // two senders, two receivers
    const auto arrival = there_->receive({Lane::kGossip, 0}, std::chrono::seconds(10));
    ASSERT_TRUE(arrival);
    ByteReader head(arrival->head, "head");
    const compress::MessageHeader header = compress::read_header(head);
    EXPECT_EQ(header.round, kRound);
    EXPECT_EQ(header.weight, 0.25f);
    if (arrival->body.empty()) continue;
    ++bodies;
    std::vector<float> floats(kDim);
    ByteReader(arrival->body, "body").read(std::span(floats));
    EXPECT_EQ(floats,
              std::vector<float>(x_.row(header.sender).begin(), x_.row(header.sender).end()));
  }
  EXPECT_EQ(bodies, 2u);
}

/// Counts allocations for copies of rows that the host cannot read.
class CountingKernels : public engine::FarKernels {
 public:
  using FarKernels::FarKernels;
  backend::Array allocate_host(std::size_t floats) override {
    ++allocated;
    return FarKernels::allocate_host(floats);
  }
  std::size_t allocated = 0;
};

TEST_F(MessageExchangeTest, CopiesRowsOfADeviceIntoMemoryThatItUsesAgain) {
  CountingKernels far(pool_);
  const backend::Array x = far.allocate(2, kDim);
  MessageExchange exchange({.group = group_,
                            .placement = placement_,
                            .compressor = *compressor_,
                            .layout = layout_,
                            .kernels = far});
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<float> row(kDim, static_cast<float>(10 * round + i));
      far.upload(row, x, i);
    }
    algorithm::Outbox outbox;
    outbox.send_all(x);
    exchange.send(weights_, round, outbox, {});
    for (int k = 0; k < 4; ++k) {  // two senders, two receivers
      const auto arrival = there_->receive({Lane::kGossip, round}, std::chrono::seconds(10));
      ASSERT_TRUE(arrival);
      ByteReader head(arrival->head, "head");
      const compress::MessageHeader header = compress::read_header(head);
      if (arrival->body.empty()) continue;
      std::vector<float> floats(kDim);
      ByteReader(arrival->body, "body").read(std::span(floats));
      EXPECT_EQ(floats, std::vector<float>(kDim, static_cast<float>(10 * round + header.sender)));
    }
  }
  EXPECT_EQ(far.allocated, 6u) << "two rows in each of the three rounds that may be under way";
}

TEST_F(MessageExchangeTest, HandsOverWhatCame) {
  begin();
  send_from_there(2, 0, vector_of(2));
  send_from_there(2, 1, {});
  send_from_there(3, 0, vector_of(3));
  send_from_there(3, 1, {});
  take_there();
  const algorithm::Exchange arrived = receive();
  // Each of the two receivers: from the other one, from 2 and from 3, whose vectors come after
  // those of the bank.
  EXPECT_EQ(arrived.begin, (std::vector<std::uint32_t>{0, 3, 6}));
  EXPECT_EQ(arrived.source, (std::vector<std::uint32_t>{1, 2, 3, 0, 2, 3}));
  EXPECT_EQ(arrived.weight, (std::vector<float>{0.25f, 0.25f, 0.375f, 0.25f, 0.25f, 0.375f}));
  EXPECT_EQ(arrived.debit, (std::vector<double>{0.75, 0.75}));
  EXPECT_EQ(arrived.vectors[0][2].dense[kDim - 1], 2.0f);
  EXPECT_EQ(arrived.vectors[0][3].dense[0], 3.0f);
}

TEST_F(MessageExchangeTest, HandsOverCodesUndecodedIfTheMethodAsksForThem) {
  outbox_.send_codes(*kernels_, {Bytes{1, 2}, Bytes{3}}, 1);
  message_exchange_.send(weights_, kRound, outbox_, {});
  send_from_there(2, 0, Bytes{7, 7, 7});  // no code of the compressor
  send_from_there(2, 1, {});
  send_from_there(3, 0, Bytes{8});
  send_from_there(3, 1, {});
  const algorithm::Exchange arrived = receive();
  ASSERT_EQ(arrived.codes[0].size(), 4u);
  const auto bytes = [&](std::size_t source) {
    return Bytes(arrived.codes[0][source].begin(), arrived.codes[0][source].end());
  };
  EXPECT_EQ(bytes(0), (Bytes{1, 2}));
  EXPECT_EQ(bytes(1), (Bytes{3}));
  EXPECT_EQ(bytes(2), (Bytes{7, 7, 7}));
  EXPECT_EQ(bytes(3), (Bytes{8}));
  EXPECT_TRUE(arrived.vectors[0].empty());
}

TEST_F(MessageExchangeTest, RefusesWhatIsNotOfTheRound) {
  begin();
  send_from_there(2, 0, vector_of(3), kRound + 1);
  EXPECT_EQ(
      refusal(),
      "[transport] process 1 sent a message of peer 2 to peer 0 of round 18, which is none of "
      "round 17, or came before");
}

TEST_F(MessageExchangeTest, RefusesASenderThatLivesElsewhere) {
  begin();
  send_from_there(1, 0, vector_of(3));
  EXPECT_NE(refusal(), "");
}

TEST_F(MessageExchangeTest, RefusesAReceiverThatLivesElsewhere) {
  begin();
  send_from_there(3, 2, vector_of(3));
  EXPECT_NE(refusal(), "");
}

TEST_F(MessageExchangeTest, RefusesASecondVectorWhereTheMethodSendsOne) {
  begin();
  send_from_there(3, 0, vector_of(3), kRound, compress::MessageKind::kAuxiliary);
  EXPECT_NE(refusal(), "");
}

TEST_F(MessageExchangeTest, RefusesAMessageThatCameBefore) {
  begin();
  send_from_there(2, 0, vector_of(3));
  send_from_there(2, 0, {});
  EXPECT_NE(refusal(), "");
}

TEST_F(MessageExchangeTest, RefusesAHeadThatIsCutOff) {
  begin();
  there_->send(0, {Lane::kGossip, 0}, Bytes(10), {});
  EXPECT_NE(refusal(), "");
}

/// Compressed: the transport does not know the length of a body in advance.
TEST_F(MessageExchangeTest, RefusesBodiesOfAnotherLength) {
  for (const std::size_t dim : {std::size_t{0}, kDim - 1, kDim + 1}) {
    transport::Hub hub(2);
    const auto here = hub.join(0);
    there_ = hub.join(1);
    ProcessGroup group(*here);
    MessageExchange exchange({.group = group,
                              .placement = placement_,
                              .compressor = *compressor_,
                              .layout = layout_,
                              .kernels = *kernels_});
    algorithm::Outbox outbox;
    outbox.payloads.emplace_back().rows.assign(2, {x_.row(0).data()});
    outbox.payloads.front().codes.assign(2, vector_of(1));
    exchange.send(weights_, kRound, outbox, {});
    send_from_there(2, 0, vector_of(3, dim));
    const auto mix = [](const algorithm::Exchange&) { FAIL() << "mixes what it refuses"; };
    EXPECT_THROW(exchange.receive(weights_, kRound, outbox, {}, mix), CorruptData) << dim;
  }
}

TEST_F(MessageExchangeTest, SaysWhichProcessIsGone) {
  begin();
  send_from_there(3, 0, vector_of(3));
  hub_.kill(1);
  try {
    receive();
    FAIL() << "nothing was thrown";
  } catch (const RunFailed& error) {
    EXPECT_STREQ(error.what(), "[transport] process 1 is gone, and the run needs everybody");
  }
}

}  // namespace
}  // namespace hearsay::gossip
