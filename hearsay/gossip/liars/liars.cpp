#include "hearsay/gossip/liars/liars.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"

namespace hearsay::gossip {

namespace {

/// "3+9" as numbers; empty if it is something else.
std::vector<std::uint32_t> numbers_of(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  while (true) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return numbers;
    if (text.front() != '+') return {};
    text.remove_prefix(1);
  }
}

}  // namespace

std::vector<std::uint32_t> liars_of(std::string_view spec, std::size_t peers, std::uint64_t seed) {
  const Arguments arguments = lie_registry().arguments(spec);
  if (arguments.name() == "none") return {};
  std::vector<std::uint32_t> chosen;
  if (arguments.text("at") == "any") {
    std::vector<std::uint32_t> all(peers);
    std::iota(all.begin(), all.end(), 0U);
    const auto count =
        std::min(static_cast<std::size_t>(arguments.integer_in_range("peers")), peers);
    Random random(seed, Purpose::kLies);
    for (std::size_t k = 0; k < count; ++k) std::swap(all[k], all[k + random.below(peers - k)]);
    chosen.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  } else {
    chosen = numbers_of(arguments.text("at"));
    const bool known = std::ranges::all_of(chosen, [&](std::uint32_t k) { return k < peers; });
    if (chosen.empty() || !known) {
      arguments.reject("at", fmt::format("any, or numbers below {} joined by +", peers));
    }
  }
  std::ranges::sort(chosen);
  const auto repeated = std::ranges::unique(chosen);
  chosen.erase(repeated.begin(), repeated.end());
  if (chosen.size() >= peers) {
    throw InvalidArgument(
        fmt::format("[{}] all {} peers lie; leave at least one honest", arguments.name(), peers));
  }
  return chosen;
}

Liars::Liars(std::string_view spec, std::size_t peers, const LieContext& context)
    : lie_(lie_registry().make(spec, context)),
      peers_(liars_of(spec, peers, context.seed)),
      weight_(lie_ ? lie_registry().arguments(spec).number_in_range("weight") : 1) {}

bool Liars::lies(std::uint32_t peer) const { return std::ranges::binary_search(peers_, peer); }

double Liars::tell(const Knowledge& knowledge, std::span<float> x) const {
  lie_->tell(knowledge, x);
  const double claimed = weight_ * knowledge.own.u;
  if (claimed != 1) {
    for (float& value : x) value = static_cast<float>(claimed * static_cast<double>(value));
  }
  return claimed;
}

void Liars::rewrite(std::uint32_t round, algorithm::Exchange& exchange, ThreadPool& pool,
                    std::size_t dim) {
  auto& vectors = exchange.vectors[0];
  const auto rows = static_cast<std::uint32_t>(exchange.debit.size());
  const auto said = [&](std::uint32_t peer) {
    return Said{{vectors[peer].dense, dim},
                exchange.push_sum.empty() ? 1 : exchange.push_sum[peer]};
  };
  std::vector<Said> honest;
  for (std::uint32_t peer = 0; peer < rows; ++peer) {
    if (!lies(peer)) honest.push_back(said(peer));
  }
  told_.resize(peers_.size());
  std::vector<double> claimed(peers_.size());
  pool.run(peers_.size(), [&](std::size_t k) {
    told_[k].resize(dim);
    claimed[k] = tell({.liar = peers_[k], .round = round, .own = said(peers_[k]), .honest = honest},
                      told_[k]);
  });
  const auto first = static_cast<std::uint32_t>(vectors.size());
  for (std::size_t k = 0; k < peers_.size(); ++k) {
    vectors.push_back({told_[k].data()});
    exchange.sender.push_back(peers_[k]);
    if (!exchange.push_sum.empty()) exchange.push_sum.push_back(claimed[k]);
  }
  for (std::uint32_t& source : exchange.source) {
    const auto liar = std::ranges::lower_bound(peers_, source);
    if (liar == peers_.end() || *liar != source) continue;
    source = first + static_cast<std::uint32_t>(liar - peers_.begin());
  }
}

}  // namespace hearsay::gossip
