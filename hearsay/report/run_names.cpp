#include "hearsay/report/run_names.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/spec.h"

namespace hearsay::report {

namespace {

/// The options in whose values a parameter may differ alone, the most telling ones first.
constexpr std::string_view kSpecs[] = {"algorithm", "compressor", "graph",     "model",
                                       "data",      "partition",  "optimizer", "loss"};

/// A part of a setting: the name of a spec, one of its parameters, or the value of an option.
struct SettingPart {
  std::string key;    ///< "compressor", "compressor keep", "lr"
  std::string text;   ///< "topk", "keep=0.01", "lr=0.1"
  bool kept = false;  ///< shown whenever it differs
};

std::vector<SettingPart> parts_of(const train::RunOptions& config) {
  std::vector<SettingPart> parts;
  const auto options = train::options();
  for (const std::string_view key : kSpecs) {
    const auto option = std::ranges::find(options, key, &train::Option::key);
    const std::string value = option->text(config);
    const std::string name(spec_name(value));
    const bool main = key == "algorithm" || key == "compressor";
    parts.push_back({std::string(key), name, key == "algorithm"});
    std::string rest = value.size() > name.size() ? value.substr(name.size() + 1) : "";
    for (std::size_t place = 0; !rest.empty(); ++place) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      const std::string argument = rest.substr(0, end);
      const std::size_t equals = argument.find('=');
      const std::string of =
          equals == std::string::npos ? fmt::format("{}", place) : argument.substr(0, equals);
      parts.push_back({fmt::format("{} {}", key, of), argument, main});
      rest.erase(0, std::min(end + 1, rest.size()));
    }
  }
  for (const train::Option& option : options) {
    if (!option.changes_results || option.key == "seed") continue;
    if (std::ranges::find(kSpecs, option.key) != std::end(kSpecs)) continue;
    parts.push_back(
        {std::string(option.key), fmt::format("{}={}", option.key, option.text(config))});
  }
  return parts;
}

/// Names made of those parts whose keys are in `shown`, in its order.
std::vector<std::string> join(const std::vector<std::vector<SettingPart>>& all,
                              const std::vector<std::string>& shown) {
  std::vector<std::string> names;
  for (const std::vector<SettingPart>& parts : all) {
    std::vector<std::string> words;
    for (const std::string& key : shown) {
      const auto found = std::ranges::find(parts, key, &SettingPart::key);
      if (found != parts.end()) words.push_back(found->text);
    }
    names.push_back(fmt::format("{}", fmt::join(words, " ")));
  }
  return names;
}

std::size_t number_of_different(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()).size();
}

}  // namespace

std::string setting_of(const train::RunOptions& config) {
  std::string text;
  for (const train::Option& option : train::options()) {
    if (!option.changes_results || option.key == "seed") continue;
    text += fmt::format("{}={}\n", option.key, option.text(config));
  }
  return text;
}

std::vector<std::string> names_of(std::span<const train::RunOptions> configs) {
  std::vector<std::vector<SettingPart>> all;
  std::vector<std::string> keys;  // in the order of importance
  std::set<std::string> kept;
  for (const train::RunOptions& config : configs) {
    all.push_back(parts_of(config));
    for (const SettingPart& part : all.back()) {
      if (std::ranges::count(keys, part.key) == 0) keys.push_back(part.key);
      if (part.kept) kept.insert(part.key);
    }
  }
  std::erase_if(keys,
                [&](const std::string& key) { return number_of_different(join(all, {key})) <= 1; });
  // The parameters of a spec come after those of the same spec in other settings.
  std::ranges::stable_sort(keys, {}, [](const std::string& key) {
    const auto spec = std::ranges::find(kSpecs, key.substr(0, key.find(' ')));
    return spec - std::begin(kSpecs);
  });
  const std::size_t wanted = number_of_different(join(all, keys));
  for (std::size_t k = keys.size(); k-- > 0;) {
    std::vector<std::string> fewer = keys;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    if (kept.contains(keys[k])) continue;
    if (number_of_different(join(all, fewer)) == wanted) keys = std::move(fewer);
  }
  std::vector<std::string> names = join(all, keys);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) continue;
    // All parts by which it differs are missing in it: "topk" beside "topk:keep=0.1".
    const std::string key =
        keys.empty() ? "algorithm" : keys.front().substr(0, keys.front().find(' '));
    names[i] = std::ranges::find(all[i], key, &SettingPart::key)->text;
  }
  return names;
}

}  // namespace hearsay::report
