#include <algorithm>
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
      throw InvalidArgument("[report] none of the directories holds a run");
    }
    if (!html->empty()) {
      const report::Page page = report::make_page(*directories);
      for (const std::string& problem : page.problems) {
        if (std::ranges::count(comparison.problems, problem) > 0) continue;
        fmt::print(stderr, "hearsay: left out of the page: {}\n", problem);
      }
      if (page.runs == 0) throw InvalidArgument("[report] there is no run for a page");
      train::DurableFile file(*html);
      file.write(page.html);
      file.commit();
    }
    return 0;
  };
}

}  // namespace hearsay::cli
