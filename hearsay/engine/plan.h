#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/share.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/engine/stream_key.h"
#include "hearsay/model/network.h"

namespace hearsay::engine {

class DeviceBank;

/// Minibatches for the rows of one bank: of its own training samples, or of given ones.
struct Minibatches {
  DeviceBank& bank;
  /// One per row: names the row's peer and round, which decide what it reads (batches.h), how that
  /// is augmented, and what dropout drops.
  std::span<const StreamKey> keys;
  /// Not empty: the one row reads these training samples in place of its own.
  std::span<const std::uint32_t> samples{};
};

/// What one bank asks for in Plan::gradients.
struct BankCall {
  Minibatches minibatches;
  backend::ConstBlock parameters;
  backend::Block buffers;  ///< updated; empty if the network has none
  backend::Block gradients;
  std::span<double> losses;  ///< result buffer from Kernels::results
};

/// Sums over the samples of a set, for one model.
struct Totals {
  double loss = 0;   ///< of their losses
  double right = 0;  ///< number whose label has the largest logit (the first of equals)
};
/// Of every model, on the test samples and on those held out for validation.
struct Evaluation {
  std::vector<Totals> test;
  std::vector<Totals> validation;  ///< empty if there are none
};

/// A network compiled for a device, m peers and a batch size.
///
/// A plan holds no parameters: every call is handed one row per peer, in the plain layout of
/// Network::layout(), in memory of DeviceBank::kernels(). What a row gets depends on its own
/// arguments alone, bit for bit: not on other rows, nor on calls before.
///
/// Calls happen one after another, and a device may lag behind its host, as those of
/// backend::Kernels; on the CPU they may also run concurrently.
class Plan {
 public:
  /// What a plan is compiled for. It may do no more than that, and has no memory for more.
  enum class Use {
    kTraining,    ///< `gradients` and `observe`
    kStatistics,  ///< `observe`
    kEvaluation,  ///< `evaluate`, at a batch size of the device's choice
  };

  virtual ~Plan() = default;

  /// For every row the gradient of the mean loss of its minibatch, in training mode, and that loss;
  /// running statistics are updated. The rows of all banks are peers of one pass: their numbers add
  /// up to m, and the banks have the same network and training set.
  virtual void gradients(std::span<const BankCall> banks) = 0;

  /// Forward in training mode (without dropout), for its statistics only:
  /// buffers = (1 - momentum) buffers + momentum (of the row's minibatch).
  virtual void observe(const Minibatches& minibatches, backend::ConstBlock parameters,
                       backend::Block buffers, double momentum) = 0;

  /// How every row's model does on all test and validation samples of the bank, in evaluation mode.
  /// Waits for the device.
  virtual Evaluation evaluate(DeviceBank& bank, backend::ConstBlock parameters,
                              backend::ConstBlock buffers) = 0;
};

/// A network, and the samples of one bank of peers, on a device.
class DeviceBank {
 public:
  virtual ~DeviceBank() = default;

  /// Whose memory the plans read and write.
  virtual backend::Kernels& kernels() = 0;

  /// A plan for `peers` rows, of this bank and of others like it. Throws InvalidArgument if the
  /// network cannot be compiled: nothing reads one of its values, or the device lacks memory.
  virtual std::unique_ptr<Plan> compile(std::size_t peers, Plan::Use use) = 0;
};

/// On the CPU: peers run in parallel over the context's pool, one thread per peer.
///
/// For both: share.parts[i] are the training samples of row i. Reads `batch`, `seed`, `first`,
/// `rows`, `pool` and `kernels` of the context. All arguments but the context outlive the bank.
std::unique_ptr<DeviceBank> make_cpu_bank(const model::Network& network, const data::Share& share,
                                          const data::Augmentation& augmentation,
                                          const ObjectiveContext& context);

/// On the GPU of the context's kernels, whose device() is "cuda": all peers in one launch, samples
/// in its memory. Throws InvalidArgument where this build has no CUDA (no_cuda.cpp).
std::unique_ptr<DeviceBank> make_cuda_bank(const model::Network& network, const data::Share& share,
                                           const data::Augmentation& augmentation,
                                           const ObjectiveContext& context);

}  // namespace hearsay::engine
