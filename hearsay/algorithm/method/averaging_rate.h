#pragma once

#include "hearsay/algorithm/bank.h"
#include "hearsay/core/spec.h"

namespace hearsay::algorithm {

/// Table 5 of the Sparse-Push paper: the averaging rate for a top-k that keeps the fraction `keep`.
///
///   keep   100 %   50 %   10 %    1 %    0.1 %
///   eta    1       0.08   0.01    0.005  0.001
///
/// Interpolated log-log; extrapolated with the last slope below 0.1 %. keep in (0, 1].
double table5_rate(double keep);

/// eta of an error-feedback method: as given; or, for `eta=auto`, 1 without compression, Table 5
/// for a top-k (1 for int8, which keeps every entry), and InvalidArgument for any other operator,
/// since no paper gives a value.
double feedback_rate(const Arguments& arguments, const Bank& bank);

/// eta of a difference-compression method (choco, quant-sgp): as given; or, for `eta=auto`, min(1,
/// 2 delta) for a top-k and delta for any other operator, with delta the operator's contraction,
/// with which the theory scales. A top-k beats its bound on all but the worst vectors; an operator
/// that contracts only in expectation does not, and diverges at twice its delta. Koloskova et al.
/// 2019 tune 0.04 for top-1 % and 0.01 for random-1 %.
///
/// 1 for a top-k that keeps every entry (int8) and only rounds them: the delta of 8 bits is that of
/// a tensor with one entry that outweighs all others, and below 1/2 above 64,516 entries. Such a
/// tensor has that entry exact after one message, and the next has a smaller scale.
double difference_rate(const Arguments& arguments, const Bank& bank);

}  // namespace hearsay::algorithm
