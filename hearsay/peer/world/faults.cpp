#include "hearsay/peer/world/faults.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "hearsay/core/random.h"

namespace hearsay::peer {

namespace {

constexpr Parameter kParameters[] = {
    {"compute", "0.1", "(0, 3600]", "seconds per round of the fastest peer"},
    {"speeds", "1", "[1, 1000]", "how many times as long the slowest peer takes"},
    {"delay", "0", "[0, inf)", "mean seconds that a frame takes"},
    {"loss", "0", "[0, 1)", "probability that a frame is lost"},
    {"duplicate", "0", "[0, 1)", "probability that a frame arrives twice"},
    {"kill", "none", "COUNT@PART", "so many peers die after that part of the run"},
    {"back", "0", "[0, 1]", "after what part of the run they return; 0: never"},
    {"cut", "none", "PART..PART", "between these parts, the halves of the fleet are cut apart"},
};

template <class Number>
std::optional<Number> read_all(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) return {};
  return value;
}

/// "A<between>B"; nullopt if it is not.
template <class First>
std::optional<std::pair<First, double>> read_pair(std::string_view text, std::string_view between) {
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos) return {};
  const auto first = read_all<First>(text.substr(0, at));
  const auto second = read_all<double>(text.substr(at + between.size()));
  if (!first || !second) return {};
  return std::pair(*first, *second);
}

bool is_part(double value) { return value >= 0 && value <= 1; }

/// 0 .. n-1 in random order.
std::vector<std::uint32_t> shuffled(std::size_t n, Random random) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  for (std::size_t k = n; k > 1; --k) std::swap(all[k - 1], all[random.below(k)]);
  return all;
}

// Streams of Purpose::kLink; a network's draws are another (virtual_network.cpp).
constexpr std::uint32_t kSlownesses = 0, kVictims = 1;

}  // namespace

std::span<const Parameter> Faults::parameters() { return kParameters; }

Faults parse_faults(std::string_view keys, std::size_t peers) {
  Faults faults;
  if (keys == "none") return faults;
  const Arguments arguments(fmt::format("link:{}", keys), kParameters);
  faults.compute = arguments.number_in_range("compute");
  faults.speeds = arguments.number_in_range("speeds");
  faults.delay = arguments.number_in_range("delay");
  faults.loss = arguments.number_in_range("loss");
  faults.duplicate = arguments.number_in_range("duplicate");
  faults.back = arguments.number_in_range("back");
  if (arguments.text("kill") != "none") {
    const auto kill = read_pair<std::uint32_t>(arguments.text("kill"), "@");
    if (!kill || kill->first >= peers || !is_part(kill->second)) {
      arguments.reject("kill", fmt::format("COUNT@PART, with COUNT below {} and PART in [0, 1], as "
                                           "in 1@0.3",
                                           peers));
    }
    faults.kill = kill->first;
    faults.kill_at = kill->second;
  }
  if (faults.back > 0 && (faults.kill == 0 || faults.back <= faults.kill_at)) {
    arguments.reject("back", "after the part of kill");
  }
  if (arguments.text("cut") != "none") {
    const auto cut = read_pair<double>(arguments.text("cut"), "..");
    if (!cut || !is_part(cut->first) || !is_part(cut->second) || cut->first >= cut->second) {
      arguments.reject("cut", "PART..PART, ascending in [0, 1], as in 0.4..0.5");
    }
    faults.cut_from = cut->first;
    faults.cut_to = cut->second;
  }
  return faults;
}

std::vector<double> slownesses(const Faults& faults, std::size_t peers, std::uint64_t seed) {
  const auto order = shuffled(peers, Random(seed, Purpose::kLink, kSlownesses));
  std::vector<double> all(peers, 1.0);
  for (std::size_t k = 0; k < peers && peers > 1; ++k) {
    all[order[k]] =
        std::pow(faults.speeds, static_cast<double>(k) / static_cast<double>(peers - 1));
  }
  return all;
}

std::vector<std::uint32_t> victims(const Faults& faults, std::size_t peers, std::uint64_t seed) {
  auto order = shuffled(peers, Random(seed, Purpose::kLink, kVictims));
  order.resize(std::min<std::size_t>(faults.kill, peers));
  std::ranges::sort(order);
  return order;
}

}  // namespace hearsay::peer
