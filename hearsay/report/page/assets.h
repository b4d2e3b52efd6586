#pragma once

#include <string_view>

/// The files of report/page/assets/ and Chart.js, as found at build time, which are embedded in
/// every page.
namespace hearsay::report::assets {

extern const std::string_view kChartJs;  ///< Chart.js 3.9, minified, with its licence on top
extern const std::string_view kPageCss;
extern const std::string_view kLabelsJs;  ///< places names beside points
extern const std::string_view kHoverJs;   ///< what the reader points at, in numbers
extern const std::string_view kChartsJs;  ///< curves, axes, legends
extern const std::string_view kZoomJs;
extern const std::string_view kSaveJs;   ///< charts as SVG and PNG
extern const std::string_view kPageJs;   ///< reads the page's data, makes charts as they come near
extern const std::string_view kTableJs;  ///< sorts tables
extern const std::string_view kLiveJs;   ///< follows a run in progress; in served pages only

}  // namespace hearsay::report::assets
