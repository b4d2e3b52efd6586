#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/net/address.h"
#include "hearsay/net/identity.h"

namespace hearsay::net {

/// One peer of a fleet file.
struct FleetPeer {
  std::string name;                  ///< unique; for people; as check_peer_name demands
  Id id{};                           ///< unique
  std::optional<Address> address{};  ///< unique; empty: it dials, and cannot be dialled

  bool operator==(const FleetPeer&) const = default;
};

/// Throws InvalidArgument, "[name] ...", unless a text is 1 to 64 bytes of UTF-8 without control
/// characters: names stand in lines of logs.
void check_peer_name(std::string_view name);

/// The lines of a peer in a fleet file, from "[[peer]]" on.
std::string to_toml(const FleetPeer& peer);

/// A fleet file: who may talk to whom, the same on all devices.
///
///   [train]                      # settings of a run (train/run_options.h), kept as text
///   algorithm = 'scsp'
///   [[peer]]
///   name = 'pi-3'
///   id = 'hs1:...'
///   address = '10.0.0.13:7420'   # none: it dials, and cannot be dialled
///
/// The order of the peers is that of the run: a peer's slot is its place, from 0.
struct Fleet {
  std::vector<FleetPeer> peers;
  /// The table [train] as TOML of its own, a line a setting, without comments; empty: there is
  /// none. Settings stand on the same lines as in the file, which errors in them may so name.
  std::string train;

  /// The slot of the peer with that id; nullopt: it is not listed.
  std::optional<std::uint32_t> slot_of(const Id& id) const;
};

/// Throws InvalidArgument, naming `source` and the line: what is not TOML, unknown keys (with the
/// nearest), wrong types, names, ids or addresses; names, ids or addresses that stand there twice;
/// addresses that cannot be dialled (port 0, host 0.0.0.0 or ::); fewer than 2 or more than
/// kMostPeers peers. Two peers that both cannot be dialled are allowed.
Fleet parse_fleet(std::string_view text, const std::string& source);

/// Reads a file. Throws InvalidArgument, also if it cannot be read.
Fleet read_fleet(const std::filesystem::path& file);

/// Where a peer of the fleet listens by default: on the port of its address, on all interfaces
/// unless that is one of this device alone (127.0.0.1, ::1, localhost). Empty if it has none.
std::optional<Address> listening_address(const FleetPeer& peer);

}  // namespace hearsay::net
