#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hearsay/core/bytes.h"
#include "hearsay/run/run.h"

/// Evaluations as TensorBoard reads them: events.out.tfevents.SECONDS.HOST.PID.hearsay.
///
/// Such a file is a sequence of records (TensorFlow's TFRecord), little-endian:
///
///   uint64  n                 length of the data
///   uint32  crc of the 8 bytes before
///   byte[n] data              one Event
///   uint32  crc of the data
///
/// A crc is the CRC-32C (Castagnoli) c of the bytes, masked: (c >> 15 | c << 17) + 0xa282ead8.
/// An Event is a protocol buffer, of which these fields are used (tensorflow/core/util/event.proto
/// and framework/summary.proto); each is its tag, number * 8 + wire type, and its value:
///
///   Event    1 wall_time     double    seconds since 1970
///            2 step          varint    the round
///            3 file_version  bytes     "brain.Event:2", in the first event of a file
///            5 summary       Summary
///            7 session_log   SessionLog
///   Summary  1 value         Value, one for each number
///   Value    1 tag           bytes     the key of metrics.jsonl
///            2 simple_value  float     NaN for null
///   SessionLog 1 status      varint    1: START; TensorBoard then drops what it has of this step
///   on
namespace hearsay::run {

/// The masked crc of a record.
std::uint32_t masked_crc32c(ByteView bytes);

/// A record of an event with these numbers.
Bytes event_record(double wall_time, std::uint64_t step,
                   std::span<const std::pair<std::string, double>> values);

/// Forwards all calls to another observer, and keeps an event file in the run directory that has
/// the numbers of every line of metrics.jsonl (lists are left out). When the run starts or goes on,
/// a new file is written from those lines and replaces the older ones: so it never has evaluations
/// that the run went back behind, and may be turned on in the middle of a run. The time of an event
/// is that of the file, plus the seconds that were trained since.
///
/// On ranks other than 0, which write no files, `leads` is false and nothing is written. A file
/// that cannot be written does not end the run: `failed` is called once with the reason, and
/// nothing is logged from then on.
class TensorBoardLog : public Observer {
 public:
  using Failed = std::function<void(const std::string&)>;

  /// `directory` is the run's, known when it starts. All outlive this object.
  TensorBoardLog(Observer& next, const std::filesystem::path& directory, bool leads, Failed failed)
      : next_(next), directory_(directory), leads_(leads), failed_(std::move(failed)) {}

  void waiting() override { next_.waiting(); }
  void started(const train::RunView& run, const train::RunOptions& config) override;
  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override {
    next_.resumed(round, damaged);
  }
  void progressed(const train::RunView& run) override { next_.progressed(run); }
  void evaluated(const train::RunView& run, const train::Metrics& metrics) override;
  bool stop_requested() override { return next_.stop_requested(); }

 private:
  void begin();
  void add_line(std::string_view line, Bytes& out) const;
  void write(const Bytes& records);

  Observer& next_;
  const std::filesystem::path& directory_;
  bool leads_;
  Failed failed_;
  std::filesystem::path file_;  ///< empty: nothing is logged
  double begin_ = 0;            ///< the time at which 0 seconds were trained
};

}  // namespace hearsay::run
