#include <memory>

#include <fmt/core.h>

#include "cli/commands.h"
#include "hearsay/core/error.h"
#include "hearsay/report/table.h"

namespace hearsay::cli {

Action add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Compare runs in a table");
  auto directories = std::make_shared<std::vector<std::string>>();
  command->add_option("directories", *directories, "run directories")
      ->required()
      ->type_name("DIR...");
  return [directories] {
    const report::Comparison comparison = report::compare_runs(*directories);
    for (const std::string& problem : comparison.problems) {
      fmt::print(stderr, "hearsay: left out: {}\n", problem);
    }
    fmt::print("{}", comparison.table);
    if (!comparison.problems.empty() && comparison.runs == 0) {
      throw InvalidArgument("[report] none of the directories holds a finished run");
    }
  };
}

}  // namespace hearsay::cli
