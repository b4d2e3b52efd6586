#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/markup.h"
#include "hearsay/report/table.h"

/// Parts of a page that need no script. Texts may hold anything: they are escaped.
namespace hearsay::report {

/// Rows as a table within a scrollable frame; the first is the header. `sortable`: its header cells
/// become buttons that sort it.
std::string html_table(const Cells& rows, bool sortable = false);

/// A frame that a script draws a chart into (assets/page.js): <figure class="chart" id="ID">.
/// `note` is shown with the chart, `values` is a table for readers who cannot see it; both may be
/// empty. `has_switch`: with a button that makes its vertical axis logarithmic.
std::string chart_figure(const std::string& id, const std::string& title, const std::string& note,
                         bool has_switch = false, const std::string& values = "");

/// counts[peer][class] as one histogram per peer, with heights by count, all on the same scale. Up
/// to eight peers have a row each, in which up to 20 classes are labelled with their counts; more
/// stand side by side, and up to 64 are shown.
std::string draw_counts(const std::vector<std::vector<double>>& counts,
                        const std::vector<std::string>& class_names);

}  // namespace hearsay::report
