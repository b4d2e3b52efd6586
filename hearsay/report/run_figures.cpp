#include "hearsay/report/run_figures.h"

#include <algorithm>
#include <cmath>

#include "hearsay/sweep/sweep_figures.h"

namespace hearsay::report {

namespace {

using sweep::Figure;

std::optional<double> number(const Record& record, std::string_view key, std::size_t line) {
  const auto column = record.columns().figure(key);
  if (column.empty() || !std::isfinite(column[line])) return {};
  return column[line];
}

std::optional<double> ratio(const Record& record, const sweep::Ratio& ratio, std::size_t line) {
  const auto edge_rounds = number(record, "edge_rounds", line);
  const auto bytes = number(record, ratio.bytes, line);
  if (!edge_rounds || !bytes) return {};
  const double per_edge = *edge_rounds > 0 ? *bytes / *edge_rounds : 0;
  if (!ratio.factor) return per_edge;
  const auto dim = record.figure("dim");
  if (!dim || per_edge == 0) return {};
  return 4 * *dim / per_edge;
}

}  // namespace

std::optional<std::uint64_t> round_of(const Record& record, const Figure& figure) {
  if (figure.at == Figure::At::kRound) return figure.round;
  const auto rounds = record.columns().figure("round");
  const double round = figure.at == Figure::At::kTrained
                           ? record.figure("training_rounds").value_or(-1)
                       : rounds.empty() ? -1
                                        : rounds.back();
  if (!(round >= 0 && round < 0x1p63)) return {};
  return static_cast<std::uint64_t>(round);
}

std::optional<double> figure_at(const Record& record, const Figure& figure, std::uint64_t round) {
  const auto rounds = record.columns().figure("round");  // ascending
  const double end = static_cast<double>(round);
  const auto first =
      figure.window > 0
          ? std::ranges::upper_bound(
                rounds, std::max(end - static_cast<double>(figure.window), end > 0 ? 0.0 : -1.0))
          : std::ranges::lower_bound(rounds, end);
  const auto last = std::ranges::upper_bound(rounds, end);
  if (first >= last) return {};
  if (std::ranges::find(sweep::run_keys(), figure.key) != sweep::run_keys().end()) {
    const auto one = record.figure(figure.key);
    if (!one || !std::isfinite(*one)) return {};
    return figure.scale * (figure.squared ? *one * *one : *one);
  }
  const auto known = sweep::ratios();
  const auto as_ratio = std::ranges::find(known, figure.key, &sweep::Ratio::name);
  double sum = 0;
  for (auto at = first; at != last; ++at) {
    const auto line = static_cast<std::size_t>(at - rounds.begin());
    const auto one =
        as_ratio == known.end() ? number(record, figure.key, line) : ratio(record, *as_ratio, line);
    if (!one) return {};
    sum += figure.squared ? *one * *one : *one;
  }
  return figure.scale * sum / static_cast<double>(last - first);
}

std::optional<double> figure_of(const Record& record, const Figure& figure) {
  const auto round = round_of(record, figure);
  if (!round) return {};
  return figure_at(record, figure, *round);
}

}  // namespace hearsay::report
