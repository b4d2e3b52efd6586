#include "hearsay/net/fleet.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/toml_table.h"
#include "hearsay/core/toml_writer.h"
#include "hearsay/core/utf8.h"
#include "hearsay/net/frame.h"

namespace hearsay::net {

namespace {

constexpr std::size_t kFewestPeers = 2;
constexpr std::size_t kMostPeerNameBytes = 64;

/// `read` of a value, whose errors are then those of its line.
template <class Read>
auto read_value(const TomlTable& in, const toml::node& node, Read read) {
  try {
    return read();
  } catch (const InvalidArgument& error) {
    const std::string_view what = error.what();  // "[id] ..."
    in.fail(node, "{}", what.substr(what.find(']') + 2));
  }
}

/// The settings, each on its line.
std::string text_of_settings(const toml::table& table) {
  std::vector<std::pair<std::size_t, std::string>> settings;
  for (const auto& [key, node] : table) {
    settings.emplace_back(node.source().begin.line, toml_line(key.str(), node));
  }
  std::ranges::stable_sort(settings, {}, &std::pair<std::size_t, std::string>::first);
  std::string text;
  std::size_t at = 1;
  for (const auto& [line, setting] : settings) {
    for (; at < line; ++at) text += '\n';
    text += setting + '\n';
    ++at;
  }
  return text;
}

Address read_dialled(const TomlTable& in, const toml::node& node) {
  const std::string text = in.text_of(node, "address");
  const Address address = read_value(in, node, [&] { return parse_address(text); });
  if (address.port == 0 || address.host == "0.0.0.0" || address.host == "::") {
    in.fail(node,
            "'{}' cannot be dialled; give the host and the port at which others reach this peer, "
            "or no address if they cannot",
            text);
  }
  return address;
}

FleetPeer read_peer(const TomlTable& in) {
  FleetPeer peer{.name = in.needed_text("name")};
  read_value(in, *in.find("name"), [&] { return check_peer_name(peer.name); });
  const std::string id = in.needed_text("id");
  peer.id = read_value(in, *in.find("id"), [&] { return parse_id(id); });
  if (const toml::node* node = in.find("address")) peer.address = read_dialled(in, *node);
  return peer;
}

/// Refuses what two peers have in common.
class SeenOnce {
 public:
  void add(const TomlTable& in, std::string_view key, const std::string& value) {
    const auto [first, is_new] = lines_.try_emplace({std::string(key), value}, in.line());
    if (is_new) return;
    in.fail(*in.find(key), "the peer in line {} has the {} '{}' too; each has its own",
            first->second, key, value);
  }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> lines_;
};

std::vector<const toml::table*> peer_tables(const TomlTable& in) {
  const toml::node* node = in.find("peer");
  if (node != nullptr && node->is_table()) {
    in.fail(*node, "peer must be a list; write [[peer]] above each");
  }
  std::vector<const toml::table*> tables = in.tables("peer");
  if (tables.size() < kFewestPeers || tables.size() > kMostPeers) {
    throw InvalidArgument(fmt::format("[{}] has {} {}; a fleet has {} to {}", in.file(),
                                      tables.size(), tables.size() == 1 ? "peer" : "peers",
                                      kFewestPeers, kMostPeers));
  }
  return tables;
}

}  // namespace

void check_peer_name(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    throw InvalidArgument(
        fmt::format("[name] '{}' {}; a name is 1 to {} bytes of UTF-8 without control characters",
                    escape_non_utf8(name), why, kMostPeerNameBytes));
  };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (name.empty()) refuse("is empty");
  if (name.size() > kMostPeerNameBytes) refuse(fmt::format("has {} bytes", name.size()));
  if (!is_utf8(name)) refuse("is not UTF-8");
  if (std::ranges::any_of(name, is_control)) refuse("has a control character");
}

std::string to_toml(const FleetPeer& peer) {
  std::string text =
      fmt::format("[[peer]]\nname = {}\nid = '{}'\n", quoted_toml(peer.name), to_text(peer.id));
  if (peer.address) text += fmt::format("address = '{}'\n", to_text(*peer.address));
  return text;
}

std::optional<std::uint32_t> Fleet::slot_of(const Id& id) const {
  const auto peer = std::ranges::find(peers, id, &FleetPeer::id);
  if (peer == peers.end()) return std::nullopt;
  return static_cast<std::uint32_t>(peer - peers.begin());
}

Fleet parse_fleet(std::string_view text, const std::string& source) {
  const toml::table table = parse_toml(text, source);
  const TomlTable in(table, source, {"train", "peer"});
  Fleet fleet;
  if (const toml::table* train = in.child("train")) fleet.train = text_of_settings(*train);
  SeenOnce seen;
  for (const toml::table* one : peer_tables(in)) {
    const TomlTable of_peer(*one, source, {"name", "id", "address"});
    const FleetPeer& peer = fleet.peers.emplace_back(read_peer(of_peer));
    seen.add(of_peer, "name", peer.name);
    seen.add(of_peer, "id", to_text(peer.id));
    if (peer.address) seen.add(of_peer, "address", to_text(*peer.address));
  }
  return fleet;
}

Fleet read_fleet(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_file(file, kMostTomlBytes);
  } catch (const std::runtime_error& error) {
    throw InvalidArgument(error.what());
  }
  return parse_fleet(text, file.string());
}

std::optional<Address> listening_address(const FleetPeer& peer) {
  if (!peer.address) return {};
  const auto [host, port] = *peer.address;
  if (host == "localhost") return Address{"127.0.0.1", port};
  if (host.starts_with("127.") || host == "::1") return peer.address;
  const bool is_v6 = host.find(':') != std::string::npos;
  return Address{is_v6 ? "::" : "0.0.0.0", port};
}

}  // namespace hearsay::net
