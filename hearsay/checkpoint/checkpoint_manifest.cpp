#include "hearsay/checkpoint/checkpoint_manifest.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"

namespace hearsay::checkpoint {

namespace {

using backend::StateList;
using Kind = Manifest::Kind;

constexpr std::string_view kMagic = "HSCKMF03", kMagicWithoutVersion = "HSCKMF02";

[[noreturn]] void reject(std::string_view path, std::string_view why) {
  throw CorruptData(fmt::format("[checkpoint] {} {}", path, why));
}

ByteView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void append_text(Bytes& out, std::string_view text) {
  append(out, std::uint64_t{text.size()});
  append(out, bytes_of(text));
}

std::string read_text(ByteReader& in) {
  const ByteView bytes = in.take(in.read<std::uint64_t>());
  return {bytes.begin(), bytes.end()};
}

Digest digest_of(ByteView bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.finish();
}

struct Describe {
  using Item = Manifest::Item;
  const std::string& name;

  Item operator()(const backend::Array* rows) const {
    return {name, Kind::kRows, rows->block().dim};
  }
  Item operator()(const backend::RowsAndReplicas& place) const { return (*this)(place.rows); }
  Item operator()(const std::vector<double>* values) const {
    return {name, Kind::kDoubles, values->empty() ? 0u : 1u};
  }
  Item operator()(const std::vector<std::uint64_t>* values) const {
    return {name, Kind::kCounts, values->empty() ? 0u : 1u};
  }
  Item operator()(const std::uint64_t* value) const { return {name, Kind::kCount, *value}; }
  Item operator()(const double* value) const {
    return {name, Kind::kReal, std::bit_cast<std::uint64_t>(*value)};
  }
};

bool is_scalar(Kind kind) { return kind == Kind::kCount || kind == Kind::kReal; }

std::string stem(std::uint64_t round) { return fmt::format("round-{:012}", round); }

}  // namespace

std::string Manifest::name() const { return stem(round) + ".ckpt"; }

std::string Manifest::part_name(std::size_t part) const {
  const std::string again = take == 0 ? "" : fmt::format(".{}", take);
  return fmt::format("{}.p{:04}of{:04}{}.part", stem(round), part, parts.size(), again);
}

Bytes to_bytes(const Manifest& manifest) {
  Bytes out;
  append(out, bytes_of(kMagic));
  append_text(out, manifest.version);
  append_text(out, manifest.owner);
  append(out, manifest.round);
  append(out, std::uint64_t{manifest.peers()});
  append(out, manifest.take);
  append(out, std::uint64_t{manifest.items.size()});
  for (const Manifest::Item& item : manifest.items) {
    append_text(out, item.name);
    append(out, static_cast<std::uint8_t>(item.kind));
    append(out, item.value);
  }
  append(out, std::uint64_t{manifest.parts.size()});
  for (const Manifest::Part& part : manifest.parts) {
    append(out, std::uint64_t{part.peers.count});
    append(out, std::span<const std::uint8_t>(part.digest));
  }
  append(out, std::span<const std::uint8_t>(digest_of(out)));
  return out;
}

Manifest read_manifest(ByteView bytes, std::string_view path) {
  if (bytes.size() < kMagic.size() + sizeof(Digest)) reject(path, "is too short for a checkpoint");
  const ByteView content = bytes.first(bytes.size() - sizeof(Digest));
  if (!std::ranges::equal(digest_of(content), bytes.last(sizeof(Digest)))) {
    reject(path, "is damaged: its checksum does not match");
  }
  ByteReader in(content, path);
  const ByteView magic = in.take(kMagic.size());
  Manifest manifest;
  if (std::ranges::equal(magic, bytes_of(kMagic))) {
    manifest.version = read_text(in);
  } else if (!std::ranges::equal(magic, bytes_of(kMagicWithoutVersion))) {
    reject(path, "is no checkpoint of this version");
  }
  manifest.owner = read_text(in);
  manifest.round = in.read<std::uint64_t>();
  const auto peers = in.read<std::uint64_t>();
  manifest.take = in.read<std::uint64_t>();
  for (auto left = in.read<std::uint64_t>(); left > 0; --left) {
    std::string name = read_text(in);
    const auto kind = static_cast<Kind>(in.read<std::uint8_t>());
    manifest.items.push_back({std::move(name), kind, in.read<std::uint64_t>()});
  }
  for (auto left = in.read<std::uint64_t>(); left > 0; --left) {
    Manifest::Part part{{manifest.peers(), in.read<std::uint64_t>()}};
    in.read(std::span<std::uint8_t>(part.digest));
    manifest.parts.push_back(part);
  }
  if (manifest.peers() != peers || in.left() > 0) reject(path, "contradicts itself");
  return manifest;
}

std::vector<Manifest::Item> items_of(const StateList& list) {
  std::vector<Manifest::Item> items;
  for (const StateList::Item& item : list.items()) {
    items.push_back(std::visit(Describe{item.name}, item.place));
  }
  return items;
}

void check_items(const Manifest& manifest, const StateList& list, std::string_view path) {
  const std::vector<Manifest::Item> ours = items_of(list);
  const auto reject_items = [&](std::string_view how) {
    reject(path, fmt::format(
                     "{}. It was written by {}, which kept other state for these settings; resume "
                     "with that version, or train anew into another --out",
                     how,
                     manifest.version.empty() ? "an earlier version of hearsay"
                                              : fmt::format("hearsay {}", manifest.version)));
  };
  if (manifest.items.size() != ours.size()) reject_items("holds other arrays than this run");
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Manifest::Item &saved = manifest.items[i], &here = ours[i];
    if (saved.name != here.name) {
      reject_items(fmt::format("holds '{}' where this run has '{}'", saved.name, here.name));
    }
    if (saved.kind != here.kind) {
      reject_items(fmt::format("holds '{}' as another kind", saved.name));
    }
    if (!is_scalar(here.kind) && saved.value != here.value) {
      reject_items(fmt::format("holds '{}' as {} values per peer, and this run has {}", saved.name,
                               saved.value, here.value));
    }
  }
}

void restore_scalars(const Manifest& manifest, const StateList& list) {
  assert(manifest.items.size() == list.items().size());
  for (std::size_t i = 0; i < manifest.items.size(); ++i) {
    const std::uint64_t value = manifest.items[i].value;
    const StateList::Place& place = list.items()[i].place;
    if (auto* const* count = std::get_if<std::uint64_t*>(&place)) **count = value;
    if (auto* const* real = std::get_if<double*>(&place)) **real = std::bit_cast<double>(value);
  }
}

}  // namespace hearsay::checkpoint
