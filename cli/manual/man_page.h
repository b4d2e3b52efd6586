#pragma once

#include <map>
#include <string>

#include "cli/manual/description.h"

namespace hearsay::cli {

/// The man pages (section 1) by file name: "hearsay.1" and one for each command,
/// "hearsay-train.1". In roff, with the macros of man(7).
std::map<std::string, std::string> man_pages(const CommandText& program);

}  // namespace hearsay::cli
