#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hearsay/engine/objective.h"
#include "hearsay/train/safetensors.h"

/// What a peer on a device keeps for its next life, in its run directory OUT.
namespace hearsay::run {

/// The number of a new life: milliseconds since 1970, and larger than that of any life before it,
/// which is in OUT/incarnation, also on a device whose clock is not set.
std::uint64_t next_incarnation(const std::filesystem::path& out);

/// To be written before others hear of it. Throws RunFailed.
void write_incarnation(const std::filesystem::path& out, std::uint64_t incarnation);

/// OUT/checkpoint/peer.json, and the model that it names. A life starts from a model and nothing
/// else, so this is all.
struct Kept {
  std::uint64_t clock = 0;  ///< the fleet's, in rounds
  double seconds = 0;       ///< of training, in all lives
  std::string model{};      ///< FILE,sha256=HEX (train/init.h)
};

/// Writes a model beside the one that is there, then the file that names it, then removes the old
/// one: whenever the device loses power, one of them is whole. Throws RunFailed.
void keep(const std::filesystem::path& out, std::uint64_t clock, double seconds,
          const engine::Objective& objective, const train::SavedModel& model);

/// nullopt: nothing was kept. Throws CorruptData if the file is damaged.
std::optional<Kept> read_kept(const std::filesystem::path& out);

/// The model. Throws InvalidArgument or CorruptData if its file is damaged, gone, or of another
/// network.
train::SavedModel load_kept(const Kept& kept, const engine::Objective& objective);

}  // namespace hearsay::run
