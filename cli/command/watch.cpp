#include <poll.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/stop.h"
#include "cli/terminal/shell_word.h"
#include "hearsay/core/error.h"
#include "hearsay/live/gate.h"
#include "hearsay/live/page_process.h"
#include "hearsay/live/server.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;

struct WatchOptions {
  std::string directory, address = "127.0.0.1";
  std::uint16_t port = 0;
  bool inherited = false;
};

/// Throws InvalidArgument unless the directory holds a run; names one below it, if there is any.
void check_has_run(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw InvalidArgument(fmt::format("[watch] there is no directory '{}'", directory.string()));
  }
  if (fs::exists(directory / "config.toml", error)) return;
  std::string below;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string path = entry.path().string();
    if (!fs::exists(entry.path() / "config.toml", error)) continue;
    if (below.empty() || path < below) below = path;
  }
  throw InvalidArgument(
      fmt::format("[watch] {} holds no run: there is no config.toml in it; {}", directory.string(),
                  below.empty() ? "give the --out of a hearsay train, such as runs/001"
                                : "hearsay watch " + shell_word(below) + " shows one"));
}

/// Serves a directory until a signal requests a stop.
int serve_alone(const WatchOptions& options) {
  std::error_code error;
  check_has_run(options.directory);
  catch_signals();
  live::Listener listener(options.address, options.port);
  const std::string token = listener.loopback() ? "" : live::make_token();
  const std::string url = listener.url(token);
  const auto server = live::make_server(options.directory, std::move(listener), token);
  fmt::print("{}\n", url);
  std::fflush(stdout);
  bool ended = false;
  while (!stop_requested()) {
    if (!ended && fs::exists(fs::path(options.directory) / "summary.json", error)) {
      server->end();
      ended = true;
    }
    ::poll(nullptr, 0, 200);  // a signal ends it
  }
  return 0;
}

}  // namespace

Action add_watch(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("watch", "Serve the page of a run to browsers, while it goes on or later");
  auto options = std::make_shared<WatchOptions>();
  command->add_option("directory", options->directory, "run directory")
      ->required()
      ->type_name("DIR");
  command->add_option("--port", options->port, "port to listen on; default: any free one")
      ->type_name("PORT")
      ->check([](const std::string& port) {
        return std::string(port.empty() ? "must not be empty" : "");
      });
  command
      ->add_option(
          "--address", options->address,
          "address to listen on, in digits; default: 127.0.0.1. Any that other machines can "
          "reach asks viewers for a token, which is part of what is printed")
      ->type_name("ADDRESS");
  command->add_flag("--inherited", options->inherited)->group("");  // for `train --live`
  return [options] {
    live::limit_resources();
    if (!options->inherited) return serve_alone(*options);
    live::serve_for_parent(options->directory);
    return 0;
  };
}

}  // namespace hearsay::cli
