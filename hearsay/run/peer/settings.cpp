#include "hearsay/run/peer/settings.h"

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/toml_table.h"
#include "hearsay/core/toml_writer.h"
#include "hearsay/net/frame.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1 << 20;

fs::path settings_file(const fs::path& out) { return out / "peer.toml"; }

}  // namespace

std::string PeerSettings::to_toml() const {
  std::string text = fmt::format("fleet = {}\nidentity = {}\n", quoted_toml(fleet.string()),
                                 quoted_toml(identity.string()));
  if (listen) text += fmt::format("listen = {}\n", quoted_toml(net::to_text(*listen)));
  if (!data.empty()) text += fmt::format("data = {}\n", quoted_toml(data));
  return text + fmt::format("least-round = {}\nwait-for = {}\n", least_round, wait_for);
}

std::string PlaceInRun::to_toml() const {
  return fmt::format("\n[run]\nid = {}\nname = {}\nslot = {}\n", quoted_toml(id), quoted_toml(name),
                     slot);
}

std::optional<PlaceInRun> read_place_in_run(const fs::path& out) {
  const fs::path file = settings_file(out);
  const std::string name = file.string();
  std::error_code error;
  if (!fs::is_regular_file(file, error) || !(fs::file_size(file, error) <= kMostBytes)) return {};
  try {
    const toml::table table = parse_toml(read_file(file), name);
    const toml::table* run = table["run"].as_table();
    if (run == nullptr) return {};
    const TomlTable in(*run, name, {"id", "name", "slot"});
    PlaceInRun place{.id = in.needed_text("id"), .name = in.needed_text("name")};
    const std::uint64_t slot = in.count("slot", 0);
    const bool is_id = place.id.size() == 64 &&
                       place.id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_id || slot >= net::kMostPeers) return {};
    net::check_peer_name(place.name);
    place.slot = static_cast<std::uint32_t>(slot);
    return place;
  } catch (const std::exception&) {
    return {};
  }
}

PeerSettings read_peer_settings(const fs::path& out) {
  const fs::path file = settings_file(out);
  if (!is_of_peer(out)) {
    throw InvalidArgument(fmt::format(
        "[peer] {} is no run directory of a peer: there is no peer.toml in it", out.string()));
  }
  const std::string name = file.string();
  const toml::table table = parse_toml(read_file(file, kMostTomlBytes), name);
  const TomlTable in(table, name,
                     {"fleet", "identity", "listen", "data", "least-round", "wait-for"}, {"run"},
                     "run");
  PeerSettings settings{.fleet = in.needed_text("fleet"),
                        .identity = in.needed_text("identity"),
                        .data = in.text("data"),
                        .least_round = in.number("least-round", 0),
                        .wait_for = static_cast<std::uint32_t>(in.count("wait-for", 2))};
  if (in.find("listen") != nullptr) settings.listen = net::parse_address(in.text("listen"));
  return settings;
}

bool is_of_peer(const fs::path& out) {
  std::error_code error;
  return fs::exists(settings_file(out), error);
}

train::RunOptions options_of_fleet(const net::Fleet& fleet, const PeerSettings& settings) {
  const std::string source = settings.fleet.string();
  train::RunOptions options;
  options.timing = "asynchronous";
  options.compare = train::Compare::kNo;
  options.peers = fleet.peers.size();
  options.read_toml(fleet.train, source);
  const auto refuse = [&](std::string_view key, const std::string& value, std::string_view why) {
    throw InvalidArgument(fmt::format("[{}] {} = '{}' cannot stand in the [train] of a fleet: {}",
                                      source, key, value, why));
  };
  if (options.timing != "asynchronous") {
    refuse("timing", options.timing, "its peers wait for nobody; drop it");
  }
  if (options.link != "none") refuse("link", options.link, "its network is a real one; drop it");
  if (options.liars != "none") {
    refuse("liars", options.liars, "liars are those of a simulation; drop it");
  }
  if (options.compare == train::Compare::kYes) {
    refuse("compare", "yes", "there are no baselines to compare with; drop it");
  }
  if (options.checkpoint != 0) {
    refuse("checkpoint", fmt::format("{}", options.checkpoint),
           "a device keeps its model as often as that takes little of its time; drop it");
  }
  if (options.peers != fleet.peers.size()) {
    refuse("peers", fmt::format("{}", options.peers),
           fmt::format("it lists {} of them; drop it", fleet.peers.size()));
  }
  if (!settings.data.empty()) options.data = settings.data;
  return train::resolve(options);
}

}  // namespace hearsay::run
