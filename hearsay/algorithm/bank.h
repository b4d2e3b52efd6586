#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/backend/kernels.h"
#include "hearsay/compress/bank_compressor.h"
#include "hearsay/core/layout.h"
#include "hearsay/graph/facts.h"

namespace hearsay::algorithm {

using compress::BankCompressor;

/// The m peers first .. first + m - 1 of n that live on one device, and everything their algorithm
/// uses.
struct Bank {
  backend::Kernels& kernels;
  const Layout& layout;
  BankCompressor& compressor;
  const graph::Facts& graph;  ///< spectral properties, for methods that derive a default from them
  std::size_t peers = 0;      ///< n
  std::size_t first = 0;
  std::size_t rows = 0;    ///< m
  bool irregular = false;  ///< messages get lost or come late: push-sum weights leave 1 anywhere

  /// Writes the initial model of any peer, including those of other banks, to x: to initialize
  /// copies of it. May be empty if the bank holds all n peers.
  std::function<void(std::uint32_t peer, std::span<float> x)> start_of{};
};

}  // namespace hearsay::algorithm
