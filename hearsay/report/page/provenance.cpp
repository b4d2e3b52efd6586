#include "hearsay/report/page/provenance.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/markup.h"
#include "hearsay/core/spec.h"

namespace hearsay::report {

namespace {

/// For a POSIX shell.
std::string quoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// "2026-11-19T23:58:00Z" as "2026-11-19 23:58 UTC"; other texts as they are.
std::string readable_time(const std::string& time) {
  if (time.size() != 20 || time[10] != 'T' || time.back() != 'Z') return time;
  return fmt::format("{} {} UTC", time.substr(0, 10), time.substr(11, 5));
}

/// The different texts of the runs and their devices under a key, in order.
std::set<std::string> texts_of(std::span<const ShownRun> runs, std::string_view key) {
  std::set<std::string> texts;
  const auto add = [&](const Record& record) {
    if (std::string text = record.text(key); !text.empty()) texts.insert(std::move(text));
  };
  for (const ShownRun& run : runs) {
    add(run.record);
    for (const Device& device : run.devices) add(device.record);
  }
  return texts;
}

std::string some_of(const std::set<std::string>& texts) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> shown(texts.begin(),
                                 std::next(texts.begin(), std::min(texts.size(), kMost)));
  if (texts.size() > kMost) shown.push_back(fmt::format("and {} more", texts.size() - kMost));
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::string heading_of(const train::RunOptions& config) {
  return fmt::format("{} on {}, {} {}peer{}", spec_name(config.algorithm), spec_name(config.data),
                     config.peers, config.timing == "asynchronous" ? "asynchronous " : "",
                     config.peers == 1 ? "" : "s");
}

std::string command_of(const train::RunOptions& config) {
  const train::RunOptions defaults;
  std::string command = "hearsay train";
  for (const train::Option& option : train::options()) {
    const std::string value = option.text(config);
    if (!option.changes_results || value == option.text(defaults)) continue;
    command += fmt::format(" --{} {}", option.key, quoted(value));
  }
  return command;
}

std::string provenance(std::span<const ShownRun> runs) {
  std::string html;
  const auto add = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escape_markup(text));
  };
  if (runs.size() == 1) add("run", runs.front().record.name());
  if (const auto times = texts_of(runs, "ended"); !times.empty()) {
    const std::string first = readable_time(*times.begin()), last = readable_time(*times.rbegin());
    add("ended", first == last ? last : fmt::format("{} to {}", first, last));
  }
  add("host", some_of(texts_of(runs, "host")));
  add("version", some_of(texts_of(runs, "version")));
  return html.empty() ? "" : "<dl class=\"provenance\">\n" + html + "</dl>\n";
}

std::string repeat_part(const ShownRun& run) {
  if (run.place || !run.devices.empty()) return "";
  return fmt::format(
      "<details class=\"repeat\"><summary>Command to repeat</summary><pre>{}</pre></details>\n",
      escape_markup(command_of(run.record.config())));
}

}  // namespace hearsay::report
