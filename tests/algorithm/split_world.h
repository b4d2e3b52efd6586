#pragma once

#include <algorithm>
#include <barrier>
#include <deque>
#include <numeric>
#include <thread>

#include "algorithm/world.h"

namespace hearsay::algorithm {

/// Averages over the peers of several banks, each of which calls from its own thread.
class Meeting {
 public:
  Meeting(std::size_t banks, std::size_t peers)
      : peers_(peers), rows_(banks), values_(banks), all_(static_cast<std::ptrdiff_t>(banks)) {}

  class Seat : public Collective {
   public:
    Seat(Meeting& meeting, std::size_t bank) : meeting_(meeting), bank_(bank) {}

    void mean(backend::Block rows) override {
      meeting_.rows_[bank_] = rows;
      meeting_.all_.arrive_and_wait();
      std::vector<double> sum(rows.dim, 0.0);
      for (const backend::Block& others : meeting_.rows_) {
        for (std::size_t k = 0; k < others.size(); ++k) {
          sum[k % rows.dim] += static_cast<double>(others.data[k]);
        }
      }
      meeting_.all_.arrive_and_wait();  // all have read what is overwritten next
      for (std::size_t k = 0; k < rows.size(); ++k) {
        rows.data[k] = static_cast<float>(sum[k % rows.dim] / static_cast<double>(meeting_.peers_));
      }
    }

    double mean(std::span<const double> values) override {
      meeting_.values_[bank_] = values;
      meeting_.all_.arrive_and_wait();
      double sum = 0;
      for (const auto& others : meeting_.values_) {
        sum = std::accumulate(others.begin(), others.end(), sum);
      }
      meeting_.all_.arrive_and_wait();
      return sum / static_cast<double>(meeting_.peers_);
    }

   private:
    Meeting& meeting_;
    std::size_t bank_;
  };

 private:
  std::size_t peers_;
  std::vector<backend::Block> rows_;
  std::vector<std::span<const double>> values_;
  std::barrier<> all_;
};

/// A World whose peers are spread over several banks without shared memory: messages between banks
/// are copied explicitly, as if sent over a network. Starts like World::start_random.
class SplitWorld {
 public:
  SplitWorld(const World::Setup& setup, std::span<const std::size_t> sizes)
      : layout_(setup.dim),
        schedule_(graph::make_schedule(setup.graph, {setup.peers, setup.seed})),
        facts_(graph::facts_of(*schedule_)),
        compressor_(compress::make_compressor(setup.compressor)) {
    std::size_t first = 0;
    for (std::size_t rows : sizes) {
      banks_.emplace_back(*this, setup, first, rows);
      first += rows;
    }
  }

  void start_random(bool same = false) {
    same_ = same;
    for (Part& bank : banks_) {
      for (std::size_t i = 0; i < bank.rows; ++i) {
        draw_start(static_cast<std::uint32_t>(bank.first + i), bank.algorithm->initial().row(i));
      }
      bank.algorithm->start();
    }
  }

  void run_round(float lr, const World::Direction& direction, double loss) {
    const std::uint64_t phase = schedule_->phase(round_, round_);
    const graph::Weights& weights = schedule_->at(round_, round_);
    for (Part& bank : banks_) {
      if (round_ == 0 || phase != phase_) bank.algorithm->meet(senders_to(bank, weights));
      bank.begin_round({.index = round_, .phase = phase, .lr = lr}, direction);
    }
    phase_ = phase;
    ++round_;
    const Plan::Talk talk = banks_.front().plan.talk;
    if (talk == Plan::Talk::kGossip) gossip(weights);
    if (talk == Plan::Talk::kGlobal) average(loss);
  }

  std::vector<float> models() const {
    std::vector<float> all;
    for (const Part& bank : banks_) {
      const backend::ConstBlock block = bank.algorithm->point();
      all.insert(all.end(), block.data, block.data + block.size());
    }
    return all;
  }

  std::vector<double> push_sum() const {
    std::vector<double> all;
    for (const Part& bank : banks_) {
      const std::span<const double> u = bank.algorithm->push_sum();
      all.insert(all.end(), u.begin(), u.end());
    }
    return all;
  }

  /// A remote replica, with the row of its owner.
  struct Copy {
    std::vector<float> replica, owner;
  };
  std::vector<Copy> copies() {
    std::vector<Copy> all;
    for (Part& bank : banks_) {
      for (const backend::RowsAndReplicas& item : bank.replicas()) {
        for (std::size_t k = 0; k < item.replicas->peers.size(); ++k) {
          const std::span<const float> replica = item.replicas->rows.row(k);
          const std::span<const float> owner = row_of_owner(item.replicas->peers[k]);
          all.push_back({{replica.begin(), replica.end()}, {owner.begin(), owner.end()}});
        }
      }
    }
    return all;
  }

 private:
  struct Part {
    Part(SplitWorld& world, const World::Setup& setup, std::size_t first_peer, std::size_t count)
        : first(first_peer),
          rows(count),
          pool(setup.threads),
          kernels(backend::make_cpu_kernels(pool)),
          compressor(*world.compressor_, world.layout_, *kernels, pool, setup.seed,
                     static_cast<std::uint32_t>(first)),
          algorithm(make_algorithm(
              setup.algorithm,
              {.kernels = *kernels,
               .layout = world.layout_,
               .compressor = compressor,
               .topk_keep = compress::topk_keep(setup.compressor),
               .graph = world.facts_,
               .peers = setup.peers,
               .first = first,
               .rows = rows,
               .start_of = [&world](std::uint32_t peer,
                                    std::span<float> x) { world.draw_start(peer, x); }})),
          direction(kernels->allocate(rows, setup.dim)) {}

    /// The round up to and including the message.
    void begin_round(const Round& round, const World::Direction& pull) {
      plan = algorithm->plan(round);
      outbox = {};
      const bool gossips = plan.talk == Plan::Talk::kGossip;
      if (gossips && plan.send_first) algorithm->emit(outbox);
      if (plan.gradient) {
        for (std::size_t i = 0; i < rows; ++i) {
          pull(first + i, algorithm->point().row(i), direction.row(i));
        }
        algorithm->step(direction);
      }
      if (gossips && !plan.send_first) algorithm->emit(outbox);
    }

    std::vector<backend::RowsAndReplicas> replicas() {
      backend::StateList list;
      algorithm->state(list);
      std::vector<backend::RowsAndReplicas> found;
      for (const auto& item : list.items()) {
        if (const auto* place = std::get_if<backend::RowsAndReplicas>(&item.place)) {
          found.push_back(*place);
        }
      }
      return found;
    }

    bool owns(std::size_t peer) const { return peer - first < rows; }

    std::size_t first, rows;
    ThreadPool pool;
    std::unique_ptr<backend::Kernels> kernels;
    BankCompressor compressor;
    std::unique_ptr<Algorithm> algorithm;
    backend::Array direction;
    Plan plan;
    Outbox outbox;
  };

  /// A vector received from another bank.
  struct Received {
    std::vector<float> dense, value;
    std::vector<std::uint32_t> index;

    backend::VectorView view() const {
      if (!dense.empty()) return {dense.data()};
      return {nullptr, index, value};
    }
  };

  void draw_start(std::uint32_t peer, std::span<float> x) const {
    Random random(99, Purpose::kTest, same_ ? 0 : peer);
    for (float& value : x) value = static_cast<float>(random.normal());
  }

  Part& owner(std::size_t peer) {
    return *std::ranges::find_if(banks_, [&](const Part& bank) { return bank.owns(peer); });
  }
  std::span<const float> row_of_owner(std::size_t peer) {
    Part& bank = owner(peer);
    return bank.replicas().front().rows->row(peer - bank.first);
  }

  static std::vector<std::uint32_t> senders_to(const Part& bank, const graph::Weights& weights) {
    std::vector<std::uint32_t> senders;
    for (std::size_t i = 0; i < bank.rows; ++i) {
      for (const graph::Edge& edge : weights.into(bank.first + i)) {
        if (!bank.owns(edge.sender)) senders.push_back(edge.sender);
      }
    }
    std::ranges::sort(senders);
    senders.erase(std::unique(senders.begin(), senders.end()), senders.end());
    return senders;
  }

  Received copy(const backend::VectorView& q) const {
    Received copied;
    if (q.dense != nullptr) {
      copied.dense.assign(q.dense, q.dense + layout_.dim());
    } else {
      copied.index.assign(q.index.begin(), q.index.end());
      copied.value.assign(q.value.begin(), q.value.end());
    }
    return copied;
  }

  void gossip(const graph::Weights& weights) {
    std::deque<Received> wire;
    std::vector<Remote> remotes;
    for (const Part& bank : banks_) {
      Remote& remote = remotes.emplace_back();
      remote.senders = senders_to(bank, weights);
      remote.vectors.resize(bank.outbox.payloads.size());
      for (std::uint32_t sender : remote.senders) {
        Part& from = owner(sender);
        const std::size_t row = sender - from.first;
        for (std::size_t p = 0; p < remote.vectors.size(); ++p) {
          wire.push_back(copy(from.outbox.payloads[p].rows[row]));
          remote.vectors[p].push_back(wire.back().view());
        }
        const std::span<const double> u = from.algorithm->push_sum();
        if (!u.empty()) remote.push_sum.push_back(u[row]);
      }
      for (std::size_t i = 0; i < bank.rows; ++i) {
        for (const graph::Edge& edge : weights.into(bank.first + i)) {
          if (bank.owns(edge.sender)) continue;
          const double rate = owner(edge.sender).outbox.rate;
          remote.amounts.push_back(static_cast<float>(rate * edge.weight));
        }
      }
    }
    for (std::size_t b = 0; b < banks_.size(); ++b) {
      Part& bank = banks_[b];
      Exchange exchange;
      deliver(weights, bank.first, bank.outbox, bank.algorithm->push_sum(), remotes[b], nullptr,
              exchange);
      bank.algorithm->mix(exchange);
      bank.kernels->synchronize();
    }
  }

  void average(double loss) {
    Meeting meeting(banks_.size(), schedule_->peers());
    std::vector<std::jthread> threads;
    for (std::size_t b = 0; b < banks_.size(); ++b) {
      threads.emplace_back([&meeting, b, loss, &bank = banks_[b]] {
        Meeting::Seat seat(meeting, b);
        bank.algorithm->average(seat, std::vector<double>(bank.rows, loss));
      });
    }
  }

  Layout layout_;
  std::unique_ptr<graph::Schedule> schedule_;
  graph::Facts facts_;
  std::unique_ptr<compress::Compressor> compressor_;
  std::deque<Part> banks_;
  bool same_ = false;
  std::uint32_t round_ = 0;
  std::uint64_t phase_ = 0;
};

}  // namespace hearsay::algorithm
