#pragma once

#include <string_view>

namespace hearsay {

/// The library's version, "0.1.0": what `hearsay --version` and a run's summary.json say.
std::string_view version();

}  // namespace hearsay
