#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hearsay/core/registry.h"
#include "hearsay/engine/objective.h"

namespace hearsay {
class ThreadPool;
}
namespace hearsay::data {
struct Dataset;
}

namespace hearsay::engine {

/// The context of an objective besides its spec. The bank's rows are peers first .. first + rows -
/// 1.
struct ObjectiveContext {
  std::size_t peers;  ///< n, of the whole run
  std::size_t first;
  std::size_t rows;
  std::uint64_t seed;
  ThreadPool& pool;           ///< outlives the objective
  backend::Kernels& kernels;  ///< the device of the bank; outlives the objective
  // For datasets only:
  std::string model = "logistic";
  std::string task = "auto";      ///< data::parse_task
  std::string loss = "auto";      ///< (loss.h); auto: that of the task
  std::string partition = "iid";  ///< of the samples among peers; or data::kOwnPartition
  /// With that: what peers agree on (data/agreement.h).
  std::string classes = "none", mean = "none", deviation = "none";
  std::string augment = "none";  ///< augmentation of training images
  double validation = 0;         ///< fraction of the training samples that is held out
  std::size_t batch = 32;        ///< samples per peer and round
  bool estimates = true;         ///< whether estimate_buffers will be called: in one process only
  /// If set, the dataset is what this makes of the one that was read.
  std::function<std::shared_ptr<const data::Dataset>(std::shared_ptr<const data::Dataset>)> adapt{};
};

/// One row of the registry of objectives with synthetic data.
using ObjectiveEntry = Row<std::unique_ptr<Objective>(const ObjectiveContext&)>;

Registry<ObjectiveEntry> objective_registry();

/// Throws InvalidArgument if neither a row of the registry above nor a dataset has the name of this
/// spec, or if it has other parameters.
void check_data(std::string_view spec);

/// What `--data` names: an objective of the registry above, "least-squares:noise=0.1", or a dataset
/// of data::dataset_registry(), "digits", on which a network is trained. If the kernels are not the
/// host's, networks train on their device, and the others on the host (on_host.h). Throws
/// InvalidArgument.
std::unique_ptr<Objective> make_objective(std::string_view spec, const ObjectiveContext& context);

}  // namespace hearsay::engine
