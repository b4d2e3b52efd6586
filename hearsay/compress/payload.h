#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/core/bytes.h"

namespace hearsay::compress {

/// Encoded lengths of a bank's vectors.
struct Lengths {
  /// Bytes per row, in a result buffer of Kernels::results. Empty: all codes are `fixed_bytes`
  /// long.
  std::span<const std::uint64_t> bytes{};
  std::uint64_t fixed_bytes = 0;
  std::size_t paper_bytes = 0;  ///< of one code, as the seed papers count it

  std::uint64_t length(std::size_t row) const { return bytes.empty() ? fixed_bytes : bytes[row]; }
};

/// One vector per peer of the bank, as its receivers will decode it, and its size on the wire.
struct Payload : Lengths {
  enum class Form {
    kCompressed,  ///< receivers get C(v)
    kRaw,         ///< rows are sent uncompressed, 4 bytes per float
    kUndecoded,   ///< receivers get the code itself: to decode it they need their own model
  };
  Form form = Form::kCompressed;
  std::vector<backend::VectorView> rows;  ///< row i: what peer first + i sends; not if undecoded
  /// Of each row. If undecoded, always; if compressed, where some go to another process; else
  /// empty.
  std::vector<Bytes> codes;
};

}  // namespace hearsay::compress
