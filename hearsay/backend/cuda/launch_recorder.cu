#include "hearsay/backend/cuda/launch_recorder.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearsay/backend/cuda/staging_buffer.h"
#include "hearsay/core/error.h"

namespace hearsay::backend::cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw RunFailed(std::string("[cuda] ") + what + ": " + cudaGetErrorName(status) + ", " +
                  cudaGetErrorString(status));
}

namespace {

constexpr std::size_t kAlignment = 16;  // of recorded entries and arguments
constexpr std::size_t kMostGraphs = 64;
constexpr std::size_t kMostArguments = 64;

/// Static and dynamic shared memory together that a launch gets without asking for more.
constexpr std::size_t kSharedByDefault = 48 << 10;

enum class Step : std::uint32_t { kLaunch, kFork, kUse, kJoin };

/// What is recorded: this, and after a launch the sizes of its arguments and their bytes, each
/// padded with zeros to 16 bytes; of an empty class all are. Entries have no padding, so equal
/// steps are equal bytes.
struct Entry {
  Step step = Step::kLaunch;
  std::uint32_t stream = 0;     // of a fork, use or join
  std::uint32_t arguments = 0;  // of a launch, from here on
  std::uint32_t shared_bytes = 0;
  const void* kernel = nullptr;
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
};
static_assert(sizeof(Entry) == 48 && sizeof(std::size_t) == sizeof(std::uint64_t));

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::string text(const std::uint32_t (&extent)[3]) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" +
         std::to_string(extent[2]);
}

/// "grid 5x3x1, block 512x1x1, 49152 bytes of shared memory, of _Z6select..."
std::string describe(const Entry& launch) {
  const char* name = nullptr;
  if (cudaFuncGetName(&name, launch.kernel) != cudaSuccess) name = "an unknown kernel";
  return "grid " + text(launch.grid) + ", block " + text(launch.block) + ", " +
         std::to_string(launch.shared_bytes) + " bytes of shared memory, of " + name;
}

/// Let launches of `kernel` have `bytes` of shared memory beyond what it declares. Returns how much
/// they may have. Recorders share kernels, so it never becomes less.
std::size_t ask_for_shared(const void* kernel, std::size_t bytes) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "reading a kernel's attributes");
  if (attributes.sharedSizeBytes + bytes <= kSharedByDefault) {
    return kSharedByDefault - attributes.sharedSizeBytes;
  }
  const int limit = std::max(static_cast<int>(bytes), attributes.maxDynamicSharedSizeBytes);
  const std::string what = "asking for " + std::to_string(limit) + " bytes of shared memory";
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limit),
        what.c_str());
  return static_cast<std::size_t>(limit);
}

struct Graph {
  std::vector<std::byte> recorded;
  cudaGraphExec_t executable = nullptr;
  std::uint64_t last_use = 0;
};

}  // namespace

int blocks_at_once(const void* kernel, int threads, std::size_t shared_bytes) {
  ask_for_shared(kernel, shared_bytes);
  int device = 0, processors = 0, on_each = 0;
  check(cudaGetDevice(&device), "asking for the device in use");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "reading a device's attributes");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, kernel, threads, shared_bytes),
        "counting the blocks that fit on a multiprocessor");
  return on_each * processors;
}

struct LaunchRecorder::Impl {
  Impl() {
    for (int stream = 0; stream < kStreams; ++stream) {
      check(cudaStreamCreateWithFlags(&streams[stream], cudaStreamNonBlocking),
            "creating a stream");
      check(cudaEventCreateWithFlags(&events[stream], cudaEventDisableTiming), "creating an event");
    }
  }

  ~Impl() {
    cudaStreamSynchronize(streams[0]);
    for (Graph& graph : graphs) cudaGraphExecDestroy(graph.executable);
    for (int stream = 0; stream < kStreams; ++stream) {
      cudaEventDestroy(events[stream]);
      cudaStreamDestroy(streams[stream]);
    }
  }

  void append(const void* values, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(values);
    recorded.insert(recorded.end(), begin, begin + bytes);
    recorded.resize(padded(recorded.size()));
  }

  void append(Step step, int stream) {
    assert(stream > 0 || step == Step::kUse);
    assert(stream < kStreams);
    const Entry entry{.step = step, .stream = static_cast<std::uint32_t>(stream)};
    append(&entry, sizeof entry);
  }

  void wait_for(int stream, int other) {
    check(cudaEventRecord(events[other], streams[other]), "recording an event");
    check(cudaStreamWaitEvent(streams[stream], events[other]), "joining streams");
  }

  /// Whether the kernel was compiled for an architecture on which begin_launch waits.
  bool waits(const void* kernel) {
    const auto [known, fresh] = waits_of.try_emplace(kernel, false);
    if (fresh) {
      cudaFuncAttributes attributes{};
      check(cudaFuncGetAttributes(&attributes, kernel), "asking about a kernel");
      known->second = attributes.ptxVersion >= 90;
    }
    return known->second;
  }

  /// `follows`: it comes right after another launch of its stream, and may be scheduled while that
  /// one still runs (see begin_launch).
  void launch(const Entry& entry, void** arguments, int stream, bool follows) {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how{};
    how.gridDim = {entry.grid[0], entry.grid[1], entry.grid[2]};
    how.blockDim = {entry.block[0], entry.block[1], entry.block[2]};
    how.dynamicSmemBytes = entry.shared_bytes;
    how.stream = streams[stream];
    how.attrs = &overlap;
    how.numAttrs = follows && waits(entry.kernel) ? 1 : 0;
    const cudaError_t status = cudaLaunchKernelExC(&how, entry.kernel, arguments);
    if (status != cudaSuccess) check(status, ("capturing " + describe(entry)).c_str());
  }

  /// Issue what is recorded to the streams, which are being captured.
  void play() {
    int stream = 0;
    bool follows[kStreams] = {};
    for (const std::byte* at = recorded.data(); at < recorded.data() + recorded.size();) {
      Entry entry;
      std::memcpy(&entry, at, sizeof entry);
      at += sizeof entry;
      const int other = static_cast<int>(entry.stream);
      switch (entry.step) {
        case Step::kFork:
          wait_for(other, 0);
          follows[other] = false;
          break;
        case Step::kUse:
          stream = other;
          break;
        case Step::kJoin:
          wait_for(0, other);
          follows[0] = false;
          break;
        case Step::kLaunch: {
          const auto* sizes = reinterpret_cast<const std::uint64_t*>(at);
          at += padded(entry.arguments * sizeof *sizes);
          void* pointers[kMostArguments];
          for (std::uint32_t k = 0; k < entry.arguments; ++k) {
            pointers[k] = const_cast<std::byte*>(at);  // cudaLaunchKernel reads only
            at += std::max(padded(sizes[k]), kAlignment);
          }
          launch(entry, pointers, stream, follows[stream]);
          follows[stream] = true;
        }
      }
    }
  }

  cudaGraphExec_t capture() {
    check(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal),
          "beginning a capture");
    cudaGraph_t graph = nullptr;
    try {
      play();
    } catch (...) {
      cudaStreamEndCapture(streams[0], &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(streams[0], &graph), "ending a capture");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "making a graph");
    ++captures;
    return executable;
  }

  /// The graph of what is recorded, captured if it is new. A round's graphs come one after the
  /// other as they did last time, so the search begins behind the last one; others mostly differ in
  /// length.
  Graph& find() {
    for (std::size_t k = 1; k <= graphs.size(); ++k) {
      const std::size_t place = (last + k) % graphs.size();
      if (graphs[place].recorded != recorded) continue;
      last = place;
      return graphs[place];
    }
    cudaGraphExec_t executable = capture();
    if (graphs.size() < kMostGraphs) {
      last = graphs.size();
      graphs.emplace_back();
    } else {
      last = static_cast<std::size_t>(std::ranges::min_element(graphs, {}, &Graph::last_use) -
                                      graphs.begin());
      // A graph may still run: destroying it waits for nothing, and it finishes.
      cudaGraphExecDestroy(graphs[last].executable);
    }
    graphs[last] = {recorded, executable, 0};
    return graphs[last];
  }

  /// Captured first: if that fails, nothing of this submission reaches the device.
  void run() {
    Graph& graph = find();
    staging.send(streams[0]);
    graph.last_use = ++submissions;
    check(cudaGraphLaunch(graph.executable, streams[0]), "launching a graph");
  }

  void start_over() {
    staging.forget();
    recorded.clear();
    current = 0;
    launched = false;
    std::ranges::fill(forked, false);
  }

  cudaStream_t streams[kStreams] = {};
  cudaEvent_t events[kStreams] = {};
  StagingBuffer staging;
  std::vector<std::byte> recorded;
  int current = 0;  // stream
  bool forked[kStreams] = {};
  bool launched = false;
  std::vector<Graph> graphs;
  std::size_t last = 0;
  std::uint64_t submissions = 0;
  std::size_t captures = 0, launches = 0;
  std::function<void()> postponed;                         // empty: nothing is
  std::unordered_map<const void*, std::size_t> shared_of;  // what launches of a kernel may have
  std::unordered_map<const void*, bool> waits_of;
};

LaunchRecorder::LaunchRecorder() : impl_(std::make_unique<Impl>()) {}
LaunchRecorder::~LaunchRecorder() = default;

cudaStream_t LaunchRecorder::stream() const { return impl_->streams[0]; }
std::size_t LaunchRecorder::captures() const { return impl_->captures; }
std::size_t LaunchRecorder::launches() const { return impl_->launches; }

void LaunchRecorder::postpone(std::function<void()> record) {
  impl_->postponed = std::move(record);
}

void LaunchRecorder::flush() {
  const auto record = std::exchange(impl_->postponed, nullptr);
  if (!record) return;
  try {
    record();
  } catch (...) {
    impl_->start_over();  // a list without these launches is of no use
    throw;
  }
}

const void* LaunchRecorder::put_bytes(const void* values, std::size_t bytes) {
  return impl_->staging.put(values, bytes);
}

const void* LaunchRecorder::put_list_bytes(const void* values, std::size_t bytes) {
  return impl_->staging.put_list(values, bytes);
}

void LaunchRecorder::record(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                            const void* const* arguments, const std::size_t* sizes,
                            std::size_t count) {
  assert(count <= kMostArguments);
  flush();
  if (shared_bytes > 0) {
    std::size_t& limit = impl_->shared_of[kernel];
    try {
      if (limit < shared_bytes) limit = ask_for_shared(kernel, shared_bytes);
    } catch (...) {
      impl_->start_over();  // a list without this launch is of no use
      throw;
    }
  }
  const Entry entry{.arguments = static_cast<std::uint32_t>(count),
                    .shared_bytes = static_cast<std::uint32_t>(shared_bytes),
                    .kernel = kernel,
                    .grid = {grid.x, grid.y, grid.z},
                    .block = {block.x, block.y, block.z}};
  impl_->append(&entry, sizeof entry);
  impl_->append(sizes, count * sizeof *sizes);
  for (std::size_t k = 0; k < count; ++k) {
    impl_->append(arguments[k], sizes[k]);
    if (sizes[k] == 0) impl_->recorded.resize(impl_->recorded.size() + kAlignment);
  }
  impl_->launched = true;
  ++impl_->launches;
}

void LaunchRecorder::fork(int stream) {
  flush();
  impl_->append(Step::kFork, stream);
  impl_->forked[stream] = true;
}

void LaunchRecorder::use(int stream) {
  assert(stream == 0 || impl_->forked[stream]);
  if (stream == impl_->current) return;
  flush();
  impl_->append(Step::kUse, stream);
  impl_->current = stream;
}

int LaunchRecorder::current_stream() const { return impl_->current; }

void LaunchRecorder::join(int stream) {
  assert(impl_->forked[stream]);
  flush();
  impl_->append(Step::kJoin, stream);
  impl_->forked[stream] = false;
}

void LaunchRecorder::join_all() {
  for (int stream = 1; stream < kStreams; ++stream) {
    if (impl_->forked[stream]) join(stream);
  }
}

void LaunchRecorder::submit() {
  try {
    flush();
    join_all();
    if (impl_->launched) impl_->run();
  } catch (...) {
    impl_->start_over();  // what comes next has nothing to do with what failed
    throw;
  }
  impl_->start_over();
}

void LaunchRecorder::synchronize() {
  submit();
  check(cudaStreamSynchronize(impl_->streams[0]), "running on the device");
}

}  // namespace hearsay::backend::cuda
