#include "hearsay/transport/mpi/mpi.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/transport/cores.h"
#include "hearsay/transport/mpi/call.h"
#include "hearsay/transport/mpi/lane_traffic.h"

namespace hearsay::transport {

namespace {

using Clock = std::chrono::steady_clock;

// Open MPI makes progress only within its calls. A waiting thread first polls without pauses,
// yielding its core, and then with pauses that cost little CPU and add little to a round.
constexpr int kEagerLooks = 64;
// The progress thread takes time from the caller's core: with pauses of 100 us a step of ResNet-20
// took a fifth longer, while even ten times that caused no waiting.
constexpr std::chrono::microseconds kPauseOfWaiting{50}, kPauseWhileComputing{1000};

/// Initialize MPI; returns rank, number of processes and cores.
Seat start_mpi() {
  int started = 0, granted = 0;
  check_mpi(MPI_Initialized(&started), "starting");
  if (started != 0) {
    throw InvalidArgument("[mpi] a process has one MPI transport in its life, and had it");
  }
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted), "starting");
  if (granted < MPI_THREAD_SERIALIZED) {
    throw RunFailed("[mpi] this MPI cannot be called from two threads in turn");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int process = 0, processes = 0, here = 0, place = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &process), "counting processes");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &processes), "counting processes");
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, process, MPI_INFO_NULL, &host),
      "counting processes");
  check_mpi(MPI_Comm_size(host, &here), "counting processes");
  check_mpi(MPI_Comm_rank(host, &place), "counting processes");
  const cpu_set_t mine = allowed_cores();
  std::vector<cpu_set_t> allowed(static_cast<std::size_t>(here));
  check_mpi(
      MPI_Allgather(&mine, sizeof mine, MPI_BYTE, allowed.data(), sizeof mine, MPI_BYTE, host),
      "counting cores");
  MPI_Comm_free(&host);
  return {static_cast<std::size_t>(process), static_cast<std::size_t>(processes),
          fair_share(allowed, static_cast<std::size_t>(place))};
}

class Mpi : public Transport {
 public:
  explicit Mpi(bool fast) : seat_(start_mpi()), fast_(fast) {
    if (seat_.processes > 1)
      helper_ = std::jthread([this](const std::stop_token& stop) { help(stop); });
  }

  ~Mpi() override {
    helper_ = {};
    // While an exception propagates, other processes may never get here; mpirun terminates them
    // when this one exits without MPI_Finalize.
    if (std::uncaught_exceptions() > exceptions_) return;
    for (LaneTraffic& lane : lanes_) lane.close();
    MPI_Finalize();
  }

  std::string_view name() const override { return fast_ ? "mpi:allreduce=fast" : "mpi"; }
  Seat seat() const override { return seat_; }

  bool send(std::size_t process, Label label, ByteView head, ByteView body) override {
    check_other(seat_, process);
    check_head(head);
    const std::lock_guard guard(lock_);
    rethrow();
    lane(label).send(process, label.round, head, body);
    changed_.notify_one();
    return true;
  }

  bool flush(Label label, std::chrono::milliseconds patience) override {
    return wait(patience, [&] { return lane(label).flushed(label.round); });
  }

  void expect(std::size_t process, Label label, std::span<std::uint8_t> buffer) override {
    check_other(seat_, process);
    const std::lock_guard guard(lock_);
    rethrow();
    lane(label).expect(process, label.round, buffer);
  }

  std::optional<Arrival> receive(Label label, std::chrono::milliseconds patience) override {
    {
      const std::lock_guard guard(lock_);
      lane(label).ask(label.round);
    }
    std::optional<Arrival> arrival;
    wait(patience, [&] { return (arrival = lane(label).next()).has_value(); });
    return arrival;
  }

  std::vector<std::size_t> gone() const override { return {}; }

  bool fast_sum(std::span<float> values) override {
    if (!fast_) return false;
    constexpr std::size_t kMost = 1u << 28;  // MPI counts are int
    const std::lock_guard guard(lock_);
    for (std::size_t at = 0; at < values.size(); at += kMost) {
      const auto piece = values.subspan(at, std::min(kMost, values.size() - at));
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), MPI_FLOAT,
                              MPI_SUM, MPI_COMM_WORLD),
                "adding up");
    }
    return true;
  }

  void abort(int status) noexcept override {
    const std::lock_guard guard(lock_);
    MPI_Abort(MPI_COMM_WORLD, status);
  }

 private:
  LaneTraffic& lane(Label label) { return lanes_[static_cast<std::size_t>(label.lane)]; }

  void progress() {
    for (LaneTraffic& lane : lanes_) lane.progress();
  }

  /// Rethrow an error of the progress thread.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// While this object lives, the progress thread sleeps and the caller makes progress itself.
  class Waiting {
   public:
    explicit Waiting(Mpi& mpi) : mpi_(mpi) { set(true); }
    ~Waiting() { set(false); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    void set(bool waiting) {
      const std::lock_guard guard(mpi_.lock_);
      mpi_.waiting_ = waiting;
      mpi_.changed_.notify_one();
    }
    Mpi& mpi_;
  };

  /// Make progress until `done`, which is called under the lock; false: timeout after `patience`.
  template <class Done>
  bool wait(std::chrono::milliseconds patience, Done done) {
    const auto end = Clock::now() + patience;
    const Waiting waiting(*this);
    for (int looks = 0;; ++looks) {
      {
        const std::lock_guard guard(lock_);
        rethrow();
        if (looks == 0 && done()) return true;  // already done: avoid MPI, which may yield the core
        progress();
        if (done()) return true;
      }
      if (Clock::now() >= end) return false;
      if (looks < kEagerLooks) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(kPauseOfWaiting);
      }
    }
  }

  /// Loop of the progress thread: moves bytes while the caller computes and transfers are pending.
  void help(const std::stop_token& stop) {
    std::unique_lock guard(lock_);
    const auto wanted = [&] {
      return !failure_ && !waiting_ && (lanes_[0].busy() || lanes_[1].busy());
    };
    while (changed_.wait(guard, stop, wanted) && !stop.stop_requested()) {
      try {
        progress();
      } catch (...) {
        failure_ = std::current_exception();
      }
      guard.unlock();
      std::this_thread::sleep_for(kPauseWhileComputing);
      guard.lock();
    }
  }

  const Seat seat_;
  const bool fast_;
  const int exceptions_ = std::uncaught_exceptions();
  std::mutex lock_;  // guards everything below, and MPI itself
  std::array<LaneTraffic, 2> lanes_{LaneTraffic(Lane::kGossip), LaneTraffic(Lane::kControl)};
  std::exception_ptr failure_;
  bool waiting_ = false;
  std::condition_variable_any changed_;
  std::jthread helper_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi(const Arguments& arguments) {
  const bool fast = arguments.choice("allreduce") == 1;
  if (!started_by_mpirun()) {
    throw InvalidArgument(
        "[mpi] this process was not started by mpirun; use mpirun -n 4 hearsay train ..., or "
        "--transport auto for all peers in one process");
  }
  return std::make_unique<Mpi>(fast);
}

}  // namespace hearsay::transport
