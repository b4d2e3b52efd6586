#include <filesystem>
#include <memory>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/terminal/complain.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/report/device_table.h"
#include "hearsay/report/export.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/page/svg_chart.h"
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

struct ReportOptions {
  std::vector<std::string> directories;
  std::string html, csv, latex, markdown, svg;
  bool wide = false;
};

/// Which directories the names stand for, where they are not the directories' own.
void print_names(const report::Runs& runs) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const report::SeedGroup& group : runs.groups) {
    const report::ShownRun& first = runs.runs[group.runs.front()];
    if (first.label.find(first.record.name()) != std::string::npos) continue;
    std::string where = first.record.name();
    if (group.runs.size() > 1) {
      where += fmt::format(" and {} more", group.runs.size() - 1);
    }
    lines.emplace_back(report::shown_of(runs, group).label, where);
  }
  if (lines.empty()) return;
  fmt::print("\n");
  for (const auto& [name, where] : lines) fmt::print("{}: {}\n", name, where);
}

void write_svg(const report::Runs& runs, const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw RunFailed(
        fmt::format("[report] cannot create {}: {}", directory.string(), error.message()));
  }
  const std::vector<report::SvgPicture> pictures = report::svg_pictures(runs);
  for (const report::SvgPicture& picture : pictures) {
    write_user_file(directory / (picture.name + ".svg"), picture.svg);
  }
  fmt::print("\npictures: {} in {}\n", pictures.size(), directory.string());
}

void write_tables(const report::Runs& runs, const ReportOptions& options) {
  const std::tuple<const std::string&, std::string (*)(const report::Runs&), const char*> files[] =
      {{options.csv, report::to_csv, "CSV"},
       {options.latex, report::to_latex, "LaTeX"},
       {options.markdown, report::to_markdown, "Markdown"}};
  for (const auto& [path, text_of, name] : files) {
    if (path.empty()) continue;
    write_user_file(path, text_of(runs));
    fmt::print("\n{}: {}\n", name, path);
  }
}

int report_command(const ReportOptions& options) {
  const std::vector<std::string>& directories = options.directories;
  const std::string& html = options.html;
  const report::Runs runs = report::read_runs(directories);
  for (const std::string& problem : runs.problems) {
    complain("hearsay: left out: {}\n", problem);
  }
  if (runs.runs.empty()) throw InvalidArgument("[report] none of the directories holds a run");
  if (html.empty()) report::check_page_path(page_path(directories));
  for (const report::ShownSweep& sweep : runs.sweeps) {
    fmt::print("{}\n", report::sweep_text(sweep.record, sweep.table, false, options.wide));
  }
  if (!all_in_sweeps(runs)) {
    fmt::print("{}", report::compare_runs(runs, options.wide).table);
    print_names(runs);
  }
  fmt::print("{}", report::devices_text(runs, options.wide));
  write_tables(runs, options);
  if (!options.svg.empty()) write_svg(runs, options.svg);
  if (html == "none") return 0;
  const fs::path path = html.empty() ? page_path(directories) : fs::path(html);
  write_user_file(path, report::make_page(runs).html);
  fmt::print("\npage: {}\n", path.string());
  return 0;
}

}  // namespace

Action add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Compare runs in a table, and on one HTML page");
  auto options = std::make_shared<ReportOptions>();
  const auto not_empty = [](const std::string& value) {
    return std::string(value.empty() ? "must not be empty" : "");
  };
  command
      ->add_option("directories", options->directories,
                   "run directories, or those of sweeps, or directories with some below them")
      ->required()
      ->type_name("DIR...");
  command
      ->add_option("--html", options->html,
                   "where to write the page, or 'none'; default: report.html in DIR, or here if "
                   "there are several")
      ->type_name("FILE");
  const auto add = [&](const char* name, std::string& path, const char* meaning,
                       const char* type = "FILE") {
    command->add_option(name, path, meaning)->type_name(type)->check(not_empty);
  };
  add("--csv", options->csv, "also write the tables, with all digits, for programs");
  add("--latex", options->latex, "also write the tables for a paper (booktabs)");
  add("--markdown", options->markdown, "also write the tables in Markdown");
  add("--svg", options->svg, "also write every chart as a picture for print into DIR", "DIR");
  command->add_flag("--wide", options->wide, "all columns of the tables, however wide they become");
  return [options] { return report_command(*options); };
}

}  // namespace hearsay::cli
