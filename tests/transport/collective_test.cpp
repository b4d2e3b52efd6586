#include "hearsay/transport/collective.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

/// The contract of collective.h, over every transport.
class Collectives : public ::testing::TestWithParam<World> {};

/// Peer i's row of n x d floats whose sums depend on their order.
std::vector<float> row_of(std::size_t peer, std::size_t dim) {
  std::vector<float> row(dim);
  std::uint32_t word = static_cast<std::uint32_t>(peer) + 11;
  for (float& value : row) {
    word = word * 2891336453u + 1;
    value = to_unit_float(word) * static_cast<float>(1u << (word >> 27));
  }
  return row;
}

std::vector<double> sums_of(std::size_t peers, std::size_t dim) {
  std::vector<double> sums(dim, 0.0);
  for (std::size_t i = 0; i < peers; ++i) {
    const std::vector<float> row = row_of(i, dim);
    for (std::size_t k = 0; k < dim; ++k) sums[k] += static_cast<double>(row[k]);
  }
  return sums;
}

std::vector<float> rows_of(const Placement& placement, std::size_t process, std::size_t dim) {
  std::vector<float> rows;
  for (std::size_t i = placement.first(process); i < placement.first(process + 1); ++i) {
    const std::vector<float> row = row_of(i, dim);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

/// Calls the body in every process, with as many peers as processes, one more, and nearly three
/// times as many.
void with_groups(const World& world, auto body) {
  world.run([&](const Process& process) {
    const std::size_t count = process.count();
    std::uint32_t first = process.round;
    for (const std::size_t peers : {count, count + 1, 3 * count - 1}) {
      SCOPED_TRACE(peers);
      const Placement placement{peers, count};
      Group group(process.transport, {}, first += 1000);
      body(process, placement, group);
    }
  });
}

Bytes greeting_of(std::size_t process) { return bytes_like(process * 3000, process, 0, 0); }

TEST_P(Collectives, GatherBringsAllToProcessZero) {
  with_groups(GetParam(), [](const Process& process, const Placement&, Group& group) {
    const std::vector<Bytes> all = group.gather(greeting_of(process.me()));
    ASSERT_EQ(all.size(), process.me() == 0 ? process.count() : 0);
    for (std::size_t p = 0; p < all.size(); ++p) EXPECT_EQ(all[p], greeting_of(p));
  });
}

TEST_P(Collectives, BroadcastBringsWhatProcessZeroGaveToAll) {
  with_groups(GetParam(), [](const Process& process, const Placement&, Group& group) {
    for (std::size_t k : {0, 1, 2, 300}) {
      const Bytes mine = process.me() == 0 ? greeting_of(k) : Bytes{};
      EXPECT_EQ(group.broadcast(mine), greeting_of(k));
    }
  });
}

TEST_P(Collectives, AllGatherBringsAllToAll) {
  with_groups(GetParam(), [](const Process& process, const Placement&, Group& group) {
    for (int k = 0; k < 3; ++k) {
      const std::vector<Bytes> all = group.all_gather(greeting_of(process.me()));
      ASSERT_EQ(all.size(), process.count());
      for (std::size_t p = 0; p < all.size(); ++p) EXPECT_EQ(all[p], greeting_of(p));
    }
  });
}

// The last takes several steps per slice, and is not a multiple of any block size.
constexpr std::size_t kDims[] = {1, 2, 7, 1000, 350'003};

TEST_P(Collectives, SumsOfASliceHaveTheBitsOfOneProcess) {
  with_groups(GetParam(), [](const Process& process, const Placement& placement, Group& group) {
    for (const std::size_t dim : kDims) {
      const std::vector<double> slice =
          group.sum_slice(placement, rows_of(placement, process.me(), dim));
      const std::vector<double> sums = sums_of(placement.peers, dim);
      const std::size_t first = group.first_column(dim);
      ASSERT_LE(first + slice.size(), dim);
      EXPECT_TRUE(std::ranges::equal(slice, std::span(sums).subspan(first, slice.size())));

      Bytes mine;
      append(mine, std::uint64_t{slice.size()});
      std::uint64_t covered = 0;
      for (const Bytes& one : group.all_gather(mine)) {
        covered += ByteReader(one, "a size").read<std::uint64_t>();
      }
      EXPECT_EQ(covered, dim);
    }
  });
}

TEST_P(Collectives, MeansHaveTheBitsOfOneProcess) {
  with_groups(GetParam(), [](const Process& process, const Placement& placement, Group& group) {
    for (const std::size_t dim : kDims) {
      std::vector<float> rows = rows_of(placement, process.me(), dim);
      std::vector<float> apart(dim);
      group.mean(placement, rows, apart);
      EXPECT_EQ(rows, rows_of(placement, process.me(), dim));
      group.mean(placement, rows, std::span(rows).first(dim));
      const std::vector<double> sums = sums_of(placement.peers, dim);
      std::vector<float> mean(dim);
      for (std::size_t k = 0; k < dim; ++k) {
        mean[k] = static_cast<float>(sums[k] / static_cast<double>(placement.peers));
      }
      EXPECT_EQ(apart, mean);
      EXPECT_TRUE(std::ranges::equal(std::span(rows).first(dim), mean));
    }
  });
}

TEST_P(Collectives, FetchBringsWhatOneProcessGaveToProcessZero) {
  with_groups(GetParam(), [](const Process& process, const Placement&, Group& group) {
    for (std::size_t from = 0; from < process.count(); ++from) {
      for (const std::size_t size : {0u, 1u, 1000u}) {
        const std::vector<float> given(size, static_cast<float>(from) + 0.5f);
        std::vector<float> theirs(size, -1.0f);
        const std::vector<float> before = theirs;
        group.fetch(from, process.me() == from ? given : std::vector<float>{}, theirs);
        EXPECT_EQ(theirs, process.me() == 0 ? given : before);
      }
    }
  });
}

TEST_P(Collectives, WantThePlacementOfTheirTransport) {
  GetParam().run([](const Process& process) {
    const std::size_t count = process.count();
    Group group(process.transport, {}, process.round);
    EXPECT_THROW(group.sum_slice({count + 1, count + 1}, {}), InvalidArgument);
    EXPECT_THROW(group.sum_slice({count - 1, count}, {}), InvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, Collectives, ::testing::ValuesIn(worlds()),
                         name_of<::testing::TestParamInfo<World>>);

}  // namespace
}  // namespace hearsay::transport
