#include "hearsay/checkpoint/checkpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/checkpoint/checkpoint_part.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/version.h"

namespace hearsay::checkpoint {

namespace {

namespace fs = std::filesystem;
using backend::StateList;

constexpr std::size_t kStemLength = 18;  // round-000000000123

/// Checkpoint files whose names end with `ending`, newest first.
std::vector<fs::path> newest_first(const fs::path& directory, std::string_view ending) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("round-") && name.ends_with(ending) && name.size() > kStemLength &&
        name[kStemLength] == '.') {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found, std::greater<>());
  return found;
}

std::vector<fs::path> manifests_in(const fs::path& directory) {
  return newest_first(directory, ".ckpt");
}

std::string stem_of(const fs::path& path) {
  return path.filename().string().substr(0, kStemLength);
}

/// Far more than the items and parts of any run take.
constexpr std::uint64_t kMostManifestBytes = std::uint64_t{256} << 20;

/// The bytes of an intact manifest. Throws CorruptData.
Bytes read_whole(const fs::path& path) {
  Bytes bytes;
  try {
    const std::string text = read_file(path, kMostManifestBytes);
    bytes.assign(text.begin(), text.end());
  } catch (const RunFailed&) {
    throw CorruptData(fmt::format("[checkpoint] {} cannot be read", path.string()));
  }
  read_manifest(bytes, path.string());
  return bytes;
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path directory, std::string config_hash,
                                 std::string files_hash, gossip::ProcessGroup& group,
                                 const transport::Placement& placement)
    : directory_(std::move(directory)),
      config_hash_(std::move(config_hash)),
      files_hash_(std::move(files_hash)),
      group_(group),
      placement_(placement) {}

void CheckpointStore::save(std::uint64_t round, const StateList& list, backend::Kernels& kernels) {
  Manifest manifest;
  manifest.version = version();
  manifest.owner = config_hash_ + files_hash_;
  manifest.round = round;
  manifest.items = items_of(list);
  for (std::size_t p = 0; p < placement_.processes; ++p) {
    manifest.parts.push_back({{placement_.first(p), placement_.rows(p)}});
  }
  const Bytes take = group_.ask_process_0([&] {
    Bytes number;
    append(number, make_room(manifest));
    return number;
  });
  manifest.take = ByteReader(take, "take").read<std::uint64_t>();

  Digest digest{};
  try {
    group_.agree([&] {
      check_directory();
      digest = write_part(path_of(manifest.part_name(group_.rank())), list, kernels);
    });
  } catch (const std::exception&) {
    if (group_.leads()) remove_parts(manifest);
    throw;
  }
  const std::vector<Bytes> digests = group_.collectives().gather(digest);
  group_.agree([&] {
    if (group_.leads()) commit(manifest, digests);
  });
  // Safe while other processes already write parts of later rounds: only older files are removed.
  if (group_.leads()) remove_old(manifest);
}

/// Creates the directory; returns the first take whose part names are unused.
std::uint64_t CheckpointStore::make_room(Manifest manifest) const {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) {
    throw RunFailed(
        fmt::format("[checkpoint] cannot create {}: {}", directory_.string(), error.message()));
  }
  const auto taken = [&] {
    for (std::size_t p = 0; p < manifest.parts.size(); ++p) {
      if (fs::exists(path_of(manifest.part_name(p)))) return true;
    }
    return false;
  };
  while (taken()) ++manifest.take;
  return manifest.take;
}

/// Writes the manifest once all processes have written their parts; if that fails, removes the
/// parts.
void CheckpointStore::commit(Manifest& manifest, const std::vector<Bytes>& digests) const {
  try {
    for (std::size_t p = 0; p < digests.size(); ++p) {
      ByteReader(digests[p], "digest").read(std::span<std::uint8_t>(manifest.parts[p].digest));
      if (appears(path_of(manifest.part_name(p)))) continue;
      throw RunFailed(fmt::format(
          "[checkpoint] process {} has written {}, and process 0 does not see it; --out "
          "must be on a file system that all hosts share",
          p, path_of(manifest.part_name(p))));
    }
    const Bytes bytes = to_bytes(manifest);
    DurableFile file(path_of(manifest.name()));
    file.write(bytes.data(), bytes.size());
    file.commit();
  } catch (const std::exception&) {
    remove_parts(manifest);
    throw;
  }
}

void CheckpointStore::remove_parts(const Manifest& manifest) const {
  std::error_code ignored;
  for (std::size_t p = 0; p < manifest.parts.size(); ++p) {
    fs::remove(path_of(manifest.part_name(p)), ignored);
  }
}

/// Removes manifests beyond the newest two; then parts that no manifest names any more, including
/// those that a crash left without one.
void CheckpointStore::remove_old(const Manifest& newest) const {
  std::error_code ignored;
  std::vector<fs::path> manifests = manifests_in(directory_);
  while (manifests.size() > 2) {
    fs::remove(manifests.back(), ignored);
    manifests.pop_back();
  }
  const std::string stem = stem_of(newest.name());
  const auto is_used = [&](const fs::path& part) {
    if (stem_of(part) != stem) {
      return std::ranges::find(manifests, stem_of(part), stem_of) != manifests.end();
    }
    for (std::size_t p = 0; p < newest.parts.size(); ++p) {
      if (part.filename() == newest.part_name(p)) return true;
    }
    return false;
  };
  for (const char* ending : {".part", ".part.tmp"}) {
    for (const fs::path& part : newest_first(directory_, ending)) {
      if (stem_of(part) <= stem && !is_used(part)) fs::remove(part, ignored);
    }
  }
}

void CheckpointStore::check_owner(const Manifest& manifest) const {
  const std::string path = path_of(manifest.name());
  if (!manifest.owner.starts_with(config_hash_)) {
    throw CorruptData(fmt::format("[checkpoint] {} belongs to a run with other settings", path));
  }
  if (manifest.owner != config_hash_ + files_hash_) {
    throw CorruptData(
        fmt::format("[checkpoint] {} is of a run on other files: those of --data or --graph have "
                    "changed since; put them back",
                    path));
  }
  if (manifest.peers() != placement_.peers) {
    throw CorruptData(fmt::format("[checkpoint] {} is of {} peers, and this run has {}", path,
                                  manifest.peers(), placement_.peers));
  }
}

void CheckpointStore::check_directory() const {
  if (appears(directory_)) return;
  throw RunFailed(
      fmt::format("[checkpoint] there is no {} here; --out must be on a file system that all hosts "
                  "share",
                  directory_.string()));
}

std::optional<std::uint64_t> CheckpointStore::restore_newest(const StateList& list,
                                                             backend::Kernels& kernels,
                                                             const Prepare& prepare,
                                                             std::vector<std::string>& damaged) {
  std::vector<fs::path> files;  // rank 0 iterates over them, and the others follow
  if (group_.leads()) files = manifests_in(directory_);
  for (std::size_t k = 0;; ++k) {
    Bytes offer;
    try {
      offer =
          group_.ask_process_0([&] { return k < files.size() ? read_whole(files[k]) : Bytes{}; });
    } catch (const CorruptData& error) {
      damaged.emplace_back(error.what());
      continue;
    }
    if (offer.empty()) break;
    const Manifest manifest = read_manifest(offer, "checkpoint");
    if (restore(manifest, list, kernels, prepare, damaged)) return manifest.round;
  }
  if (damaged.empty()) return std::nullopt;
  group_.agree([&] {
    throw CorruptData(
        fmt::format("[checkpoint] all {} checkpoints in {} are damaged; the first: {}",
                    damaged.size(), directory_.string(), damaged.front()));
  });
  return std::nullopt;
}

/// Returns whether the checkpoint was intact for all processes; if not, nothing was restored.
bool CheckpointStore::restore(const Manifest& manifest, const StateList& list,
                              backend::Kernels& kernels, const Prepare& prepare,
                              std::vector<std::string>& damaged) {
  group_.agree([&] {
    check_owner(manifest);
    check_directory();
    prepare(manifest.round);
    check_items(manifest, list, path_of(manifest.name()));
  });
  const PeerRange own{placement_.first(group_.rank()), placement_.rows(group_.rank())};
  std::vector<PartReader> parts;
  try {
    group_.agree([&] {
      for (std::size_t p = 0; p < manifest.parts.size(); ++p) {
        if (!has_room_for(list, own, manifest.parts[p].peers)) continue;
        parts.emplace_back(path_of(manifest.part_name(p)), manifest.parts[p]);
      }
    });
  } catch (const CorruptData& error) {
    damaged.emplace_back(error.what());
    return false;
  }
  group_.agree([&] {
    for (PartReader& part : parts) part.restore(list, own, kernels);
    restore_scalars(manifest, list);
  });
  return true;
}

bool has_checkpoints(const fs::path& directory) { return !manifests_in(directory).empty(); }

}  // namespace hearsay::checkpoint
