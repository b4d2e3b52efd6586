#include "hearsay/core/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace hearsay {
namespace {

TEST(ThreadPool, RunsEveryIterationOnce) {
  for (std::size_t threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::size_t count : {0u, 1u, 3u, 1000u}) {
      std::vector<std::atomic<int>> seen(count);
      pool.run(count, [&](std::size_t i) { ++seen[i]; });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ThreadPool, RethrowsTheFailureOfTheLowestIteration) {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      pool.run(100, [](std::size_t i) {
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
}

TEST(ThreadPool, RunsALoopInsideALoop) {
  ThreadPool pool(2);
  std::atomic<int> total{0};
  pool.run(4, [&](std::size_t) { pool.run(5, [&](std::size_t) { ++total; }); });
  EXPECT_EQ(total, 20);
}

}  // namespace
}  // namespace hearsay
