#include "hearsay/live/events.h"

#include <charconv>

#include <fmt/format.h>

namespace hearsay::live {

namespace {

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return {};
  return value;
}

}  // namespace

Events::Events(const std::filesystem::path& metrics, const std::string& last_id)
    : tail_(metrics, number(last_id)) {}

std::string Events::next(const Feed::State& state) {
  if (ended_) return "";
  std::string text;
  const bool unread = changes_ != state.changes || state.ended || !tail_.at_end();
  const Tail::News news = unread ? tail_.poll() : Tail::News{};
  changes_ = state.changes;
  if (news.reset) text += "event: reset\ndata: null\n\n";
  for (const Tail::Line& line : news.lines) {
    text += fmt::format("id: {}\nevent: line\ndata: {}\n\n", line.end, line.text);
  }
  if (state.progress != progress_) {
    progress_ = state.progress;
    text += fmt::format("event: progress\ndata: {}\n\n", progress_);
  }
  if (state.fleet != fleet_) {
    fleet_ = state.fleet;
    text += fmt::format("event: fleet\ndata: {}\n\n", *fleet_);
  }
  // The state is older than the poll: if it says that the run has ended, the last line was already
  // written.
  if (state.ended && tail_.at_end()) {
    text += "event: end\ndata: null\n\n";
    ended_ = true;
  }
  return text;
}

}  // namespace hearsay::live
