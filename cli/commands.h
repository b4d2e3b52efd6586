#pragma once

#include <functional>

#include <CLI/CLI.hpp>

/// One function a subcommand: it adds itself to the app and returns what to do if it was chosen.
/// The commands hold no logic of their own: they read options, call the library, and print.
namespace hearsay::cli {

using Action = std::function<int()>;  ///< returns the exit status

Action add_train(CLI::App& app);
Action add_eval(CLI::App& app);
Action add_graph(CLI::App& app);
Action add_list(CLI::App& app);
Action add_report(CLI::App& app);

}  // namespace hearsay::cli
