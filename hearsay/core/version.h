#pragma once

#include <string_view>

namespace hearsay {

/// The library's version, "0.1.0": as in `hearsay --version` and a run's summary.json.
std::string_view version();

}  // namespace hearsay
