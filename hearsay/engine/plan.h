#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/share.h"
#include "hearsay/engine/loss.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/engine/stream_key.h"
#include "hearsay/model/network.h"

namespace hearsay::engine {

class DeviceBank;

/// Minibatches for the rows of one bank: of its own training samples, or of given ones.
struct Minibatches {
  DeviceBank& bank;
  /// One per row: names the row's peer and round, which determine its samples (batches.h), their
  /// augmentation, and its dropout masks.
  std::span<const StreamKey> keys;
  /// If not empty: the one row reads these training samples instead of its own.
  std::span<const std::uint32_t> samples{};
};

/// The request of one bank in Plan::gradients.
struct BankCall {
  Minibatches minibatches;
  backend::ConstBlock parameters;
  backend::Block buffers;  ///< updated; empty if the network has none
  backend::Block gradients;
  std::span<double> losses;  ///< result buffer from Kernels::results
};

/// Sums over the samples of a set, for one model.
struct Totals {
  double loss = 0;                ///< sum of their losses
  std::vector<double> tallies{};  ///< as Loss::tallies says; of equal logits the first class wins
};
/// For every model, on the test samples and on those held out for validation.
struct Evaluation {
  std::vector<Totals> test;
  std::vector<Totals> validation;  ///< empty if there are none
};

/// A network compiled for a device, m peers and a batch size.
///
/// A plan holds no parameters: every call is given one row per peer, in the plain layout of
/// Network::layout(), in memory of DeviceBank::kernels(). The result of a row depends only on its
/// own arguments, bit for bit: not on other rows or earlier calls.
///
/// Calls are made one after another, and a device may run asynchronously to the host, as for
/// backend::Kernels; on the CPU they may also run concurrently.
class Plan {
 public:
  /// The use that a plan is compiled for. It supports, and has memory for, nothing else.
  enum class Use {
    kTraining,    ///< `gradients` and `observe`
    kStatistics,  ///< `observe`
    kEvaluation,  ///< `evaluate`, at a batch size of the device's choice
  };

  virtual ~Plan() = default;

  /// For every row the gradient of the mean loss of its minibatch, in training mode, and that loss;
  /// running statistics are updated. The rows of all banks are peers of one pass: their counts sum
  /// up to m, and the banks have the same network and training set.
  virtual void gradients(std::span<const BankCall> banks) = 0;

  /// Forward in training mode (without dropout), only to update the statistics:
  ///   buffers = (1 - momentum) buffers + momentum (of the row's minibatch).
  virtual void observe(const Minibatches& minibatches, backend::ConstBlock parameters,
                       backend::Block buffers, double momentum) = 0;

  /// Evaluates every row's model on all test and validation samples of the bank, in evaluation
  /// mode. Waits for the device.
  virtual Evaluation evaluate(DeviceBank& bank, backend::ConstBlock parameters,
                              backend::ConstBlock buffers) = 0;
};

/// A network, and the samples of one bank of peers, on a device.
class DeviceBank {
 public:
  virtual ~DeviceBank() = default;

  /// The kernels in whose memory the plans read and write.
  virtual backend::Kernels& kernels() = 0;

  /// A plan for `peers` rows, of this bank and of others like it. Throws InvalidArgument if the
  /// network cannot be compiled: one of its values is never read, or the device lacks memory.
  virtual std::unique_ptr<Plan> compile(std::size_t peers, Plan::Use use) = 0;
};

/// On the CPU: peers run in parallel over the context's pool, each on its share of the threads.
///
/// For both: share.parts[i] are the training samples of row i. Reads `batch`, `seed`, `first`,
/// `rows`, `pool` and `kernels` of the context. All arguments but loss and context outlive the
/// bank.
std::unique_ptr<DeviceBank> make_cpu_bank(const model::Network& network, const data::Share& share,
                                          const data::Augmentation& augmentation, const Loss& loss,
                                          const ObjectiveContext& context);

/// On the GPU of the context's kernels, whose device() is "cuda": all peers in one launch, samples
/// in its memory. Throws InvalidArgument if this build has no CUDA (no_cuda.cpp).
std::unique_ptr<DeviceBank> make_cuda_bank(const model::Network& network, const data::Share& share,
                                           const data::Augmentation& augmentation, const Loss& loss,
                                           const ObjectiveContext& context);

}  // namespace hearsay::engine
