#include <filesystem>
#include <memory>
#include <set>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/terminal/complain.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/report/device_table.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/runs.h"
#include "hearsay/report/sweep_table.h"
#include "hearsay/report/table.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;

/// The default path of the page: in the directory it is about, or here if there are several.
fs::path page_path(const std::vector<std::string>& directories) {
  if (directories.size() > 1) return "report.html";
  const fs::path only = directories.front();
  std::error_code error;
  return (fs::is_directory(only, error) ? only : only.parent_path()) / "report.html";
}

bool all_in_sweeps(const report::Runs& runs) {
  std::set<std::size_t> in_sweeps;
  for (const report::ShownSweep& sweep : runs.sweeps) {
    for (const auto& row : sweep.rows) in_sweeps.insert(row.begin(), row.end());
  }
  return in_sweeps.size() == runs.runs.size();
}

int report_command(const std::vector<std::string>& directories, const std::string& html,
                   bool wide) {
  const report::Runs runs = report::read_runs(directories);
  for (const std::string& problem : runs.problems) {
    complain("hearsay: left out: {}\n", problem);
  }
  if (runs.runs.empty()) throw InvalidArgument("[report] none of the directories holds a run");
  if (html.empty()) report::check_page_path(page_path(directories));
  for (const report::ShownSweep& sweep : runs.sweeps) {
    fmt::print("{}\n", report::sweep_text(sweep.record, sweep.table, false, wide));
  }
  if (!all_in_sweeps(runs)) fmt::print("{}", report::compare_runs(runs, wide).table);
  fmt::print("{}", report::devices_text(runs, wide));
  if (html == "none") return 0;
  const fs::path path = html.empty() ? page_path(directories) : fs::path(html);
  write_user_file(path, report::make_page(runs).html);
  fmt::print("\npage: {}\n", path.string());
  return 0;
}

}  // namespace

Action add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Compare runs in a table, and on one HTML page");
  auto directories = std::make_shared<std::vector<std::string>>();
  command->add_option("directories", *directories, "run directories, or those of sweeps")
      ->required()
      ->type_name("DIR...");
  auto html = std::make_shared<std::string>();
  command
      ->add_option("--html", *html,
                   "where to write the page, or 'none'; default: report.html in DIR, or here if "
                   "there are several")
      ->type_name("FILE");
  auto wide = std::make_shared<bool>(false);
  command->add_flag("--wide", *wide, "all columns of the tables, however wide they become");
  return [=] { return report_command(*directories, *html, *wide); };
}

}  // namespace hearsay::cli
