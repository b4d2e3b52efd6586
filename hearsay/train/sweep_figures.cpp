#include "hearsay/train/sweep_figures.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/train/json_file.h"
#include "hearsay/train/metrics.h"

namespace hearsay::train {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBadLines = 20;

/// Bytes over edge_rounds, or 4 d over that.
struct Ratio {
  std::string_view name;
  const char *bytes, *in_summary;  ///< what is counted, and its name over edge_rounds
  bool factor;
};
constexpr std::array<Ratio, 4> kRatios{{
    {"bytes_per_edge_round", "bytes_total", "bytes_per_edge_round", false},
    {"paper_bytes_per_edge_round", "paper_bytes_total", "paper_bytes_per_edge_round", false},
    {"compression_factor", "bytes_total", "bytes_per_edge_round", true},
    {"paper_compression_factor", "paper_bytes_total", "paper_bytes_per_edge_round", true},
}};

std::optional<double> number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return {};
  return found->get<double>();
}

std::uint64_t round_of(const Json& line) {
  return static_cast<std::uint64_t>(number_of(line, "round").value_or(0));
}

}  // namespace

std::vector<std::string> figure_keys() {
  Metrics all;
  all.accuracy_mean = all.accuracy_min = all.accuracy_max = all.accuracy_of_average = 0;
  all.validation_loss = all.validation_loss_of_average = 0;
  all.validation_accuracy_mean = all.validation_accuracy_of_average = 0;
  all.distance_to_optimum = all.distance_of_average = all.simulated_seconds = 0;
  std::vector<std::string> keys;
  const auto line = nlohmann::ordered_json::parse(to_json_line(all));
  for (const auto& [key, value] : line.items()) {
    if (value.is_number()) keys.push_back(key);
  }
  for (const Ratio& ratio : kRatios) keys.emplace_back(ratio.name);
  return keys;
}

Curve::Curve(const std::filesystem::path& run) {
  summary_.push_back(read_json_file(run / "summary.json", "sweep"));
  const std::filesystem::path path = run / "metrics.jsonl";
  std::ifstream in(path, std::ios::binary);
  std::size_t number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (in.eof() && !Json::accept(text)) break;  // it is being written
    take(text, fmt::format("[sweep] {}, line {}", path.string(), number));
  }
  if (lines_.empty()) {
    throw CorruptData(problems_.empty() ? fmt::format("[sweep] {} is empty", path.string())
                                        : problems_.front());
  }
  if (problems_.size() > kMostBadLines) {
    throw CorruptData(
        fmt::format("{}; {} lines are like that, and more than {} are not passed over",
                    problems_.front(), problems_.size(), kMostBadLines));
  }
}

void Curve::take(const std::string& text, const std::string& where) {
  Json line = Json::parse(text, nullptr, false);
  const auto round = line.is_object() ? number_of(line, "round") : std::nullopt;
  std::string wrong;
  if (!line.is_object()) {
    wrong = "it is no JSON object";
  } else if (!round || *round < 0) {
    wrong = "it has no round";
  } else if (!lines_.empty() && *round < static_cast<double>(last_round())) {
    wrong = fmt::format("round {} stands behind round {}", *round, last_round());
  }
  if (wrong.empty()) {
    lines_.push_back(std::move(line));
  } else {
    problems_.push_back(fmt::format("{}: {}", where, wrong));
  }
}

Curve::~Curve() = default;
Curve::Curve(Curve&&) noexcept = default;

std::uint64_t Curve::last_round() const { return round_of(lines_.back()); }

/// Final rounds take no gradient: where the summary does not tell, the epoch stands still from the
/// last round of training on.
std::uint64_t Curve::trained_round() const {
  if (const auto told = number_of(summary_.front(), "training_rounds")) {
    return static_cast<std::uint64_t>(*told);
  }
  const auto epoch = number_of(lines_.back(), "epoch");
  const auto still = [&](const Json& line) { return number_of(line, "epoch") == epoch; };
  return round_of(*std::ranges::find_if(lines_, still));
}

std::optional<double> Curve::ratio(const Json& line, const std::string& key) const {
  const auto* ratio = std::ranges::find(kRatios, key, &Ratio::name);
  const auto edge_rounds = number_of(line, "edge_rounds"), bytes = number_of(line, ratio->bytes);
  double per_edge = 0;
  if (edge_rounds && bytes) {
    per_edge = *edge_rounds > 0 ? *bytes / *edge_rounds : 0;
  } else if (&line == &lines_.back()) {  // lines of older runs say less than their summary
    const auto told = number_of(summary_.front(), ratio->in_summary);
    if (!told) return {};
    per_edge = *told;
  } else {
    return {};
  }
  if (!ratio->factor) return per_edge;
  const auto dim = number_of(summary_.front(), "dim");
  if (!dim || per_edge == 0) return {};
  return 4 * *dim / per_edge;
}

std::optional<double> Curve::number(const Json& line, const std::string& key) const {
  const bool is_ratio = std::ranges::find(kRatios, key, &Ratio::name) != kRatios.end();
  return is_ratio ? ratio(line, key) : number_of(line, key.c_str());
}

std::optional<double> Curve::value(const Figure& figure) const {
  switch (figure.at) {
    case Figure::At::kRound:
      return value(figure, figure.round);
    case Figure::At::kTrained:
      return value(figure, trained_round());
    case Figure::At::kEnd:
      break;
  }
  return value(figure, last_round());
}

std::optional<double> Curve::value(const Figure& figure, std::uint64_t round) const {
  double sum = 0;
  std::size_t count = 0;
  for (const Json& line : lines_) {
    const std::uint64_t at = round_of(line);
    const bool within = at == round || (at < round && at + figure.window > round);
    if (!within || (at == 0 && round > 0)) continue;
    const auto one = number(line, figure.key);
    if (!one) return {};
    sum += figure.squared ? *one * *one : *one;
    ++count;
  }
  if (count == 0) return {};
  return figure.scale * sum / static_cast<double>(count);
}

}  // namespace hearsay::train
