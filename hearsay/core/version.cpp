#include "hearsay/core/version.h"

namespace hearsay {

std::string_view version() { return HEARSAY_VERSION; }

}  // namespace hearsay
