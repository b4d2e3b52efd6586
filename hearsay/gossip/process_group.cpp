#include "hearsay/gossip/process_group.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/gossip/host_rows.h"
#include "hearsay/gossip/ledger.h"
#include "hearsay/gossip/stopwatch.h"

namespace hearsay::gossip {

namespace {

/// The type of exception a process threw. AlreadyExists is an InvalidArgument that callers handle.
enum class Kind : std::uint8_t { kNothing, kMistake, kTaken, kCorrupt, kFailed, kNotFinite };

Kind kind_of(const std::exception& error) {
  if (dynamic_cast<const AlreadyExists*>(&error) != nullptr) return Kind::kTaken;
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr) return Kind::kMistake;
  if (dynamic_cast<const CorruptData*>(&error) != nullptr) return Kind::kCorrupt;
  if (dynamic_cast<const NotFinite*>(&error) != nullptr) return Kind::kNotFinite;
  return Kind::kFailed;
}

[[noreturn]] void throw_again(Kind kind, const std::string& text) {
  switch (kind) {
    case Kind::kTaken:
      throw AlreadyExists(text);
    case Kind::kMistake:
      throw InvalidArgument(text);
    case Kind::kCorrupt:
      throw CorruptData(text);
    case Kind::kNotFinite:
      throw NotFinite(text);
    default:
      throw RunFailed(text);
  }
}

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace

ProcessGroup::ProcessGroup(transport::Transport& transport, transport::Idle idle)
    : transport_(transport), idle_(std::move(idle)), collectives_(transport, idle_) {}

void ProcessGroup::agree(const std::function<void()>& body) {
  if (alone()) return body();
  failed_together_ = false;
  Bytes message(1, static_cast<std::uint8_t>(Kind::kNothing));
  try {
    body();
  } catch (const std::exception& error) {
    message = bytes_of(message_of(error));
    message.insert(message.begin(), static_cast<std::uint8_t>(kind_of(error)));
  }
  const std::vector<Bytes> all = collectives_.all_gather(message);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto kind = static_cast<Kind>(all[p].front());
    if (kind == Kind::kNothing) continue;
    failed_together_ = true;
    const std::string text(all[p].begin() + 1, all[p].end());
    throw_again(kind, p == 0 ? text : fmt::format("process {}: {}", p, text));
  }
}

Bytes ProcessGroup::ask_process_0(const std::function<Bytes()>& body) {
  Bytes given;
  agree([&] {
    if (leads()) given = body();
  });
  return collectives_.broadcast(given);
}

void ProcessGroup::agree_on(std::string_view what, std::string_view text) {
  failed_together_ = false;
  const std::vector<Bytes> all = collectives_.all_gather(bytes_of(text));
  const auto other = std::ranges::find_if(all, [&](const Bytes& one) { return one != all[0]; });
  if (other == all.end()) return;
  failed_together_ = true;
  throw InvalidArgument(
      fmt::format("[transport] process {} has another {} than process 0; start "
                  "the same program with the same settings everywhere",
                  other - all.begin(), what));
}

bool ProcessGroup::any(bool mine) {
  const std::vector<Bytes> all = collectives_.all_gather(Bytes{std::uint8_t{mine}});
  return std::ranges::any_of(all, [](const Bytes& one) { return one.front() != 0; });
}

void GroupCollective::mean(backend::Block rows) {
  if (group_.alone()) return kernels_.mean_rows(rows);
  const Stopwatch stopwatch(waited_);
  const HostRows own(kernels_, rows);
  mean_.resize(rows.dim);
  if (is_fast_) {
    for (std::size_t k = 0; k < rows.dim; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < rows.rows; ++i) sum += static_cast<double>(own.row(i)[k]);
      mean_[k] = static_cast<float>(sum / static_cast<double>(placement_.peers));
    }
    is_fast_ = group_.transport().fast_sum(mean_);
  }
  if (!is_fast_) group_.collectives().mean(placement_, own.floats(), mean_);
  for (std::size_t i = 0; i < rows.rows; ++i) kernels_.upload(mean_, rows, i);
}

double GroupCollective::mean(std::span<const double> values) {
  const Stopwatch stopwatch(waited_);
  Bytes mine;
  append(mine, values);
  double sum = 0;
  for (const Bytes& one : group_.collectives().all_gather(mine)) {
    ByteReader reader(one, "values of peers");
    while (reader.left() > 0) sum += reader.read<double>();
  }
  return sum / static_cast<double>(placement_.peers);
}

}  // namespace hearsay::gossip
