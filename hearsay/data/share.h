#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearsay/data/dataset.h"
#include "hearsay/data/partition.h"

namespace hearsay::data {

/// The part of a dataset that a process holds: the training samples of its own peers and a few
/// others; all test and validation samples.
struct Share {
  std::shared_ptr<const Dataset> dataset;
  Partition parts;                   ///< of the own peers, as indices into dataset->train
  std::vector<std::uint32_t> extra;  ///< the few others, likewise, in the requested order

  // Of the whole dataset:
  std::vector<std::vector<std::size_t>>
      class_counts;          ///< [peer][label], of all n; none in a regression
  std::string whole_sha256;  ///< empty if `dataset` is the whole

  /// SHA-256 of the whole dataset.
  std::string sha256() const { return whole_sha256.empty() ? sha256_of(*dataset) : whole_sha256; }
};

/// The share of the peers first .. first + rows - 1, whose samples are parts[first] and so on, with
/// `extra` samples of any peers. If these are all peers, nothing is copied. Otherwise the whole
/// dataset is freed as soon as the caller releases it too.
Share take_share(std::shared_ptr<const Dataset> dataset, Partition parts, std::size_t first,
                 std::size_t rows, std::vector<std::uint32_t> extra);

}  // namespace hearsay::data
