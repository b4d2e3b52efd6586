#pragma once

#include <exception>
#include <functional>

#include <CLI/CLI.hpp>

#include "hearsay/core/error.h"

/// One function per subcommand: it adds itself to the app and returns the action to run if it was
/// chosen. The commands hold no logic of their own: they read options, call the library, and print.
namespace hearsay::cli {

using Action = std::function<int()>;  ///< returns the exit status

/// Exit status after an exception: 2 for a user error, 1 for anything that failed at run time
/// (docs/errors.md).
inline int status_of(const std::exception& error) {
  return dynamic_cast<const InvalidArgument*>(&error) != nullptr ? 2 : 1;
}

Action add_train(CLI::App& app);
Action add_eval(CLI::App& app);
Action add_export(CLI::App& app);
Action add_identity(CLI::App& app);
Action add_peer(CLI::App& app);
Action add_graph(CLI::App& app);
Action add_cost(CLI::App& app);
Action add_list(CLI::App& app);
Action add_report(CLI::App& app);
Action add_watch(CLI::App& app);
Action add_sweep(CLI::App& app);
Action add_help(CLI::App& app);
Action add_generate(CLI::App& app);  ///< hidden: man pages and completions, for cli/CMakeLists.txt

}  // namespace hearsay::cli
