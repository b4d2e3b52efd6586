#include "hearsay/net/model_piece.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

Bytes encode_frame(const ModelPiece& piece) {
  assert(piece.digest.has_value() == (piece.offset + piece.bytes.size() == piece.total));
  assert(!piece.bytes.empty() && piece.bytes.size() <= kMostPieceBytes);
  Bytes body;
  body.reserve(kMostModelBytes);
  append(body, piece.offset);
  append(body, piece.bytes);
  if (piece.digest) append(body, ByteView(*piece.digest));
  return encode_frame(FrameType::kModel, 0, piece.total, body);
}

ModelPiece decode_model_piece(const Frame& frame) {
  ByteReader in(frame.body, "model");
  ModelPiece piece;
  piece.total = frame.header.number;
  piece.offset = in.read<std::uint64_t>();
  if (piece.offset >= piece.total) {
    throw CorruptData(fmt::format("[model] a piece at {} of {} bytes", piece.offset, piece.total));
  }
  const std::uint64_t missing = piece.total - piece.offset, here = in.left();
  std::array<std::uint8_t, 32> digest{};
  const bool last = here >= missing && here - missing == digest.size();
  if (here == 0 || (here >= missing && !last)) {
    throw CorruptData(fmt::format(
        "[model] {} bytes where {} of {} are missing; a piece has some of them, the last one all "
        "and a digest",
        here, missing, piece.total));
  }
  piece.bytes = in.take(static_cast<std::size_t>(last ? missing : here));
  if (last) {
    std::ranges::copy(in.take(digest.size()), digest.begin());
    piece.digest = digest;
  }
  return piece;
}

}  // namespace hearsay::net
