#include "hearsay/run/tensorboard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>

#include "support/scratch.h"
#include "support/world.h"

namespace hearsay::run {
namespace {

namespace fs = std::filesystem;

/// An event as the format defines it, read without any of the writer's code.
struct LoggedEvent {
  double wall_time = 0;
  std::uint64_t step = 0;
  std::string file_version;
  std::optional<std::uint64_t> session;
  std::map<std::string, float> values;
};

/// CRC-32C by its definition, one bit at a time: division by x^32 + x^28 + ... in GF(2).
std::uint32_t crc_by_definition(std::string_view bytes) {
  std::uint32_t rest = 0xffffffff;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool odd = ((rest ^ (static_cast<std::uint8_t>(c) >> bit)) & 1) != 0;
      rest >>= 1;
      if (odd) rest ^= 0x82f63b78;
    }
  }
  return rest ^ 0xffffffff;
}
std::uint32_t masked(std::string_view bytes) {
  const std::uint64_t crc = crc_by_definition(bytes);
  return static_cast<std::uint32_t>((((crc >> 15) | (crc << 17)) + 0xa282ead8ULL) & 0xffffffff);
}

/// The front of a message of protocol buffers.
class ProtoMessage {
 public:
  explicit ProtoMessage(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("a varint without end");
  }
  std::string_view bytes() { return take(varint()); }
  template <class T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw std::runtime_error("the message is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest_;
};

LoggedEvent event_of(std::string_view data) {
  LoggedEvent event;
  for (ProtoMessage message(data); !message.done();) {
    switch (message.varint()) {
      case 1 << 3 | 1:
        event.wall_time = message.fixed<double>();
        break;
      case 2 << 3:
        event.step = message.varint();
        break;
      case 3 << 3 | 2:
        event.file_version = message.bytes();
        break;
      case 5 << 3 | 2:
        for (ProtoMessage summary(message.bytes()); !summary.done();) {
          EXPECT_EQ(summary.varint(), 1u << 3 | 2);
          ProtoMessage value(summary.bytes());
          EXPECT_EQ(value.varint(), 1u << 3 | 2);
          const std::string tag(value.bytes());
          EXPECT_EQ(value.varint(), 2u << 3 | 5);
          EXPECT_TRUE(event.values.emplace(tag, value.fixed<float>()).second) << tag;
          EXPECT_TRUE(value.done());
        }
        break;
      case 7 << 3 | 2: {
        ProtoMessage session(message.bytes());
        EXPECT_EQ(session.varint(), 1u << 3);
        event.session = session.varint();
        EXPECT_TRUE(session.done());
        break;
      }
      default:
        ADD_FAILURE() << "an unknown field";
        return event;
    }
  }
  return event;
}

/// All events of the only event file in a run directory.
std::vector<LoggedEvent> events_in(const fs::path& run) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.find("tfevents") != std::string::npos) files.push_back(entry.path());
  }
  EXPECT_EQ(files.size(), 1u);
  if (files.size() != 1) return {};
  EXPECT_TRUE(files[0].filename().string().starts_with("events.out.tfevents."));
  const std::string text = support::read_text(files[0]);
  std::vector<LoggedEvent> events;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    if (rest.size() < 16) return ADD_FAILURE() << "a cut record", events;
    std::memcpy(&size, rest.data(), 8);
    std::memcpy(&crc, rest.data() + 8, 4);
    EXPECT_EQ(crc, masked(rest.substr(0, 8)));
    if (rest.size() < 16 + size) return ADD_FAILURE() << "a cut record", events;
    std::memcpy(&crc, rest.data() + 12 + size, 4);
    EXPECT_EQ(crc, masked(rest.substr(12, size)));
    events.push_back(event_of(rest.substr(12, size)));
    rest.remove_prefix(16 + size);
  }
  return events;
}

/// Whether the events of a run are the lines of its metrics.jsonl.
void expect_lines(const fs::path& run) {
  const std::vector<LoggedEvent> events = events_in(run);
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events[0].file_version, "brain.Event:2");
  EXPECT_EQ(events[1].session, 1u) << "START";
  EXPECT_EQ(events[1].step, 0u);
  std::ifstream lines(run / "metrics.jsonl");
  std::string line;
  std::size_t k = 2;
  for (; std::getline(lines, line); ++k) {
    ASSERT_LT(k, events.size());
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(events[k].step, json["round"]);
    EXPECT_GE(events[k].wall_time, events[k - 1].wall_time);
    std::size_t numbers = 0;
    for (const auto& [key, value] : json.items()) {
      if (key == "round" || !(value.is_number() || value.is_null())) continue;
      ++numbers;
      ASSERT_TRUE(events[k].values.contains(key)) << key;
      const float logged = events[k].values.at(key);
      if (value.is_null()) {
        EXPECT_TRUE(std::isnan(logged)) << key;
      } else {
        EXPECT_EQ(logged, static_cast<float>(value.get<double>())) << key;
      }
    }
    EXPECT_EQ(events[k].values.size(), numbers);
  }
  EXPECT_EQ(k, events.size());
  EXPECT_GT(k, 3u);
}

struct StopsAfter : Observer {
  std::uint64_t stop, round = 0;
  explicit StopsAfter(std::uint64_t at) : stop(at) {}
  void progressed(const train::RunView& run) override { round = run.round(); }
  bool stop_requested() override { return round >= stop; }
};

class TensorBoard : public ::testing::Test {
 protected:
  static train::RunOptions config() {
    return support::config_of({{"data", "least-squares"}, {"rounds", "20"}, {"evaluate", "5"}});
  }
  void go_on_until(std::uint64_t stop) {
    StopsAfter observer(stop);
    TensorBoardLog log(observer, out_, true, fail_);
    if (fs::exists(out_ / "config.toml")) {
      resume(out_, 1, log);
    } else {
      run(config(), out_, log);
    }
  }
  support::Scratch scratch_;
  const fs::path out_ = scratch_ / "run";
  std::vector<std::string> failures_;
  TensorBoardLog::Failed fail_ = [this](const std::string& why) { failures_.push_back(why); };
};

TEST(MaskedCrc, IsThatOfTheStandardsTestVector) {
  const std::string digits = "123456789";  // RFC 3720: e3069283
  EXPECT_EQ(crc_by_definition(digits), 0xe3069283u);
  EXPECT_EQ(masked_crc32c(Bytes(digits.begin(), digits.end())), masked(digits));
  EXPECT_EQ(masked_crc32c({}), 0xa282ead8u);
}

TEST_F(TensorBoard, HasTheNumbersOfEveryEvaluation) {
  go_on_until(1000);
  expect_lines(out_);
  EXPECT_TRUE(failures_.empty());
}

TEST_F(TensorBoard, OfAResumedRunHasEveryEvaluationOnce) {
  go_on_until(12);
  expect_lines(out_);
  // As after a kill: lines and events that the newest checkpoint does not count, the last of them
  // half written.
  for (const auto& entry : fs::directory_iterator(out_)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("events.")) continue;
    std::ofstream(entry.path(), std::ios::app | std::ios::binary) << std::string(21, '\x07');
  }
  std::ofstream(out_ / "metrics.jsonl", std::ios::app) << R"({"round": 13, "loss": 5})" << '\n';
  go_on_until(1000);
  expect_lines(out_);
}

TEST_F(TensorBoard, MayBeginInTheMiddleOfARun) {
  StopsAfter observer(12);
  run(config(), out_, observer);
  go_on_until(1000);
  expect_lines(out_);
}

TEST_F(TensorBoard, WritesNanForWhatIsNotFinite) {
  const std::pair<std::string, double> values[] = {{"loss", std::nan("")}, {"lr", 0.5}};
  const Bytes record = event_record(1.5, 300, values);
  const std::string_view data(reinterpret_cast<const char*>(record.data()) + 12,
                              record.size() - 16);
  const LoggedEvent event = event_of(data);
  EXPECT_EQ(event.step, 300u) << "two bytes as a varint";
  EXPECT_EQ(event.wall_time, 1.5);
  EXPECT_TRUE(std::isnan(event.values.at("loss")));
  EXPECT_EQ(event.values.at("lr"), 0.5f);
}

TEST_F(TensorBoard, ThatCannotBeWrittenDoesNotEndTheRun) {
  const fs::path nowhere = scratch_ / "nowhere";
  StopsAfter observer(1000);
  TensorBoardLog log(observer, nowhere, true, fail_);
  EXPECT_TRUE(run(config(), out_, log).finished);
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_NE(failures_[0].find("cannot write"), std::string::npos) << failures_[0];
}

TEST_F(TensorBoard, IsWrittenByRankZeroAlone) {
  StopsAfter observer(1000);
  TensorBoardLog log(observer, out_, false, fail_);
  EXPECT_TRUE(run(config(), out_, log).finished);
  for (const auto& entry : fs::directory_iterator(out_)) {
    EXPECT_EQ(entry.path().string().find("tfevents"), std::string::npos);
  }
}

}  // namespace
}  // namespace hearsay::run
