#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/markup.h"
#include "hearsay/report/table.h"

/// Parts of a page that need no script. Texts may hold anything: they are escaped.
namespace hearsay::report {

/// Rows as a table within a frame that scrolls; the first is the head. `sortable`: its head cells
/// become buttons that sort it.
std::string html_table(const Cells& rows, bool sortable = false);

/// A frame that a script draws a chart into (assets/page.js): <figure class="chart" id="ID">.
/// `note` says what a reader should know, `values` is a table for those who do not see it; both may
/// be empty. `has_switch`: with a button that turns its vertical axis logarithmic.
std::string chart_figure(const std::string& id, const std::string& title, const std::string& note,
                         bool has_switch = false, const std::string& values = "");

/// counts[peer][class] as a histogram a peer: a row of bars, as high as the counts, all on the same
/// scale. Up to 20 classes have their numbers on them and up to 64 peers are shown.
std::string draw_counts(const std::vector<std::vector<double>>& counts,
                        const std::vector<std::string>& class_names);

}  // namespace hearsay::report
