#include "hearsay/engine/plan.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "hearsay/core/thread_pool.h"
#include "hearsay/data/targets.h"
#include "hearsay/engine/batches.h"
#include "hearsay/engine/cpu/loss.h"
#include "hearsay/engine/cpu/program.h"

namespace hearsay::engine {

namespace cpu {

namespace {

using backend::Block;
using backend::ConstBlock;

/// What one peer at a time is computed with.
struct Worker {
  Worker(backend::Precision precision, const model::Network& network, std::size_t batch,
         const Loss& loss, const Lanes& threads)
      : lanes(threads),
        program(make_program(precision, network, batch, loss, threads)),
        samples(batch),
        labels(loss.of_numbers() ? 0 : batch),
        numbers(loss.of_numbers() ? batch * network.outputs() : 0),
        outputs(batch * network.outputs()),
        features(network.shape(network.input()).size()) {}

  std::span<float> image(std::size_t k) {
    return program->images().subspan(k * features, features);
  }

  /// Reads the targets of sample i as those of place k of the batch.
  void read_targets(const data::Dataset& dataset, const data::Samples& from, std::size_t i,
                    std::size_t k) {
    if (labels.empty()) {
      const std::size_t each = from.targets_each;
      data::read_targets(dataset, from, i, std::span(numbers).subspan(k * each, each));
    } else {
      labels[k] = from.labels()[i];
    }
  }
  /// Of the samples k .. k + count - 1 of the batch.
  Targets targets(std::size_t k, std::size_t count) const {
    if (!labels.empty()) return {.labels = std::span(labels).subspan(k, count)};
    const std::size_t each = numbers.size() / samples.size();
    return {.numbers = std::span(numbers).subspan(k * each, count * each)};
  }

  /// body(k) for the places of the batch.
  template <class Body>
  void for_each_place(const Body& body) const {
    lanes.for_samples(samples.size(), features, [&](std::size_t first, std::size_t count) {
      for (std::size_t k = first; k < first + count; ++k) body(k);
    });
  }

  Lanes lanes;
  std::unique_ptr<Program> program;
  std::vector<std::uint32_t> samples;  ///< of a batch
  std::vector<std::uint16_t> labels;   ///< or
  std::vector<float> numbers;
  std::vector<float> outputs;
  std::size_t features;
};

/// Idle workers. There are never more than concurrent calls.
class Workers {
 public:
  Workers(backend::Precision precision, const model::Network& network, std::size_t batch,
          const Loss& of, const Lanes& lanes)
      : loss(of), precision_(precision), network_(network), batch_(batch), lanes_(lanes) {
    give(make());  // an uncompilable network fails here, before the first call
  }

  /// Calls body with a worker that no other thread uses meanwhile.
  template <class Body>
  auto with_one(const Body& body) {
    struct Loan {
      explicit Loan(Workers& owner) : from(owner), worker(owner.take()) {}
      ~Loan() { from.give(std::move(worker)); }
      Loan(const Loan&) = delete;
      Loan& operator=(const Loan&) = delete;
      Workers& from;
      std::unique_ptr<Worker> worker;
    } loan(*this);
    return body(*loan.worker);
  }

  const Loss loss;

 private:
  std::unique_ptr<Worker> make() {
    {
      const std::lock_guard lock(mutex_);
      idle_.reserve(++made_);  // so that returning a worker cannot fail
    }
    return std::make_unique<Worker>(precision_, network_, batch_, loss, lanes_);
  }
  std::unique_ptr<Worker> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto worker = std::move(idle_.back());
        idle_.pop_back();
        return worker;
      }
    }
    return make();
  }
  void give(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

  backend::Precision precision_;
  const model::Network& network_;
  std::size_t batch_;
  Lanes lanes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
  std::size_t made_ = 0;
};

class CpuBank final : public DeviceBank {
 public:
  CpuBank(const model::Network& network, const data::Share& share,
          const data::Augmentation& augmentation, const Loss& loss, const ObjectiveContext& context)
      : pool(context.pool),
        dataset(*share.dataset),
        workers(context.kernels.precision(), network, context.batch, loss,
                {pool, (pool.threads() + context.rows - 1) / context.rows}),
        parts_(share.parts),
        augmentation_(augmentation),
        kernels_(backend::make_cpu_kernels(context.pool)),
        batches_(context.seed, context.first, context.rows, share.parts.front().size(),
                 context.batch) {}

  backend::Kernels& kernels() override { return *kernels_; }
  std::unique_ptr<Plan> compile(std::size_t peers, Plan::Use use) override;

  /// Reads the minibatch of a row into the worker's targets and images.
  void read(const Minibatches& minibatches, std::size_t row, Worker& worker) {
    const StreamKey& key = minibatches.keys[row];
    std::span<const std::uint32_t> samples = minibatches.samples;
    if (samples.empty()) {
      batches_.read(row, key.round, worker.samples);
      for (std::uint32_t& place : worker.samples) place = parts_[row][place];
      samples = worker.samples;
    }
    const Random augment = key.stream(Purpose::kAugment);
    worker.for_each_place([&](std::size_t k) {
      worker.read_targets(dataset, dataset.train, samples[k], k);
      augmentation_.read(dataset, dataset.train, samples[k], augment, k, worker.image(k));
    });
  }

  ThreadPool& pool;
  const data::Dataset& dataset;
  Workers workers;

 private:
  const data::Partition& parts_;
  const data::Augmentation& augmentation_;
  std::unique_ptr<backend::Kernels> kernels_;
  Batches batches_;
};

/// Row i, or an empty span for an empty block.
template <class Float>
std::span<Float> row_of(const backend::BasicBlock<Float>& block, std::size_t i) {
  return block.data == nullptr ? std::span<Float>() : block.row(i);
}

/// Peers run in parallel on the threads of the pool, each computed by a worker of the bank; if
/// there are more threads than peers of the bank, each on several. The workers do not belong to a
/// plan, so plans for any number of peers and any use share their memory.
class CpuPlan final : public Plan {
 public:
  explicit CpuPlan(CpuBank& bank) : pool_(bank.pool), workers_(bank.workers) {}

  void gradients(std::span<const BankCall> banks) override {
    std::vector<std::pair<const BankCall*, std::size_t>> rows;
    for (const BankCall& bank : banks) {
      for (std::size_t i = 0; i < bank.parameters.rows; ++i) rows.emplace_back(&bank, i);
    }
    pool_.run(rows.size(), [&](std::size_t k) {
      const BankCall& bank = *rows[k].first;
      const std::size_t i = rows[k].second;
      workers_.with_one([&](Worker& worker) {
        static_cast<CpuBank&>(bank.minibatches.bank).read(bank.minibatches, i, worker);
        bank.losses[i] = worker.program->gradient(bank.parameters.row(i), row_of(bank.buffers, i),
                                                  worker.targets(0, worker.samples.size()),
                                                  bank.minibatches.keys[i], bank.gradients.row(i));
      });
    });
  }

  void observe(const Minibatches& minibatches, ConstBlock parameters, Block buffers,
               double momentum) override {
    pool_.run(parameters.rows, [&](std::size_t i) {
      workers_.with_one([&](Worker& worker) {
        static_cast<CpuBank&>(minibatches.bank).read(minibatches, i, worker);
        worker.program->observe(parameters.row(i), row_of(buffers, i), momentum);
      });
    });
  }

  Evaluation evaluate(DeviceBank& bank, ConstBlock parameters, ConstBlock buffers) override {
    const data::Dataset& dataset = static_cast<CpuBank&>(bank).dataset;
    Evaluation found;
    found.test.resize(parameters.rows);
    if (dataset.validation.size() > 0) found.validation.resize(parameters.rows);
    pool_.run(parameters.rows, [&](std::size_t i) {
      workers_.with_one([&](Worker& worker) {
        const auto totals_on = [&](const data::Samples& samples) {
          return totals(dataset, samples, worker, parameters.row(i), row_of(buffers, i));
        };
        found.test[i] = totals_on(dataset.test);
        if (!found.validation.empty()) found.validation[i] = totals_on(dataset.validation);
      });
    });
    return found;
  }

 private:
  Totals totals(const data::Dataset& dataset, const data::Samples& samples, Worker& worker,
                std::span<const float> model, std::span<const float> buffers) const {
    const std::size_t batch = worker.program->batch(), width = worker.outputs.size() / batch;
    Totals sums{.tallies = std::vector<double>(workers_.loss.tallies(width), 0.0)};
    for (std::size_t begin = 0; begin < samples.size(); begin += batch) {
      const std::size_t count = std::min(batch, samples.size() - begin);
      worker.for_each_place([&](std::size_t k) {  // an incomplete batch repeats its last sample
        const std::size_t i = begin + std::min(k, count - 1);
        data::read_sample(dataset, samples, i, worker.image(k));
        worker.read_targets(dataset, samples, i, k);
      });
      worker.program->outputs(model, buffers, worker.outputs);
      for (std::size_t k = 0; k < count; ++k) {
        add_sample(workers_.loss, std::span(worker.outputs).subspan(k * width, width),
                   worker.targets(k, 1), sums);
      }
    }
    return sums;
  }

  ThreadPool& pool_;
  Workers& workers_;
};

std::unique_ptr<Plan> CpuBank::compile(std::size_t /*peers*/, Plan::Use /*use*/) {
  return std::make_unique<CpuPlan>(*this);
}

}  // namespace

}  // namespace cpu

std::unique_ptr<DeviceBank> make_cpu_bank(const model::Network& network, const data::Share& share,
                                          const data::Augmentation& augmentation, const Loss& loss,
                                          const ObjectiveContext& context) {
  return std::make_unique<cpu::CpuBank>(network, share, augmentation, loss, context);
}

}  // namespace hearsay::engine
