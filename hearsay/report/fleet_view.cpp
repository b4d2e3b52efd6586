#include "hearsay/report/fleet_view.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"
#include "hearsay/run/json_file.h"

namespace hearsay::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kDeepestOfEvent = 2;

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

/// At most so many bytes, without half a character. The text is UTF-8.
std::string shortened(const std::string& text) {
  if (text.size() <= FleetView::kMostText) return text;
  std::size_t end = FleetView::kMostText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string field_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? "" : shortened(found->get<std::string>());
}

double field_number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number() ? FleetMember::kNone : found->get<double>();
}

void read_members(const fs::path& file, FleetView& view) {
  std::error_code error;
  if (const auto size = fs::file_size(file, error); !error && size > FleetView::kMostFileBytes) {
    throw CorruptData(fmt::format("[report] {} has more than {} bytes", file.string(),
                                  FleetView::kMostFileBytes));
  }
  const Json json = run::read_json_file(file, "report");
  const double time = field_number(json, "time");
  if (std::isfinite(time)) view.time = time;
  const std::string self = field_text(json, "self");
  const auto peers = json.find("peers");
  if (peers == json.end() || !peers->is_array()) {
    throw CorruptData(fmt::format("[report] {}: it has no list of peers", file.string()));
  }
  for (const Json& peer : *peers) {
    if (!peer.is_object() || view.members.size() == FleetView::kMostMembers) continue;
    FleetMember member{.name = field_text(peer, "name"), .status = field_text(peer, "status")};
    member.self = !self.empty() && member.name == self;
    const auto live = peer.find("live");
    member.live = live != peer.end() && live->is_boolean() && live->get<bool>();
    for (const auto& [key, value] :
         {std::pair("heard_seconds_ago", &member.heard), std::pair("rounds", &member.rounds),
          std::pair("rate", &member.rate), std::pair("push_sum", &member.push_sum),
          std::pair("loss", &member.loss), std::pair("score", &member.score),
          std::pair("bytes", &member.bytes)}) {
      *value = field_number(peer, key);
    }
    view.members.push_back(std::move(member));
  }
}

/// The last bytes of a file, from the beginning of a line.
std::string end_of(const fs::path& file) {
  InputFile in;
  if (!in.open(file).empty() || in.size() == 0) return "";
  std::string text(std::min<std::uint64_t>(in.size(), FleetView::kMostEventBytes), '\0');
  const std::uint64_t from = in.size() - text.size();
  in.seek(from);
  text.resize(in.read(text.data(), text.size()));
  if (from > 0 && !text.empty()) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

/// Whole lines only: the last may still be written.
void read_events(const fs::path& file, FleetView& view) {
  const std::string text = end_of(file);
  const auto is_shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= kDeepestOfEvent;
  };
  std::size_t others = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const Json line =
        Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                    text.begin() + static_cast<std::ptrdiff_t>(end), is_shallow, false);
    FleetEvent event;
    if (line.is_object()) event = {field_number(line, "time"), "", field_text(line, "event")};
    if (std::isfinite(event.time) && !event.event.empty()) {
      view.events.push_back(std::move(event));
    } else {
      ++others;
    }
  }
  std::ranges::reverse(view.events);
  if (view.events.size() > FleetView::kMostEvents) view.events.resize(FleetView::kMostEvents);
  if (others > 0) {
    view.problems.push_back(
        fmt::format("[report] {}: {} of its last lines hold no event", file.string(), others));
  }
}

}  // namespace

FleetView read_fleet_view(const fs::path& run) {
  FleetView view;
  const auto read = [&](const fs::path& file, const auto& how) {
    if (!is_there(file)) return;
    try {
      how(file, view);
    } catch (const std::exception& error) {
      view.problems.emplace_back(message_of(error));
    }
  };
  read(run / "fleet.json", read_members);
  read(run / "events.jsonl", read_events);
  return view;
}

std::string time_text(double seconds) {
  constexpr double kLast = 253402300799;  // of the year 9999
  if (!(seconds >= 0 && seconds <= kLast)) return "-";
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (::gmtime_r(&whole, &parts) == nullptr) return "-";
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string visible(std::string text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    const unsigned next = k + 1 < text.size() ? static_cast<unsigned char>(text[k + 1]) : 0;
    if (byte < 0x20 || byte == 0x7F) text[k] = '?';
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) text.replace(k, 2, "?");  // U+0080 .. U+009F
  }
  return text;
}

}  // namespace hearsay::report
