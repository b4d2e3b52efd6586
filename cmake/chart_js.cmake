# Chart.js, which draws the curves of report pages (report/page/assets/): its text is embedded in the library. Needed
# only at build time: pages are self-contained.
find_file(HEARSAY_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH
          DOC "Chart.js 3.9, minified")
if(NOT HEARSAY_CHART_JS)
  message(FATAL_ERROR "Chart.js was not found; install libjs-chart.js, or set HEARSAY_CHART_JS to the "
                      "chart.min.js of a Chart.js 3.9")
endif()
file(STRINGS ${HEARSAY_CHART_JS} hearsay_chart_js_version REGEX "Chart\\.js v[0-9.]+" LIMIT_COUNT 1)
if(NOT hearsay_chart_js_version MATCHES "Chart\\.js v(3\\.[0-9.]+)")
  message(FATAL_ERROR "${HEARSAY_CHART_JS} is no Chart.js 3, which report pages are written for")
endif()
message(STATUS "Chart.js: ${HEARSAY_CHART_JS}, ${CMAKE_MATCH_1}")
