#pragma once

#include <deque>
#include <exception>
#include <thread>

#include "algorithm/world.h"
#include "support/inproc.h"

namespace hearsay::algorithm {

/// A World whose peers are spread over several processes: threads that share no state and send
/// encoded messages through a hub, which delivers them in random order.
class SplitWorld {
 public:
  SplitWorld(const World::Setup& setup, std::size_t processes)
      : setup_(setup), hub_(processes, {.shuffle = 7}) {
    for (std::size_t p = 0; p < processes; ++p) processes_.emplace_back(hub_.join(p));
  }

  void start_random(bool same = false) {
    for_each_process([&](Process& process) {
      process.driver = std::make_unique<gossip::RoundDriver>(
          World::parts_of(setup_, World::random_start(same)),
          std::make_shared<gossip::Machine>("cpu", setup_.threads, process.group));
    });
  }

  void run_round(float lr, const World::Direction& direction, double loss) {
    for_each_process([&](Process& process) {
      process.driver->run_round({.lr = lr},
                                [&] { World::write_gradients(*process.driver, direction, loss); });
    });
  }

  std::vector<float> models() const {
    std::vector<float> all;
    for (const Process& process : processes_) {
      const backend::ConstBlock block = process.driver->models();
      all.insert(all.end(), block.data, block.data + block.size());
    }
    return all;
  }

  std::vector<double> push_sum() const {
    std::vector<double> all;
    for (const Process& process : processes_) {
      const std::span<const double> u = process.driver->algorithm().push_sum();
      all.insert(all.end(), u.begin(), u.end());
    }
    return all;
  }

  /// Traffic of all processes.
  std::uint64_t bytes_sent() const {
    std::uint64_t bytes = 0;
    for (const Process& process : processes_) bytes += process.driver->ledger().traffic().bytes;
    return bytes;
  }

  /// A remote replica, with the row of its owner.
  struct Copy {
    std::vector<float> replica, owner;
  };
  std::vector<Copy> copies() {
    std::vector<Copy> all;
    for (Process& process : processes_) {
      for (const backend::RowsAndReplicas& item : replicas_of(process)) {
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
  struct Process {
    explicit Process(std::unique_ptr<transport::Transport> joined)
        : transport(std::move(joined)), group(*transport) {}
    std::unique_ptr<transport::Transport> transport;
    gossip::ProcessGroup group;
    std::unique_ptr<gossip::RoundDriver> driver;
  };

  /// In parallel; throws what one of them threw.
  void for_each_process(const std::function<void(Process&)>& work) {
    std::vector<std::exception_ptr> errors(processes_.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t p = 0; p < processes_.size(); ++p) {
        threads.emplace_back([&, p] {
          try {
            work(processes_[p]);
          } catch (...) {
            errors[p] = std::current_exception();
          }
        });
      }
    }
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }

  static std::vector<backend::RowsAndReplicas> replicas_of(Process& process) {
    backend::StateList list;
    process.driver->algorithm().state(list);
    std::vector<backend::RowsAndReplicas> found;
    for (const auto& item : list.items()) {
      if (const auto* place = std::get_if<backend::RowsAndReplicas>(&item.place)) {
        found.push_back(*place);
      }
    }
    return found;
  }

  std::span<const float> row_of_owner(std::size_t peer) {
    Process& process = processes_[processes_.front().driver->placement().owner(peer)];
    return replicas_of(process).front().rows->row(peer - process.driver->first());
  }

  World::Setup setup_;
  transport::Hub hub_;
  std::deque<Process> processes_;
};

}  // namespace hearsay::algorithm
