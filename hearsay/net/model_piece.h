#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hearsay/core/bytes.h"
#include "hearsay/net/frame.h"

namespace hearsay::net {

/// A piece of a model on its way to a peer that enters late. On the wire the bytes of the whole
/// model are the frame's number, and the body is: offset u64, the piece, and with the piece that
/// ends the model the SHA-256 of the whole.
struct ModelPiece {
  std::uint64_t total = 0;   ///< bytes of the whole model
  std::uint64_t offset = 0;  ///< of this piece
  ByteView bytes;
  std::optional<std::array<std::uint8_t, 32>> digest;  ///< with the last piece
};

/// A piece has at most this many bytes: with its digest it fits into kMostModelBytes.
inline constexpr std::size_t kMostPieceBytes = kMostModelBytes - sizeof(std::uint64_t) - 32;

/// The frame. `digest` is set exactly if offset + bytes.size() == total.
Bytes encode_frame(const ModelPiece& piece);

/// Throws CorruptData unless the piece lies within the model, holds bytes, and has a digest exactly
/// if it is the last one. Its bytes are those of the frame, a MODEL.
ModelPiece decode_model_piece(const Frame& frame);

}  // namespace hearsay::net
