#include "hearsay/report/page/frame.h"

#include <vector>

#include <fmt/format.h>

#include "hearsay/core/markup.h"
#include "hearsay/core/sha256.h"
#include "hearsay/report/page/assets.h"

namespace hearsay::report {

namespace {

/// By it the program knows its own pages, and overwrites no other file.
constexpr std::string_view kMark = "<meta name=\"generator\" content=\"hearsay\">\n";

std::string base64(const std::array<std::uint8_t, 32>& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = at; k < at + 3; ++k)
      group = group << 8 | (k < bytes.size() ? bytes[k] : 0u);
    for (int shift = 18; shift >= 0; shift -= 6) out += kDigits[group >> shift & 63];
  }
  out.back() = '=';  // 32 bytes are one short of eleven groups
  return out;
}

std::string source_of(std::string_view script) {
  Sha256 sha;
  sha.update(script.data(), script.size());
  return fmt::format("'sha256-{}'", base64(sha.finish()));
}

}  // namespace

bool is_page(std::string_view text) {
  return text.find(kMark) != std::string_view::npos ||
         text.find("<title>hearsay: ") != std::string_view::npos;  // of earlier versions
}

std::string frame(const Frame& page) {
  std::vector<std::string_view> scripts{assets::kChartJs,  assets::kLabelsJs, assets::kHoverJs,
                                        assets::kChartsJs, assets::kZoomJs,   assets::kSaveJs,
                                        assets::kPageJs,   assets::kTableJs};
  if (page.live) scripts.push_back(assets::kLiveJs);
  std::string sources, elements;
  for (std::string_view script : scripts) {
    sources += " " + source_of(script);
    elements += fmt::format("<script>{}</script>\n", script);
  }
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "{}"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
             "script-src{}{}\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
             kMark, sources, page.live ? "; connect-src 'self'" : "", escape_markup(page.title),
             assets::kPageCss) +
         page.body + "<script type=\"application/json\" id=\"data\">" + page.data + "</script>\n" +
         elements + "</body>\n</html>\n";
}

}  // namespace hearsay::report
