#include "hearsay/transport/collective.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::transport {

namespace {

// 256 KiB of a row: large enough to saturate a network, small compared with a model.
constexpr std::size_t kStepColumns = 64 * 1024;

ByteView bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

std::span<std::uint8_t> buffer_of(std::span<float> values) {
  return {reinterpret_cast<std::uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace

Group::Group(Transport& transport, Idle idle, std::uint32_t first)
    : transport_(transport), idle_(std::move(idle)), seat_(transport.seat()), next_round_(first) {}

std::vector<Bytes> Group::gather(ByteView mine) {
  const Label label = next();
  if (seat_.process != 0) {
    send_or_fail(transport_, 0, label, {}, mine);
    flush_or_fail(transport_, label, idle_);
    return {};
  }
  std::vector<Bytes> all(seat_.processes);
  all[0].assign(mine.begin(), mine.end());
  for (std::size_t p = 1; p < seat_.processes; ++p) {
    const Arrival arrival = receive_or_fail(transport_, label, idle_);
    all[arrival.process].assign(arrival.body.begin(), arrival.body.end());
  }
  return all;
}

Bytes Group::broadcast(ByteView mine) {
  const Label label = next();
  if (seat_.process != 0) {
    const Arrival arrival = receive_or_fail(transport_, label, idle_);
    return {arrival.body.begin(), arrival.body.end()};
  }
  for (std::size_t p = 1; p < seat_.processes; ++p) send_or_fail(transport_, p, label, {}, mine);
  flush_or_fail(transport_, label, idle_);
  return {mine.begin(), mine.end()};
}

std::vector<Bytes> Group::all_gather(ByteView mine) {
  Bytes joined;
  for (const Bytes& one : gather(mine)) {
    append(joined, std::uint64_t{one.size()});
    append(joined, std::span<const std::uint8_t>(one));
  }
  joined = broadcast(joined);
  ByteReader reader(joined, "what processes agree on");
  std::vector<Bytes> all(seat_.processes);
  for (Bytes& one : all) {
    const ByteView bytes = reader.take(reader.read<std::uint64_t>());
    one.assign(bytes.begin(), bytes.end());
  }
  return all;
}

void Group::fetch(std::size_t process, std::span<const float> mine, std::span<float> theirs) {
  const Label label = next();
  if (seat_.process == 0 && process == 0) {
    std::ranges::copy(mine, theirs.begin());
  } else if (seat_.process == 0) {
    transport_.expect(process, label, buffer_of(theirs));
    receive_or_fail(transport_, label, idle_);
  } else if (seat_.process == process) {
    send_or_fail(transport_, 0, label, {}, bytes_of(mine));
    flush_or_fail(transport_, label, idle_);
  }
}

std::vector<double> Group::sum_slice(const Placement& placement, std::span<const float> rows) {
  const std::size_t dim = dim_of(placement, rows);
  std::vector<double> slice, sums;
  for (std::size_t step = 0; step < steps(dim); ++step) {
    sum_step(placement, rows, step, sums);
    slice.insert(slice.end(), sums.begin(), sums.end());
  }
  return slice;
}

void Group::mean(const Placement& placement, std::span<const float> rows, std::span<float> mean) {
  const std::size_t dim = dim_of(placement, rows);
  assert(mean.size() == dim);
  const double peers = static_cast<double>(placement.peers);
  std::vector<double> sums;
  Label label;
  for (std::size_t step = 0; step < steps(dim); ++step) {
    sum_step(placement, rows, step, sums);
    label = next();
    const auto slice = [&](std::size_t p) {
      const auto [begin, count] = columns(p, dim, step);
      return mean.subspan(begin, count);
    };
    std::size_t awaited = 0;
    for (std::size_t p = 0; p < seat_.processes; ++p) {
      if (p == seat_.process || slice(p).empty()) continue;
      transport_.expect(p, label, buffer_of(slice(p)));
      ++awaited;
    }
    const std::span<float> mine = slice(seat_.process);
    std::ranges::transform(sums, mine.begin(),
                           [&](double sum) { return static_cast<float>(sum / peers); });
    for (std::size_t p = 0; p < seat_.processes && !mine.empty(); ++p) {
      if (p != seat_.process) send_or_fail(transport_, p, label, {}, bytes_of(mine));
    }
    for (; awaited > 0; --awaited) receive_or_fail(transport_, label, idle_);
  }
  if (dim > 0) flush_or_fail(transport_, label, idle_);
}

std::size_t Group::dim_of(const Placement& placement, std::span<const float> rows) const {
  check_placement(placement);
  if (placement.processes != seat_.processes) {
    throw InvalidArgument(fmt::format("[transport] peers placed in {} processes; there are {}",
                                      placement.processes, seat_.processes));
  }
  const std::size_t m = placement.rows(seat_.process);
  assert(rows.size() % m == 0);
  return rows.size() / m;
}

std::size_t Group::column(std::size_t process, std::size_t dim) const {
  if (process == seat_.processes) return dim;
  return process * dim / seat_.processes / kBlock * kBlock;
}

Group::Columns Group::columns(std::size_t process, std::size_t dim, std::size_t step) const {
  const std::size_t end = column(process + 1, dim);
  const std::size_t begin = std::min(column(process, dim) + step * kStepColumns, end);
  return {begin, std::min(kStepColumns, end - begin)};
}

std::size_t Group::steps(std::size_t dim) const {
  std::size_t longest = 0;
  for (std::size_t p = 0; p < seat_.processes; ++p) {
    longest = std::max(longest, column(p + 1, dim) - column(p, dim));
  }
  return (longest + kStepColumns - 1) / kStepColumns;
}

void Group::sum_step(const Placement& placement, std::span<const float> rows, std::size_t step,
                     std::vector<double>& sums) {
  const Label label = next();
  const std::size_t me = seat_.process;
  const std::size_t m = placement.rows(me);
  const std::size_t dim = dim_of(placement, rows);
  const auto [begin, count] = columns(me, dim, step);

  foreign_.resize((placement.peers - m) * count);
  const auto foreign = [&, n = count](std::size_t peer) {
    const std::size_t row = peer < placement.first(me) ? peer : peer - m;
    return std::span(foreign_).subspan(row * n, n);
  };
  std::size_t awaited = 0;
  for (std::size_t peer = 0; peer < placement.peers && count > 0; ++peer) {
    const std::size_t owner = placement.owner(peer);
    if (owner == me) continue;
    transport_.expect(owner, label, buffer_of(foreign(peer)));
    ++awaited;
  }
  for (std::size_t p = 0; p < seat_.processes; ++p) {
    const Columns theirs = columns(p, dim, step);
    if (p == me || theirs.count == 0) continue;
    for (std::size_t i = 0; i < m; ++i) {
      send_or_fail(transport_, p, label, {},
                   bytes_of(rows.subspan(i * dim + theirs.begin, theirs.count)));
    }
  }
  for (; awaited > 0; --awaited) receive_or_fail(transport_, label, idle_);

  sums.assign(count, 0.0);
  for (std::size_t peer = 0; peer < placement.peers; ++peer) {
    const std::span<const float> row =
        placement.owner(peer) == me
            ? rows.subspan((peer - placement.first(me)) * dim + begin, count)
            : std::span<const float>(foreign(peer));
    for (std::size_t k = 0; k < row.size(); ++k) sums[k] += static_cast<double>(row[k]);
  }
  flush_or_fail(transport_, label, idle_);
}

}  // namespace hearsay::transport
