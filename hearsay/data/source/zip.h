#pragma once

#include <string>
#include <vector>

#include "hearsay/data/source/source_file.h"

namespace hearsay::data {

/// One file inside a zip archive.
struct ZipMember {
  std::string name;
  std::size_t method;  ///< 0: stored, 8: deflated
  std::uint32_t crc;
  std::size_t packed;
  std::size_t size;
  std::size_t header;  ///< where its local header begins
};

/// The members of the archive in `bytes`, in its order. Archives or members beyond 4 GB are
/// rejected. Throws CorruptData, naming `file`.
std::vector<ZipMember> zip_members(ByteView bytes, const SourceFile& file);

/// The first bytes of a member, unpacked, at most `count`: fewer if it is shorter or damaged.
/// Throws CorruptData.
Bytes unzip_beginning(ByteView bytes, const ZipMember& member, std::size_t count,
                      const SourceFile& file);

/// The bytes of a member, unpacked and checked against its length and CRC-32. Throws CorruptData.
Bytes unzip(ByteView bytes, const ZipMember& member, const SourceFile& file);

}  // namespace hearsay::data
