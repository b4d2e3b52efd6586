#include "hearsay/core/bytes.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay {

ByteView ByteReader::take(std::size_t count) {
  if (count > bytes_.size()) {
    throw CorruptData(fmt::format("[{}] ends early: {} more bytes expected, {} left", what_, count,
                                  bytes_.size()));
  }
  const ByteView taken = bytes_.first(count);
  bytes_ = bytes_.subspan(count);
  return taken;
}

}  // namespace hearsay
