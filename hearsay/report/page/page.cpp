#include "hearsay/report/page/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"
#include "hearsay/core/version.h"
#include "hearsay/graph/svg.h"
#include "hearsay/report/page/charts.h"
#include "hearsay/report/page/cost_panel.h"
#include "hearsay/report/page/frame.h"
#include "hearsay/report/page/html.h"
#include "hearsay/report/page/looks.h"
#include "hearsay/report/page/page_data.h"
#include "hearsay/report/page/page_parts.h"
#include "hearsay/report/page/provenance.h"
#include "hearsay/report/page/scatter.h"
#include "hearsay/report/page/sweep_section.h"
#include "hearsay/report/runs.h"

namespace hearsay::report {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSections = 24;  ///< of a page: runs with all their charts
constexpr std::size_t kEdgesBesideOthers = 400;

/// Collects the HTML of a page, and the data that its scripts draw.
class Writer {
 public:
  Writer(const Runs& runs, bool live) : runs_(runs) {
    data_.live = live;
    for (const ShownRun& run : runs.runs) {
      record_of_.push_back(add(run.record, run.label, run.in_sweep));
      for (const auto& [label, control] : run.controls) {
        add(control, run.label + ", " + label, run.in_sweep);
      }
    }
    for (const SeedGroup& group : runs.groups) {
      groups_.push_back(&shown_of(runs, group));
      group_record_.push_back(group.mean
                                  ? add(group.mean->record, group.mean->label, group.mean->in_sweep)
                                  : record_of_[group.runs.front()]);
    }
  }

  std::string charts(const std::vector<Chart>& all, const std::string& prefix) {
    std::string html = "<div class=\"charts\">\n";
    for (const Chart& chart : all) {
      const std::string id = prefix + "chart-" + chart.id;
      const bool percent = chart.y.find('%') != std::string::npos;
      html += chart_figure(id, chart.title, chart.note, !percent,
                           data_.live ? "" : html_table(values_table(chart, data_.records)));
      data_.charts.push_back({id, chart});
    }
    return html + "</div>\n";
  }

  std::string run_charts(std::size_t run, const std::string& prefix) {
    return charts(charts_of_run(runs_.runs[run], record_of_[run], data_.live), prefix);
  }

  std::string cost(std::size_t run, const std::string& prefix) {
    const auto panel = cost_panel(runs_.runs[run].record);
    if (!panel) return "";
    data_.costs.push_back(cost_json(*panel, prefix));
    return cost_section(*panel, prefix);
  }

  std::string several_charts() {
    std::vector<Chart> all = charts_of_several(groups_, group_record_);
    const Looks looks = looks_of(runs_);
    looks.apply(all);
    std::string html = charts(all, "");
    data_.scatter = make_scatter(runs_);
    looks.apply(data_.scatter);
    if (data_.scatter.points.empty()) return html;
    return "<div class=\"charts\">\n" +
           chart_figure(
               "chart-scatter", "What compression costs",
               std::string("No other run on the same data beats those on the dashed front: one "
                           "that sends fewer bytes is less accurate, one that is more accurate "
                           "sends more.") +
                   (data_.scatter.printed.empty() ? "" : " Hollow marks are what a paper prints."),
               false, html_table(scatter_table(data_.scatter))) +
           "</div>\n" + html;
  }

  std::string sweep(std::size_t number) {
    const ShownSweep& sweep = runs_.sweeps[number];
    std::string html = runs_.sweeps.size() == 1  // whose title is the page's
                           ? ""
                           : fmt::format("<h2>{}</h2>\n", escape_markup(sweep.record.sweep.title));
    html += sweep_section(sweep) + "<div class=\"charts\">\n";
    for (DotPlot& plot : dot_plots(sweep, fmt::format("chart-printed-{}-", number))) {
      html += chart_figure(plot.id, "Ours and the paper's: " + plot.title,
                           "Hollow marks are what the paper prints; lines are +- one standard "
                           "deviation over our seeds.",
                           false, "");
      data_.dots.push_back(std::move(plot));
    }
    return html + "</div>\n";
  }

  const PageData& data() const { return data_; }

 private:
  /// Returns the place of the record in the data.
  std::size_t add(const Record& record, const std::string& name, const sweep::Place& place) {
    data_.records.push_back(&record);
    data_.names.push_back(name);
    data_.places.push_back(place);
    return data_.records.size() - 1;
  }

  static Cells scatter_table(const Scatter& scatter) {
    Cells rows{{{"run"}, {"compression factor"}, {"y"}}};
    rows.front().back().text = scatter.y;
    for (const Scatter::Point& point : scatter.points) {
      rows.push_back({{point.figure.empty() ? point.name : point.name + ", " + point.figure},
                      {fmt::format("{:.1f}x", point.x), point.x},
                      {fmt::format("{:.4g}", point.y), point.y}});
    }
    for (const Scatter::Point& point : scatter.printed) {
      rows.push_back(
          {{fmt::format("{}, {} as printed", point.name, point.figure)},
           {fmt::format("{:.1f}x{}", point.x, point.x_is_ours ? " (ours)" : ""), point.x},
           {fmt::format("{:.4g}", point.y), point.y}});
    }
    return rows;
  }

  const Runs& runs_;
  std::vector<std::size_t> record_of_;  ///< of runs
  std::vector<const ShownRun*> groups_;
  std::vector<std::size_t> group_record_;
  PageData data_;
};

/// The last part of a run's path: "001" of "runs/001".
std::string short_name(const Record& record) {
  const fs::path path = fs::path(record.name()).lexically_normal();
  const fs::path last = path.has_filename() ? path.filename() : path.parent_path().filename();
  return last.empty() ? record.name() : last.string();
}

/// The title of a run among others.
std::string summary_of(const ShownRun& run) {
  const train::RunOptions& config = run.record.config();
  return fmt::format("{}: {}{}",
                     run.label == run.record.name()
                         ? short_name(run.record)
                         : fmt::format("{}, seed {}", run.label, config.seed),
                     heading_of(config), run.record.finished() ? "" : " (not finished)");
}

bool is_one(const Runs& runs) { return runs.runs.size() == 1 && runs.sweeps.empty(); }

std::string title_of(const Runs& runs) {
  if (is_one(runs)) {
    const ShownRun& run = runs.runs.front();
    const bool of_fleet = run.place || !run.devices.empty();
    return (of_fleet ? short_name(run.record) + ": " : "") + heading_of(run.record.config());
  }
  return runs.sweeps.size() == 1 && !runs.sweeps[0].record.sweep.title.empty()
             ? runs.sweeps[0].record.sweep.title
             : fmt::format("{} runs", runs.runs.size());
}

/// The devices and the events of a joined run, or what a device knows of its fleet. `live`: with an
/// element that a script fills, even if there is nothing yet.
std::string fleet_of(const ShownRun& run, const std::string& level, bool live) {
  const auto title = [&](const char* text) {
    return fmt::format("<{}>{}</{}>\n", level, text, level);
  };
  if (!run.devices.empty()) {
    const std::string events = events_part(run.fleet, FleetView::kMostEvents);
    return title("Devices") + devices_part(run) +
           (events.empty() ? "" : title("Events of all devices") + events);
  }
  if (run.fleet.empty() && !(live && run.place)) return "";
  return title("Fleet") +
         fmt::format("<div{}>{}</div>\n", live ? " id=\"fleet\"" : "", fleet_part(run.fleet));
}

std::string one_run(const Runs& runs, Writer& writer) {
  const ShownRun& run = runs.runs.front();
  std::string html = fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
                                 escape_markup(title_of(runs)), words_of(run.record.config())) +
                     provenance(runs.runs) + repeat_part(run);
  if (writer.data().live) {
    html +=
        "<div class=\"box\" id=\"live\" data-state=\"begun\" role=\"status\"><span "
        "class=\"state\">connecting</span><progress hidden=\"\"></progress></div>\n";
  } else if (!run.record.finished()) {
    html += "<p class=\"box banner\">This run has not finished.</p>\n";
  }
  html +=
      "</header>\n" + problems_box(runs.problems) + warnings_box(run.record) + tiles(run.record);
  if (!writer.data().live) html += "<h2>Figures at the end</h2>\n" + summary_table(runs, false);
  html += fleet_of(run, "h2", writer.data().live);
  if (run.record.columns().lines() == 0) {
    html += "<p class=\"note\">There is no evaluation yet.</p>\n";
  }
  return html + chooser(runs, writer.data().live) + writer.run_charts(0, "") + "<h2>Peers</h2>\n" +
         peers_of_run(run.record, "", graph::kMostDrawnEdges) + writer.cost(0, "") +
         settings(run.record);
}

std::string several_runs(const Runs& runs, Writer& writer) {
  std::string html = fmt::format("<h1>{}</h1>\n", escape_markup(title_of(runs))) +
                     provenance(runs.runs) + "</header>\n" + problems_box(runs.problems);
  for (std::size_t k = 0; k < runs.sweeps.size(); ++k) html += writer.sweep(k);
  html += "<h2>Figures at the end</h2>\n" + summary_table(runs, true) + chooser(runs, false) +
          writer.several_charts() + "<h2>Each run</h2>\n";
  const std::size_t shown = std::min(runs.runs.size(), kMostSections);
  for (std::size_t i = 0; i < shown; ++i) {
    const ShownRun& run = runs.runs[i];
    const std::string prefix = fmt::format("run-{}-", i);
    html += fmt::format(
                "<details class=\"run\" id=\"run-{}\"><summary>{}</summary>\n<p "
                "class=\"lead\">{}</p>\n{}",
                i, escape_markup(summary_of(run)), words_of(run.record.config()),
                provenance(std::span(&run, 1)) + repeat_part(run) + warnings_box(run.record) +
                    tiles(run.record)) +
            fleet_of(run, "h3", false) + writer.run_charts(i, prefix) +
            peers_of_run(run.record, prefix, kEdgesBesideOthers) + writer.cost(i, prefix) +
            settings(run.record) + "</details>\n";
  }
  if (shown < runs.runs.size()) {
    html += fmt::format(
        "<p class=\"note\">The first {} of {} runs; each has a page of its own, "
        "report.html in its directory.</p>\n",
        shown, runs.runs.size());
  }
  return html;
}

}  // namespace

Page make_page(const Runs& runs, const PageOptions& options) {
  Page page{"", runs.runs.size(), runs.problems};
  if (runs.runs.empty()) return page;
  const bool live = options.live && is_one(runs) && !runs.runs.front().record.finished() &&
                    runs.runs.front().devices.empty();
  Writer writer(runs, live);
  std::string body = "<header><p class=\"brand\">hearsay</p>\n";
  body += is_one(runs) ? one_run(runs, writer) : several_runs(runs, writer);
  body += fmt::format(
      "<noscript><p class=\"box banner\">Curves are drawn by a script, which this reader does not "
      "run.</p></noscript>\n<footer>hearsay {}</footer>\n",
      escape_markup(version()));
  const std::string window =
      (is_one(runs) ? short_name(runs.runs.front().record) : title_of(runs)) + " - hearsay";
  page.html = frame({window, std::move(body), to_json(writer.data()), live});
  return page;
}

Page make_page(std::span<const std::string> directories, const PageOptions& options) {
  return make_page(read_runs(directories), options);
}

std::string make_fleet_part(const fs::path& run) { return fleet_part(read_fleet_view(run)); }

void check_page_path(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return;
  InputFile in;
  std::string head(4096, '\0');
  if (in.open(file).empty()) head.resize(in.read(head.data(), head.size()));
  if (is_page(head)) return;
  throw InvalidArgument(
      fmt::format("[report] {} is there already and is no page of hearsay; say where to write with "
                  "--html FILE",
                  file.string()));
}

void write_page(const fs::path& run) {
  const Page page = make_page(std::vector<std::string>{run.string()});
  if (page.runs == 0) throw RunFailed(page.problems.front());
  DurableFile file(run / "report.html");
  file.write(page.html);
  file.commit();
}

}  // namespace hearsay::report
