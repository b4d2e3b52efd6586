#pragma once

#include <string>
#include <string_view>

namespace hearsay::report {

/// The parts of an HTML page.
struct Frame {
  std::string title;  ///< of the window
  std::string body;   ///< HTML
  std::string data;   ///< JSON without '<', for the scripts (page_data.h)
  bool live = false;  ///< include the script that follows a run; allow requests to its server
};

/// Whether a file that begins with this text is such a page.
bool is_page(std::string_view text);

/// A whole HTML file: head, style, body, data, scripts. Its content security policy forbids all
/// fetches and all scripts but the page's own, which it identifies by their SHA-256: a text that
/// was not escaped by mistake still could not run.
std::string frame(const Frame& page);

}  // namespace hearsay::report
