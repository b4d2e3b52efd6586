#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "hearsay/train/metrics.h"
#include "support/scratch.h"

namespace hearsay::train {
namespace {

using Fields = std::set<std::string>;

/// Every field that a line can have. Those that are built from a metric's key are KEY_mean, ...
Fields written_fields() {
  const engine::Metric any{.key = "KEY"};
  Metrics m;
  for (const engine::Metric& metric : {any, engine::kDistance}) {
    m.results.push_back({.metric = metric,
                         .mean = 1,
                         .min = 1,
                         .max = 1,
                         .averaged = 1,
                         .by_peer = {1},
                         .validation_mean = 1,
                         .validation_averaged = 1});
  }
  m.validation_loss = m.validation_loss_of_average = m.simulated_seconds = 1;
  m.push_sum = {1};
  m.asynchronous = {.live = 1,
                    .staleness = 1,
                    .skipped = 1,
                    .taken_back = 1,
                    .settled = 1,
                    .wire_bytes = 1,
                    .rates_min = 1,
                    .rates_max = 1,
                    .rates = {1}};
  Fields fields;
  const nlohmann::json line = nlohmann::json::parse(to_json_line(m, true));
  for (const auto& [key, value] : line.items()) {
    fields.insert(key);
  }
  const engine::MetricKeys keys = engine::keys_of(engine::kDistance);
  for (const std::string& key : {keys.min, keys.max, keys.averaged, keys.by_peer,
                                 keys.validation_mean, keys.validation_averaged}) {
    fields.erase(key);  // like KEY; the mean has a name of its own
  }
  return fields;
}

/// The names in the first column of the table of fields in docs/run_directory.md.
Fields documented_fields() {
  const std::string text =
      support::read_text(std::filesystem::path(HEARSAY_SOURCE) / "docs/run_directory.md");
  const std::size_t begin = text.find("| field | what | unit |");
  EXPECT_NE(begin, std::string::npos);
  std::istringstream lines(text.substr(begin, text.find("\n\n", begin) - begin));
  Fields fields;
  const std::regex name("`([^`]+)`");
  for (std::string line; std::getline(lines, line);) {
    const std::string first = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(first.begin(), first.end(), name), end; at != end; ++at) {
      EXPECT_TRUE(fields.insert((*at)[1]).second) << (*at)[1] << " twice";
    }
  }
  return fields;
}

TEST(MetricsDocs, NameEveryFieldThatIsWrittenAndNoOther) {
  EXPECT_EQ(documented_fields(), written_fields());
}

}  // namespace
}  // namespace hearsay::train
