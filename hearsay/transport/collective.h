#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/core/bytes.h"
#include "hearsay/transport/placement.h"
#include "hearsay/transport/transport.h"
#include "hearsay/transport/wait.h"

namespace hearsay::transport {

/// Collective operations of all processes of a run, over the control lane of any transport.
///
/// Every process calls the same members in the same order; a call returns when this process has its
/// result and every process that needs its bytes has entered the call. Sums run in double, in
/// ascending order of peers, whichever process holds them, so that they are bit-identical for any
/// number of processes. Throws RunFailed if a process is gone.
class Group {
 public:
  /// The transport must outlive the group, which has exclusive use of its control lane, from round
  /// `first` on.
  explicit Group(Transport& transport, Idle idle = {}, std::uint32_t first = 0);

  const Seat& seat() const { return seat_; }

  /// In rank 0: the bytes of every process, by rank. In other ranks: empty.
  std::vector<Bytes> gather(ByteView mine);

  /// The bytes of rank 0, in every process.
  Bytes broadcast(ByteView mine);

  /// The bytes of every process, by rank, in every process. For small data: all of it goes through
  /// rank 0.
  std::vector<Bytes> all_gather(ByteView mine);

  /// Copies `mine` of rank `process` to `theirs` of rank 0, which knows the number of floats; the
  /// spans of other ranks are ignored.
  void fetch(std::size_t process, std::span<const float> mine, std::span<float> theirs);

  /// Sums over all n peers of the columns of m x d floats per process: the rows of its peers by
  /// `placement` (InvalidArgument if that is for another number of processes).
  ///
  /// Of d columns each process sums one slice, which begins at first_column(d), a multiple of
  /// kBlock.
  static constexpr std::size_t kBlock = 4096;
  std::size_t first_column(std::size_t dim) const { return column(seat_.process, dim); }

  /// The sums of this process's slice. A process sends (N-1)/N of its rows.
  std::vector<double> sum_slice(const Placement& placement, std::span<const float> rows);

  /// mean[k] = float(sum over all n peers / n) for all d columns; `mean` may be the first of
  /// `rows`. A process sends (N-1)/N of its rows, and the means of its slice to all other
  /// processes.
  void mean(const Placement& placement, std::span<const float> rows, std::span<float> mean);

 private:
  /// The columns summed in one step.
  struct Columns {
    std::size_t begin = 0, count = 0;
  };

  std::size_t dim_of(const Placement& placement, std::span<const float> rows) const;
  std::size_t column(std::size_t process, std::size_t dim) const;
  Columns columns(std::size_t process, std::size_t dim, std::size_t step) const;
  std::size_t steps(std::size_t dim) const;
  Label next() { return {Lane::kControl, next_round_++}; }

  /// sums[k] = over all peers, of column columns(this process, d, step).begin + k.
  void sum_step(const Placement& placement, std::span<const float> rows, std::size_t step,
                std::vector<double>& sums);

  Transport& transport_;
  const Idle idle_;
  const Seat seat_;
  std::uint32_t next_round_;
  std::vector<float> foreign_;  // other peers' rows of a step's columns, ascending
};

}  // namespace hearsay::transport
