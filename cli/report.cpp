#include <memory>

#include <fmt/core.h>

#include "cli/commands.h"
#include "hearsay/core/error.h"
#include "hearsay/report/page.h"
#include "hearsay/report/table.h"
#include "hearsay/train/durable_file.h"

namespace hearsay::cli {

Action add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Compare runs in a table, and on one HTML page");
  auto directories = std::make_shared<std::vector<std::string>>();
  command->add_option("directories", *directories, "run directories")
      ->required()
      ->type_name("DIR...");
  auto html = std::make_shared<std::string>();
  command->add_option("--html", *html, "write a page with figures to FILE")->type_name("FILE");
  return [directories, html] {
    const report::Comparison comparison = report::compare_runs(*directories);
    for (const std::string& problem : comparison.problems) {
      fmt::print(stderr, "hearsay: left out: {}\n", problem);
    }
    fmt::print("{}", comparison.table);
    if (!comparison.problems.empty() && comparison.runs == 0) {
      throw InvalidArgument("[report] none of the directories holds a finished run");
    }
    if (!html->empty()) {
      train::DurableFile file(*html);
      file.write(report::make_page(*directories).html);
      file.commit();
    }
    return 0;
  };
}

}  // namespace hearsay::cli
