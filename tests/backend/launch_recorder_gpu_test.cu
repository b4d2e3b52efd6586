#include "hearsay/backend/cuda/devices.h"
#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/launch_recorder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/core/error.h"

namespace hearsay::backend::cuda {
namespace {

/// y[i] = (*factor) y[i] + (sum of the list).
__global__ void scale_and_add(const float* factor, const float* const* list, const unsigned* count,
                              float* y, unsigned n) {
  hearsay::backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (unsigned k = 0; k < *count; ++k) sum += (*list)[k];
  y[i] = *factor * y[i] + sum;
}

/// y[i] = i + n, after a while: so a launch that does not wait for it is found out.
__global__ void count_slowly(float* y, unsigned n) {
  hearsay::backend::cuda::begin_launch();
  extern __shared__ float shared[];
  const unsigned i = threadIdx.x;
  shared[i] = static_cast<float>(i + n);
  for (int k = 0; k < 200; ++k) __nanosleep(500);
  __syncthreads();
  if (i < n) y[i] = shared[i];
}

/// y[i] = i + n, with shared memory of its own beside that of the launch.
__global__ void count_with_shared(float* y, unsigned n) {
  hearsay::backend::cuda::begin_launch();
  extern __shared__ float shared[];
  __shared__ unsigned own[128];
  const unsigned i = threadIdx.x;
  own[i] = i + n;
  __syncthreads();
  shared[i] = static_cast<float>(own[blockDim.x - 1 - i]);
  __syncthreads();
  if (i < n) y[i] = shared[blockDim.x - 1 - i];
}

__global__ void add(const float* a, const float* b, float* sum, unsigned n) {
  hearsay::backend::cuda::begin_launch();
  const unsigned i = threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

class LaunchRecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (hearsay::backend::cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }

  static std::vector<float> values(const Memory<float>& memory) {
    std::vector<float> host(memory.size());
    check(
        cudaMemcpy(host.data(), memory.data(), sizeof(float) * host.size(), cudaMemcpyDeviceToHost),
        "copying from the device");
    return host;
  }
};

TEST_F(LaunchRecorderTest, ReplaysWithNewNumbersAndListsOfAnyLength) {
  LaunchRecorder recorder;
  const Memory<float> y(1000);
  float expected = 0;  // small whole numbers, so nothing is rounded
  for (unsigned round = 0; round < 100; ++round) {
    const float factor = static_cast<float>(round % 3);
    const std::vector<float> list(round % 7, 1.0f);
    const auto* sum = recorder.put_list(std::span<const float>(list));
    recorder.launch(scale_and_add, 4, 256, 0, recorder.put(factor), sum,
                    recorder.put(static_cast<unsigned>(list.size())), y.data(), 1000u);
    recorder.submit();
    expected = factor * expected + static_cast<float>(list.size());
  }
  recorder.synchronize();
  EXPECT_EQ(values(y), std::vector<float>(1000, expected));
  EXPECT_EQ(recorder.captures(), 1u);
}

TEST_F(LaunchRecorderTest, PageGrowsAndAddressesStay) {
  LaunchRecorder recorder;
  const Memory<float> y(10);
  const std::vector<float> large(300'000, 0.5f);  // more than the first chunk holds
  for (int round = 0; round < 40; ++round) {
    const auto* factor = recorder.put(0.0f);
    const auto* list = recorder.put_list(std::span<const float>(large));
    const auto* count = recorder.put(static_cast<unsigned>(large.size() - round));
    recorder.put(std::span<const float>(large));
    recorder.launch(scale_and_add, 1, 32, 0, factor, list, count, y.data(), 10u);
    recorder.synchronize();
    ASSERT_EQ(values(y)[9], 0.5f * static_cast<float>(large.size() - round)) << round;
  }
  EXPECT_EQ(recorder.captures(), 1u);
}

TEST_F(LaunchRecorderTest, StreamsForkAndJoin) {
  LaunchRecorder recorder;
  const Memory<float> a(100), b(100), sum(100);
  for (int round = 0; round < 3; ++round) {
    recorder.fork(1);
    recorder.use(1);
    recorder.launch(count_slowly, 1, 128, 60'000, a.data(), 100u);
    recorder.use(0);
    recorder.launch(count_slowly, 1, 128, 512, b.data(), 100u);
    recorder.join(1);
    recorder.launch(add, 1, 128, 0, a.data(), b.data(), sum.data(), 100u);
    recorder.synchronize();
    const std::vector<float> found = values(sum);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(found[i], 2.0f * static_cast<float>(i + 100)) << i;
  }
  EXPECT_EQ(recorder.captures(), 1u);
  // A stream that is not joined is joined by the submission.
  recorder.fork(2);
  recorder.use(2);
  recorder.launch(add, 1, 128, 0, sum.data(), sum.data(), a.data(), 100u);
  recorder.synchronize();
  EXPECT_EQ(values(a)[50], 600.0f);
}

/// Whatever comes next: a launch, a stream, a submission.
TEST_F(LaunchRecorderTest, WhatIsPostponedComesBeforeAnythingElseAndOnce) {
  LaunchRecorder recorder;
  const Memory<float> a(100), sum(100);
  int calls = 0;
  const auto postpone = [&] {
    recorder.postpone([&] {
      ++calls;
      recorder.launch(count_slowly, 1, 128, 512, a.data(), 100u);
    });
  };
  for (const bool on_side_stream : {false, true}) {
    postpone();
    if (on_side_stream) {
      recorder.fork(1);
      recorder.use(1);
    }
    recorder.launch(add, 1, 128, 0, a.data(), a.data(), sum.data(), 100u);
    recorder.synchronize();
    EXPECT_EQ(values(sum)[50], 300.0f) << on_side_stream;
    recorder.launch(add, 1, 128, 0, sum.data(), sum.data(), a.data(), 100u);
  }
  EXPECT_EQ(calls, 2);
  const std::size_t launches = recorder.launches();
  postpone();
  EXPECT_EQ(recorder.launches(), launches);
  recorder.synchronize();
  EXPECT_EQ(recorder.launches(), launches + 1);
  EXPECT_EQ(values(a)[50], 150.0f);
}

/// Without being asked for, 48 KB are all that a block has, what its kernel declares included.
TEST_F(LaunchRecorderTest, GivesLaunchesTheSharedMemoryTheyNeed) {
  LaunchRecorder recorder, other;
  const Memory<float> y(128);
  for (const std::size_t bytes : {512u, 48u << 10, 60'000u, 1000u}) {
    recorder.launch(count_with_shared, 1, 128, bytes, y.data(), 100u);
    recorder.synchronize();
    EXPECT_EQ(values(y)[99], 199.0f) << bytes;
    other.launch(count_with_shared, 1, 128, 50'000, y.data(), 90u);
    other.synchronize();
    EXPECT_EQ(values(y)[89], 179.0f) << bytes;
  }
}

TEST_F(LaunchRecorderTest, NamesTheLaunchThatIsImpossibleAndGoesOn) {
  LaunchRecorder recorder;
  const Memory<float> y(128);
  try {
    recorder.launch(add, dim3(1, 70'000), 128, 0, y.data(), y.data(), y.data(), 1u);
    recorder.submit();
    ADD_FAILURE() << "a grid of 70,000 rows";
  } catch (const RunFailed& error) {
    const std::string text = error.what();
    for (const char* part : {"grid 1x70000x1", "block 128x1x1", " 0 bytes of shared", "add"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  recorder.launch(count_with_shared, 1, 128, 512, y.data(), 100u);
  recorder.synchronize();
  EXPECT_EQ(values(y)[99], 199.0f);
}

TEST_F(LaunchRecorderTest, ForgetsTheGraphsThatWereNotUsedForLongest) {
  LaunchRecorder recorder;
  const Memory<float> y(100);
  const auto run = [&](unsigned n) {
    recorder.launch(add, 1, 128, 0, y.data(), y.data(), y.data(), n);
    recorder.submit();
  };
  for (unsigned n = 0; n < 100; ++n) run(n);
  EXPECT_EQ(recorder.captures(), 100u);
  run(99);
  EXPECT_EQ(recorder.captures(), 100u);
  run(0);
  EXPECT_EQ(recorder.captures(), 101u);
  recorder.submit();
  recorder.synchronize();
}

}  // namespace
}  // namespace hearsay::backend::cuda
