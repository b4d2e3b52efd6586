#include "hearsay/engine/plan.h"

#include <algorithm>
#include <cassert>

#include "hearsay/core/error.h"
#include "hearsay/engine/cuda/batch_reader.h"
#include "hearsay/engine/cuda/cross_entropy.h"
#include "hearsay/engine/cuda/image_reader.h"
#include "hearsay/engine/cuda/number_loss.h"
#include "hearsay/engine/cuda/program.h"

namespace hearsay::engine {

namespace cuda {

namespace {

using backend::Block;
using backend::ConstBlock;
using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

/// Submits all that was recorded, as it may use memory that is freed now.
void submit_before_free(LaunchRecorder& recorder) {
  try {
    recorder.submit();
  } catch (const RunFailed&) {  // every later call on the device says so too
  }
}

/// The addresses of a block's rows.
template <class Float>
std::vector<Float*> rows_of(const backend::BasicBlock<Float>& block, std::size_t rows) {
  std::vector<Float*> addresses(rows, nullptr);
  if (block.data == nullptr) return addresses;
  for (std::size_t i = 0; i < rows; ++i) addresses[i] = block.row(i).data();
  return addresses;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

class CudaBank final : public DeviceBank {
 public:
  CudaBank(const model::Network& network, const data::Share& share,
           const data::Augmentation& augmentation, const Loss& loss,
           const ObjectiveContext& context)
      : train(*share.dataset, share.dataset->train),
        test(*share.dataset, share.dataset->test),
        validation(*share.dataset, share.dataset->validation),
        reader({share.parts.begin(), share.parts.end()}, context.batch, *share.dataset,
               augmentation.recipe()),
        network_(network),
        loss_(loss),
        batch_(context.batch),
        kernels_(context.kernels) {}

  ~CudaBank() override { submit_before_free(backend::cuda::context_of(kernels_).recorder); }
  CudaBank(const CudaBank&) = delete;
  CudaBank& operator=(const CudaBank&) = delete;

  backend::Kernels& kernels() override { return kernels_; }
  std::unique_ptr<Plan> compile(std::size_t peers, Plan::Use use) override;

  ImageReader train, test, validation;
  BatchReader reader;

 private:
  const model::Network& network_;
  Loss loss_;
  std::size_t batch_;
  backend::Kernels& kernels_;
};

class CudaPlan final : public Plan {
 public:
  CudaPlan(const model::Network& network, const Loss& loss, std::size_t peers, std::size_t batch,
           Use use, backend::Kernels& kernels)
      : kernels_(kernels),
        context_(backend::cuda::context_of(kernels)),
        loss_(loss),
        sums_(1 + loss.tallies(network.outputs())),
        program_(
            make_program(network, peers, batch,
                         use == Use::kTraining ? Program::Use::kTraining : Program::Use::kForward,
                         context_, loss)),
        slots_(use == Use::kEvaluation ? 0 : peers * batch),
        totals_(use == Use::kEvaluation ? peers * sums_ : 0) {}

  ~CudaPlan() override { submit_before_free(context_.recorder); }
  CudaPlan(const CudaPlan&) = delete;
  CudaPlan& operator=(const CudaPlan&) = delete;

  void gradients(std::span<const BankCall> banks) override {
    std::vector<const float*> parameters;
    std::vector<float*> buffers, gradients;
    std::vector<double*> losses;
    std::vector<StreamKey> keys;
    for (const BankCall& bank : banks) {
      const std::size_t rows = bank.parameters.rows;
      pick(bank.minibatches, slots_.data() + keys.size() * program_->batch());
      keys.insert(keys.end(), bank.minibatches.keys.begin(), bank.minibatches.keys.end());
      append(parameters, rows_of(bank.parameters, rows));
      append(buffers, rows_of(bank.buffers, rows));
      append(gradients, rows_of(bank.gradients, rows));
      for (double& loss : bank.losses) losses.push_back(&loss);
    }
    assert(losses.size() == program_->peers() && keys.size() == program_->peers());
    read_picked(banks.front().minibatches);
    program_->gradient(parameters, buffers, keys, gradients, losses);
  }

  void observe(const Minibatches& minibatches, ConstBlock parameters, Block buffers,
               double momentum) override {
    pick(minibatches, slots_.data());
    read_picked(minibatches);
    program_->observe(rows_of(parameters, parameters.rows), rows_of(buffers, parameters.rows),
                      momentum);
  }

  Evaluation evaluate(DeviceBank& bank, ConstBlock parameters, ConstBlock buffers) override {
    const auto& samples = static_cast<CudaBank&>(bank);
    const auto models = rows_of(parameters, parameters.rows);
    const auto own = rows_of(buffers, parameters.rows);
    const std::span<const double> test = record_totals(samples.test, models, own);
    std::span<const double> held_out;
    if (samples.validation.size() > 0) held_out = record_totals(samples.validation, models, own);
    kernels_.synchronize();
    return {.test = totals_of(test), .validation = totals_of(held_out)};
  }

 private:
  static CudaBank& bank_of(const Minibatches& minibatches) {
    return static_cast<CudaBank&>(minibatches.bank);
  }

  /// Decides what each row's batch reads.
  void pick(const Minibatches& minibatches, Slot* slots) {
    BatchReader& reader = bank_of(minibatches).reader;
    if (minibatches.samples.empty()) {
      reader.pick(context_.recorder, minibatches.keys, slots);
    } else {
      reader.pick(context_.recorder, minibatches.keys.front(), minibatches.samples, slots);
    }
  }

  /// Reads what was picked for all rows, from the training set of the first bank.
  void read_picked(const Minibatches& first) {
    bank_of(first).train.read(context_.recorder, slots_.data(), program_->images(),
                              program_->labels(), program_->numbers());
  }

  /// The results of record_totals, model after model.
  std::vector<Totals> totals_of(std::span<const double> results) const {
    std::vector<Totals> all;
    for (; !results.empty(); results = results.subspan(sums_)) {
      all.push_back({.loss = results[0], .tallies = {&results[1], results.data() + sums_}});
    }
    return all;
  }

  /// Records the evaluation of all models on the set, in batches. The result buffer, `sums_`
  /// numbers per model, is filled after `synchronize`.
  std::span<const double> record_totals(const ImageReader& set,
                                        std::span<const float* const> models,
                                        std::span<const float* const> buffers) {
    const std::span<double> results = kernels_.results<double>(sums_ * models.size());
    std::ranges::fill(results, 0.0);  // should the set be empty
    LaunchRecorder& recorder = context_.recorder;
    recorder.submit();  // every batch below is then the same list
    const std::size_t batch = program_->batch();
    std::vector<Slot> slots(models.size() * batch);
    for (std::size_t begin = 0; begin < set.size(); begin += batch) {
      const std::size_t count = std::min(batch, set.size() - begin);
      for (std::size_t k = 0; k < slots.size(); ++k) {  // a batch that is not full repeats its last
        slots[k].sample = static_cast<std::uint32_t>(begin + std::min(k % batch, count - 1));
      }
      set.read(recorder, recorder.put(std::span<const Slot>(slots)), program_->images(),
               program_->labels(), program_->numbers());
      program_->outputs(models, buffers);
      const Judged judged{.count = static_cast<std::uint32_t>(count), .first = begin == 0};
      if (loss_.of_numbers()) {
        judge_numbers(recorder, program_->outputs(), program_->numbers(), loss_,
                      recorder.put(judged), totals_.data(), recorder.put(results.data()));
      } else {
        judge(recorder, program_->outputs(), program_->labels(), recorder.put(judged),
              reinterpret_cast<ClassTotals*>(totals_.data()),
              recorder.put(reinterpret_cast<ClassTotals*>(results.data())));
      }
      recorder.submit();
    }
    return results;
  }

  backend::Kernels& kernels_;
  backend::cuda::Context& context_;
  Loss loss_;
  std::size_t sums_;  ///< of a model in an evaluation: the loss and its tallies
  std::unique_ptr<Program> program_;
  Memory<Slot> slots_;     ///< what each row's minibatch reads; none in an evaluation
  Memory<double> totals_;  ///< of an evaluation, over its batches so far: `sums_` per model
};

/// Samples per model and batch of an evaluation: as many as some memory allows, at most `most`.
std::size_t evaluation_batch(const model::Network& network, std::size_t models, std::size_t most,
                             backend::Precision precision) {
  constexpr std::size_t kBytes = std::size_t{2} << 30;
  constexpr std::size_t kEnough = 500;  // samples of one model that fill the card
  const std::size_t each = bytes_per_sample(network, Program::Use::kForward, precision);
  return std::clamp<std::size_t>(kBytes / (models * each), 1,
                                 std::clamp<std::size_t>(most, 1, kEnough));
}

std::unique_ptr<Plan> CudaBank::compile(std::size_t peers, Plan::Use use) {
  backend::cuda::Context& context = backend::cuda::context_of(kernels_);
  context.recorder.submit();  // what is recorded so far does not wait for the allocations
  const std::size_t batch = use == Plan::Use::kEvaluation
                                ? evaluation_batch(network_, peers, test.size(), context.precision)
                                : batch_;
  return std::make_unique<CudaPlan>(network_, loss_, peers, batch, use, kernels_);
}

}  // namespace

}  // namespace cuda

std::unique_ptr<DeviceBank> make_cuda_bank(const model::Network& network, const data::Share& share,
                                           const data::Augmentation& augmentation, const Loss& loss,
                                           const ObjectiveContext& context) {
  return std::make_unique<cuda::CudaBank>(network, share, augmentation, loss, context);
}

}  // namespace hearsay::engine
