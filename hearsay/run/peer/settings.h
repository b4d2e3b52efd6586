#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hearsay/net/address.h"
#include "hearsay/net/fleet.h"
#include "hearsay/train/run_options.h"

namespace hearsay::run {

/// What a device decides for itself: peer.toml of its run directory. The rest of a run is in the
/// fleet file, and the same on all devices.
struct PeerSettings {
  std::filesystem::path fleet, identity;  ///< files
  std::optional<net::Address> listen{};   ///< empty: as the fleet file has it
  std::string data{};          ///< what it trains on (--data); empty: what the fleet file says
  double least_round = 0;      ///< seconds that a round takes at least
  std::uint32_t wait_for = 2;  ///< peers that a new run waits for, itself counted

  std::string to_toml() const;
};

/// Which run a directory is part of, and as whom: the table [run] of peer.toml. `hearsay report`
/// joins the directories of one run by it.
struct PlaceInRun {
  /// 64 hexadecimal digits, the same on all devices of a run: what they agree on (peer/host.h), and
  /// their keys in order.
  std::string id{};
  std::string name{};  ///< in the fleet file
  std::uint32_t slot = 0;

  std::string to_toml() const;
};

/// That of OUT/peer.toml; none if it has none, as those of older versions, or is missing or
/// damaged.
std::optional<PlaceInRun> read_place_in_run(const std::filesystem::path& out);

/// Reads OUT/peer.toml. Throws InvalidArgument.
PeerSettings read_peer_settings(const std::filesystem::path& out);

/// Whether a run directory is that of one peer on a device.
bool is_of_peer(const std::filesystem::path& out);

/// The settings of the fleet file's [train] on a device, resolved: as many asynchronous peers as it
/// lists. Throws InvalidArgument, also for settings that cannot be there.
train::RunOptions options_of_fleet(const net::Fleet& fleet, const PeerSettings& settings);

}  // namespace hearsay::run
