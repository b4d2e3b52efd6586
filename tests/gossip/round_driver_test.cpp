#include "hearsay/gossip/round_driver.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include "hearsay/algorithm/base.h"
#include "hearsay/core/error.h"
#include "support/inproc.h"
#include "support/message_of.h"

namespace hearsay::gossip {
namespace {

constexpr std::array kStart = {3.0f, 1.0f, 4.0f, 1.0f, 5.0f};

void start_of(std::uint32_t peer, std::span<float> x) { x[0] = kStart[peer]; }

/// Five peers with one number each.
DriverParts five(std::string_view graph, algorithm::Method method) {
  return {.layout = Layout(1),
          .schedule = graph::make_schedule(graph, {.peers = 5}),
          .method = std::move(method),
          .initial_model = start_of};
}

/// The same drivers in several processes, which are threads; `body` runs in each.
void in_processes(std::size_t count, const std::function<void(std::shared_ptr<Machine>)>& body) {
  transport::Hub hub(count, {.shuffle = 7});
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (std::size_t p = 0; p < count; ++p) transports.push_back(hub.join(p));
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < count; ++p) {
    threads.emplace_back([&, p] {
      try {
        ProcessGroup group(*transports[p]);
        body(std::make_shared<Machine>("cpu", 1, group));
      } catch (const std::exception& error) {
        ADD_FAILURE() << "process " << p << ": " << error.what();
      }
    });
  }
}

TEST(RoundDriver, RoundIsOneStepThenOneProductWithW) {
  RoundDriver peers(five("ring:directed", algorithm::make_method("dsgd")));
  peers.run_round({.lr = 0.5f}, [&] {  // the gradient is the model itself, so the step halves it
    for (std::size_t i = 0; i < 5; ++i) peers.gradient().row(i)[0] = peers.models().row(i)[0];
    std::ranges::fill(peers.losses(), 1.0);
  });
  EXPECT_EQ(peers.round(), 1u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_FLOAT_EQ(peers.models().row(i)[0], 0.25f * kStart[i] + 0.25f * kStart[(i + 4) % 5]);
  }
}

TEST(RoundDriver, WithoutGradientsOnlyAverages) {
  RoundDriver peers(five("complete", algorithm::make_method("dsgd")));
  EXPECT_DOUBLE_EQ(peers.consensus_distance(), 1.6);
  peers.run_round({.lr = 0.5f});
  EXPECT_LT(peers.consensus_distance(), 1e-6);
  EXPECT_NEAR(peers.models().row(0)[0], 2.8, 1e-6);
}

TEST(RoundDriver, CountsHeaderAndCodeOncePerDirectedEdge) {
  RoundDriver peers(five("ring", algorithm::make_method("dsgd")));
  peers.run_round();
  EXPECT_EQ(peers.ledger().traffic().bytes, 10u * (24 + 4));
}

TEST(RoundDriver, CountsAGlobalAverageAsARingAllReduce) {
  RoundDriver peers(five("ring", algorithm::make_method("psgd")));
  peers.run_round();
  EXPECT_EQ(peers.ledger().traffic().global_bytes, 2u * 4 * 4);
  EXPECT_EQ(peers.ledger().traffic().bytes, 0u);
  EXPECT_FLOAT_EQ(peers.models().row(3)[0], 2.8f);
}

TEST(RoundDriver, RefusesWhatDoesNotFitBeforeTheFirstRound) {
  EXPECT_THROW(RoundDriver(five("ring:directed", algorithm::make_method("choco"))),
               InvalidArgument);
  algorithm::Method unchecked = algorithm::make_method("choco");
  unchecked.needs.reset();
  EXPECT_NO_THROW(RoundDriver(five("ring:directed", unchecked)));
}

TEST(RoundDriver, RefusesPartsThatAreMissing) {
  DriverParts parts = five("ring", algorithm::make_method("dsgd"));
  parts.rounds_per_epoch = 0;
  EXPECT_EQ(support::message_of([&] { RoundDriver(std::move(parts)); }),
            "[rounds] rounds per epoch must be at least 1, got 0; a batch may be larger than the "
            "samples of a peer");
  EXPECT_EQ(support::message_of([] { RoundDriver(five("ring", {.name = "none", .make = {}})); }),
            "[rounds] the method cannot be made: Method::make is empty");
  EXPECT_EQ(
      support::message_of([] { RoundDriver({.layout = Layout(1), .schedule = {}, .method = {}}); }),
      "[rounds] need a schedule; there is none");
}

/// A method that forgets to send.
class Mute : public algorithm::Base {
 public:
  using Base::Base;
  void emit(algorithm::Outbox& /*outbox*/) override {}
};

TEST(RoundDriver, RefusesAnOutboxThatDoesNotFitTheBank) {
  RoundDriver peers(five("ring", {.name = "mute", .make = [](const algorithm::Bank& bank) {
                                    return std::make_unique<Mute>(bank);
                                  }}));
  EXPECT_EQ(support::message_of([&] { peers.run_round(); }),
            "[mute] must send one or two vectors for each of its 5 peers in a round that gossips, "
            "sent 0; or plan a silent round");
}

/// Sender and receiver of a lost message agree, also where they live in different processes.
TEST(RoundDriver, LosesTheSameMessagesInSeveralProcesses) {
  const auto lossy = [] {
    DriverParts parts = five("complete", algorithm::make_method("sgp"));
    parts.arrives = [](const graph::Edge& edge, std::uint32_t round) {
      return (edge.sender + 2 * edge.receiver + round) % 3 != 0;
    };
    return parts;
  };
  RoundDriver alone(lossy());
  for (int t = 0; t < 5; ++t) alone.run_round();
  in_processes(3, [&](std::shared_ptr<Machine> machine) {
    RoundDriver peers(lossy(), std::move(machine));
    for (int t = 0; t < 5; ++t) peers.run_round();
    for (std::size_t i = 0; i < peers.rows(); ++i) {
      EXPECT_EQ(peers.models().row(i)[0], alone.models().row(peers.first() + i)[0]);
    }
  });
}

TEST(RoundDriver, OneFailingAmongSeveralDoesNotAffectTheOthers) {
  const auto machine = std::make_shared<Machine>("cpu", 1);
  RoundDriver good(five("ring", algorithm::make_method("dsgd")), machine);
  RoundDriver bad(five("ring", algorithm::make_method("dsgd")), machine);
  RoundDriver alone(five("ring", algorithm::make_method("dsgd")));
  const auto write = [](const RoundDriver& peers, float value) {
    for (std::size_t i = 0; i < 5; ++i) peers.gradient().row(i)[0] = value;
    std::ranges::fill(peers.losses(), 1.0);
  };
  for (int t = 0; t < 3; ++t) {
    std::array turns = {Turn{&bad, {.lr = 0.1f}}, Turn{&good, {.lr = 0.1f}}};
    run_round(turns, [&](std::span<const Turn> begun) {
      if (!begun[0].error) write(bad, t == 1 ? std::nanf("") : 1.0f);
      write(good, 1.0f);
    });
    EXPECT_EQ(static_cast<bool>(turns[0].error), t >= 1);
    EXPECT_FALSE(turns[1].error);
    alone.run_round({.lr = 0.1f}, [&] { write(alone, 1.0f); });
  }
  EXPECT_EQ(good.round(), 3u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(good.models().row(i)[0], alone.models().row(i)[0]);
}

/// A method of the kind of Moniqua (Lu, De Sa 2020): a peer sends its number modulo theta, in one
/// byte, and a receiver picks the candidate nearest to its own number, which is right while models
/// differ by less than theta / 2. Receivers of one code decode it differently.
class ModuloGossip : public algorithm::Base {
 public:
  static constexpr float kTheta = 16;
  explicit ModuloGossip(const algorithm::Bank& bank)
      : Base(bank), read_(bank.kernels.allocate(bank.rows, 1)) {}

  void emit(algorithm::Outbox& outbox) override {
    std::vector<Bytes> codes;
    for (std::size_t i = 0; i < x_.block().rows; ++i) codes.push_back({code_of(x_.row(i)[0])});
    outbox.send_codes(kernels_, std::move(codes), 1);
  }

  void mix(const algorithm::Exchange& exchange) override {
    for (std::size_t i = 0; i < x_.block().rows; ++i) {
      const float own = x_.row(i)[0], seen = nearest(code_of(own), own);
      float moved = 0;
      for (std::uint32_t e = exchange.begin[i]; e < exchange.begin[i + 1]; ++e) {
        const std::uint8_t code = exchange.codes[0][exchange.source[e]][0];
        moved += exchange.weight[e] * (nearest(code, own) - seen);
      }
      read_.row(i)[0] = own + moved;
    }
    kernels_.copy(read_, x_);
  }

 private:
  static std::uint8_t code_of(float x) {
    const float share = x / kTheta - std::floor(x / kTheta);
    return static_cast<std::uint8_t>(std::lround(share * 256) % 256);
  }
  static float nearest(std::uint8_t code, float own) {
    const float value = kTheta * static_cast<float>(code) / 256;
    return value + kTheta * std::round((own - value) / kTheta);
  }

  backend::Array read_;
};

TEST(RoundDriver, HandsCodesUndecodedToAMethodThatDecodesWithItsOwnModel) {
  const algorithm::Method method{.name = "modulo", .make = [](const algorithm::Bank& bank) {
                                   return std::make_unique<ModuloGossip>(bank);
                                 }};
  RoundDriver one(five("ring", method));
  for (int t = 0; t < 40; ++t) one.run_round();
  EXPECT_LT(one.consensus_distance(), 2 * ModuloGossip::kTheta / 256);
  EXPECT_NEAR(one.average_model()[0], 2.8, 2 * ModuloGossip::kTheta / 256);
  EXPECT_EQ(one.ledger().traffic().bytes, 40u * 10 * (24 + 1));
  in_processes(3, [&](std::shared_ptr<Machine> machine) {
    RoundDriver some(five("ring", method), std::move(machine));
    for (int t = 0; t < 40; ++t) some.run_round();
    for (std::size_t i = 0; i < some.rows(); ++i) {
      EXPECT_EQ(some.models().row(i)[0], one.models().row(some.first() + i)[0]);
    }
  });
}

/// Every other round gathers from all peers, whatever the graph: as SparseLoCo and DeMo would.
class GatherEverySecond : public algorithm::Base {
 public:
  using Base::Base;
  algorithm::Plan plan(const algorithm::Round& round) override {
    Base::plan(round);
    using Talk = algorithm::Plan::Talk;
    return {.talk = round.index % 2 == 1 ? Talk::kGather : Talk::kSilent};
  }
};

TEST(RoundDriver, GathersFromAllPeersAndCountsIt) {
  const algorithm::Method method{.name = "gather", .make = [](const algorithm::Bank& bank) {
                                   return std::make_unique<GatherEverySecond>(bank);
                                 }};
  RoundDriver one(five("ring", method));
  one.run_round();
  EXPECT_EQ(one.ledger().traffic().bytes, 0u);
  EXPECT_DOUBLE_EQ(one.consensus_distance(), 1.6);
  one.run_round();
  EXPECT_LT(one.consensus_distance(), 1e-6);
  EXPECT_EQ(one.ledger().traffic().bytes, 5u * 4 * (24 + 4));
  in_processes(2, [&](std::shared_ptr<Machine> machine) {
    RoundDriver some(five("ring", method), std::move(machine));
    for (int t = 0; t < 2; ++t) some.run_round();
    EXPECT_EQ(some.ledger().traffic().bytes, some.rows() * 4 * (24 + 4));
    for (std::size_t i = 0; i < some.rows(); ++i) {
      EXPECT_EQ(some.models().row(i)[0], one.models().row(some.first() + i)[0]);
    }
  });
}

// ---- An asynchronous caller ----

/// A message under way: mass that has left its sender.
struct Parcel {
  float amount;  ///< a
  std::vector<float> q;
  double push_sum;
};

/// Delivery of one peer that never waits: what it sends leaves it at once, and it mixes whatever
/// has come by now, message by message.
class Mailbox final : public Delivery {
 public:
  bool in_lock_step() const override { return false; }
  using Boxes = std::map<std::uint32_t, std::vector<Parcel>>;  ///< by receiver
  Mailbox(Boxes& boxes, std::uint32_t self) : boxes_(boxes), self_(self) {}

  std::vector<std::uint32_t> senders(const graph::Weights&) const override { return {}; }

  void send(const graph::Weights& weights, std::uint32_t, algorithm::Outbox& outbox,
            std::span<const double> push_sum) override {
    const float* row = outbox.payloads[0].rows[0].dense;
    debit_ = 0;
    for (const graph::Edge& edge : weights.out_of(self_)) {
      const auto amount = static_cast<float>(outbox.rate * edge.weight);
      debit_ += static_cast<double>(amount);
      boxes_[edge.receiver].push_back({amount, {row[0]}, push_sum[0]});
    }
  }

  void receive(const graph::Weights&, std::uint32_t, const algorithm::Outbox& outbox,
               std::span<const double> push_sum, const Mix& mix) override {
    algorithm::Exchange debited;
    debited.begin = {0, 0};
    debited.debit = {debit_};
    debited.vectors = {{outbox.payloads[0].rows[0]}};
    debited.push_sum = {push_sum[0]};
    mix(debited);
    std::vector<Parcel> come;
    come.swap(boxes_[self_]);
    for (const Parcel& parcel : come) {
      algorithm::Exchange one;
      one.begin = {0, 1};
      one.source = {1};
      one.weight = {parcel.amount};
      one.debit = {0};
      one.vectors = {{{nullptr, {}, {}}, {parcel.q.data()}}};
      one.push_sum = {0, parcel.push_sum};
      mix(one);
    }
  }

 private:
  Boxes& boxes_;
  std::uint32_t self_;
  double debit_ = 0;
};

/// Peers that run at their own speeds and never wait for each other: each is a bank of its own.
TEST(RoundDriver, ServesPeersThatAreAsynchronous) {
  transport::Hub hub(5);
  Mailbox::Boxes boxes;
  std::vector<std::unique_ptr<transport::Transport>> transports;
  std::vector<std::unique_ptr<ProcessGroup>> groups;
  std::vector<std::unique_ptr<RoundDriver>> peers;
  for (std::uint32_t i = 0; i < 5; ++i) {
    transports.push_back(hub.join(i));
    groups.push_back(std::make_unique<ProcessGroup>(*transports[i]));
    DriverParts parts = five("exponential", algorithm::make_method("sgp"));
    parts.delivery = std::make_unique<Mailbox>(boxes, i);
    peers.push_back(std::make_unique<RoundDriver>(std::move(parts),
                                                  std::make_shared<Machine>("cpu", 1, *groups[i])));
  }
  Random random(3, Purpose::kTest);
  for (int t = 0; t < 2000; ++t) {
    const double draw = random.uniform();
    const auto i = static_cast<std::size_t>(5 * draw * draw);  // peer 0 is the fastest
    peers[i]->run_round();
    double mass = 0, weight = 0;
    for (const auto& peer : peers) {
      mass += static_cast<double>(peer->algorithm().numerator().row(0)[0]);
      weight += peer->algorithm().push_sum()[0];
    }
    for (const auto& [receiver, parcels] : boxes) {
      for (const Parcel& parcel : parcels) {
        mass += static_cast<double>(parcel.amount) * static_cast<double>(parcel.q[0]);
        weight += static_cast<double>(parcel.amount) * parcel.push_sum;
      }
    }
    ASSERT_NEAR(mass, 14, 1e-3) << "after step " << t;
    ASSERT_NEAR(weight, 5, 1e-6) << "after step " << t;
  }
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(peers[i]->models().row(0)[0], 2.8, 1e-3) << i;
    EXPECT_NE(peers[i]->round(), peers[(i + 1) % 5]->round()) << "they ran in lock step";
  }
}

}  // namespace
}  // namespace hearsay::gossip
