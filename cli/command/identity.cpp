#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "hearsay/core/error.h"
#include "hearsay/net/fleet.h"
#include "hearsay/net/identity.h"

namespace hearsay::cli {

namespace {

struct IdentityOptions {
  std::string file;
  std::optional<std::string> name;

  /// In the fleet file. Throws InvalidArgument.
  std::string peer_name() const {
    const std::string chosen = name.value_or(std::filesystem::path(file).stem().string());
    net::check_peer_name(chosen);
    return chosen;
  }
};

int print_lines(const IdentityOptions& options, const net::Identity& identity) {
  fmt::print("{}", net::to_toml({options.peer_name(), identity.id(), {}}));
  return 0;
}

int make_identity(const IdentityOptions& options) {
  options.peer_name();  // a mistake in it is found before there is a key
  const net::Identity identity = net::Identity::generate();
  identity.write_new(options.file);
  return print_lines(options, identity);
}

int show_identity(const IdentityOptions& options) {
  return print_lines(options, net::Identity::read(options.file));
}

std::shared_ptr<IdentityOptions> add_options(CLI::App& command, const char* file) {
  auto options = std::make_shared<IdentityOptions>();
  command.add_option("file", options->file, file)->required()->type_name("FILE");
  command
      .add_option("--name", options->name,
                  "of the peer; default: that of the file, without its ending")
      ->type_name("NAME");
  return options;
}

}  // namespace

Action add_identity(CLI::App& app) {
  CLI::App* command = app.add_subcommand("identity", "Make or show the key of a peer");
  command->require_subcommand(1);
  CLI::App* make = command->add_subcommand(
      "new", "Make a key, which must stay on its device, and print its lines for the fleet file");
  const auto made = add_options(*make, "the key, a new file that only its owner may read");
  CLI::App* show = command->add_subcommand("show", "Print the lines of a key for the fleet file");
  const auto shown = add_options(*show, "a key that hearsay identity new has made");
  return [=] { return make->parsed() ? make_identity(*made) : show_identity(*shown); };
}

}  // namespace hearsay::cli
