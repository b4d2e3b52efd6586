#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "hearsay/graph/facts.h"
#include "hearsay/graph/spectrum/fourier.h"
#include "hearsay/graph/spectrum/spectrum.h"

namespace hearsay::graph {

namespace {

using Complex = std::complex<double>;

/// Equal up to the rounding of 1 - sum of the out-edges.
bool same(double a, double b) { return std::abs(a - b) < 1e-13; }

/// Peer r * columns + c of the group Z_rows x Z_columns.
struct Group {
  std::size_t rows = 1, columns = 1;

  std::size_t difference(std::size_t a, std::size_t b) const {
    const std::size_t row = (a / columns + rows - b / columns) % rows;
    const std::size_t column = (a % columns + columns - b % columns) % columns;
    return row * columns + column;
  }
};

/// Whether W[i][j] depends only on the difference of i and j in the group.
bool invariant(const Weights& weights, Group group) {
  const std::size_t n = weights.peers(), degree = weights.out_of(0).size();
  std::vector<double> column(n, 0);
  column[0] = weights.self(0);
  for (const Edge& edge : weights.out_of(0)) column[edge.receiver] = edge.weight;
  for (std::size_t j = 0; j < n; ++j) {
    if (weights.out_of(j).size() != degree || !same(weights.self(j), column[0])) return false;
    for (const Edge& edge : weights.out_of(j)) {
      const double expected = column[group.difference(edge.receiver, j)];
      if (!same(edge.weight, expected)) return false;
    }
  }
  return true;
}

std::optional<Group> find_group(std::span<const Weights> period) {
  const std::size_t n = period.front().peers();
  for (std::size_t rows = 1; rows <= n; ++rows) {
    if (n % rows != 0) continue;
    const Group group{rows, n / rows};
    const auto fits = [&](const Weights& weights) { return invariant(weights, group); };
    if (std::ranges::all_of(period, fits)) return group;
  }
  return std::nullopt;
}

std::vector<Complex> roots_of_unity(std::size_t count) {
  std::vector<Complex> roots(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double turn = static_cast<double>(k) / static_cast<double>(count);
    roots[k] = std::polar(1.0, -2 * std::numbers::pi * turn);
  }
  return roots;
}

/// sum_d terms(d) exp(-2 pi i (r d_r / rows + c d_c / columns)) at all frequencies r * columns + c,
/// with the terms given sparsely as (d, value).
std::vector<Complex> transform(Group group, std::span<const std::pair<std::size_t, double>> terms) {
  const auto row_roots = roots_of_unity(group.rows), column_roots = roots_of_unity(group.columns);
  std::vector<Complex> values(group.rows * group.columns);
  for (std::size_t f = 0; f < values.size(); ++f) {
    const std::size_t r = f / group.columns, c = f % group.columns;
    Complex sum = 0;
    for (const auto& [d, value] : terms) {
      const Complex row = row_roots[r * (d / group.columns) % group.rows];
      sum += value * row * column_roots[c * (d % group.columns) % group.columns];
    }
    values[f] = sum;
  }
  return values;
}

/// The same of x, whose terms are dense.
std::vector<Complex> transform_all(Group group, std::span<const double> x) {
  std::vector<Complex> values(x.begin(), x.end());
  Fourier along_rows(group.columns), along_columns(group.rows);
  for (std::size_t r = 0; r < group.rows; ++r) {
    along_rows.transform(std::span(values).subspan(r * group.columns, group.columns));
  }
  std::vector<Complex> column(group.rows);
  for (std::size_t c = 0; c < group.columns && group.rows > 1; ++c) {
    for (std::size_t r = 0; r < group.rows; ++r) column[r] = values[r * group.columns + c];
    along_columns.transform(column);
    for (std::size_t r = 0; r < group.rows; ++r) values[r * group.columns + c] = column[r];
  }
  return values;
}

std::vector<Complex> eigenvalues(const Weights& weights, Group group) {
  std::vector<std::pair<std::size_t, double>> terms{{0, weights.self(0)}};
  for (const Edge& edge : weights.out_of(0)) terms.emplace_back(edge.receiver, edge.weight);
  return transform(group, terms);
}

}  // namespace

std::optional<Circulants> Circulants::of(std::span<const Weights> period) {
  const std::optional<Group> group = find_group(period);
  if (!group) return std::nullopt;
  Circulants found;
  found.rows_ = group->rows;
  found.columns_ = group->columns;
  std::vector<double> product(period.front().peers(), 1.0);
  for (const Weights& weights : period) {
    const std::vector<Complex> values = eigenvalues(weights, *group);
    for (std::size_t f = 0; f < values.size(); ++f) {
      product[f] *= std::abs(values[f]);
      found.smallest_real_part_ = std::min(found.smallest_real_part_, values[f].real());
    }
    found.moduli_.push_back(product);
  }
  return found;
}

Spectrum Circulants::spectrum() const {
  const std::vector<double>& moduli = moduli_.back();
  const double second = *std::max_element(moduli.begin() + 1, moduli.end());
  return {.rho = second, .second_modulus = second};  // normal matrices: singular values are moduli
}

std::size_t Circulants::rounds_to_average(std::span<const double> x, double tolerance) const {
  const std::vector<Complex> waves = transform_all({rows_, columns_}, x);
  std::vector<double> decay;  // of a wave's energy in one period, as a logarithm
  for (const double modulus : moduli_.back()) decay.push_back(2 * std::log(modulus));

  // n |x - mean|^2 after `round` rounds.
  const auto energy = [&](std::size_t round) {
    const auto periods = static_cast<double>(round / moduli_.size());
    const std::size_t rest = round % moduli_.size();
    double sum = 0;
    for (std::size_t f = 1; f < waves.size(); ++f) {
      const double kept = periods == 0 ? 1 : std::exp(periods * decay[f]);
      const double modulus = rest == 0 ? 1 : moduli_[rest - 1][f];
      sum += std::norm(waves[f]) * kept * modulus * modulus;
    }
    return sum;
  };
  const double target = energy(0) * tolerance * tolerance;
  std::size_t low = 0, high = 1;  // the energy never grows, so the rounds can be bisected
  while (energy(high) > target) {
    if (high >= Facts::kNever) return Facts::kNever;
    low = std::exchange(high, 2 * high);
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (energy(middle) > target ? low : high) = middle;
  }
  return high;
}

}  // namespace hearsay::graph
