#pragma once

#include <string>
#include <string_view>

namespace hearsay::report {

/// What a page is put into.
struct Frame {
  std::string title;  ///< of the window
  std::string body;   ///< HTML
  std::string data;   ///< JSON without '<', for the scripts (page_data.h)
  bool live = false;  ///< with the script that follows a run, and leave to talk to its own server
};

/// A whole HTML file: head, style, body, data, scripts. Its content security policy lets nothing
/// come from anywhere, and no script run but the page's own, which it names by their SHA-256: a
/// text that slipped through unescaped could still do nothing.
std::string frame(const Frame& page);

}  // namespace hearsay::report
