#include "hearsay/data/source/zip.h"

#include <zlib.h>

#include <algorithm>

#include <fmt/format.h>

namespace hearsay::data {

namespace {

// APPNOTE.TXT of PKWARE: signatures, fixed lengths, and offsets of the fields that are read here.
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEntry = 0x02014b50;
constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::size_t kEndLength = 22;
constexpr std::size_t kEntryLength = 46;
constexpr std::size_t kLocalLength = 30;
constexpr std::size_t kLongestComment = 65535;
constexpr std::size_t kZip64 = 0xffffffff;  // too large for this field: stored elsewhere

std::size_t word16(ByteView bytes, std::size_t at) {
  return bytes[at] | std::size_t{bytes[at + 1]} << 8;
}

std::size_t word32(ByteView bytes, std::size_t at) {
  return word16(bytes, at) | word16(bytes, at + 2) << 16;
}

/// Where the end record begins: the last position that can be one.
std::size_t find_end(ByteView bytes, const SourceFile& file) {
  if (bytes.size() < kEndLength) file.corrupt("is too short for a zip archive");
  const std::size_t last = bytes.size() - kEndLength;
  const std::size_t stop = last - std::min(last, kLongestComment);
  for (std::size_t at = last + 1; at-- > stop;) {
    if (word32(bytes, at) == kEnd) return at;
  }
  file.corrupt("is no zip archive, or cut off: it has no end record");
}

/// The bytes of a member as they are stored, by method 0 or 8.
ByteView packed_bytes(ByteView bytes, const ZipMember& member, const SourceFile& file) {
  const auto cut_off = [&] { file.corrupt(fmt::format("is cut off in {}", member.name)); };
  if (member.header > bytes.size() || bytes.size() - member.header < kLocalLength) cut_off();
  if (word32(bytes, member.header) != kLocal) {
    file.corrupt(fmt::format("has no header where {} should begin", member.name));
  }
  const std::size_t begin = member.header + kLocalLength + word16(bytes, member.header + 26) +
                            word16(bytes, member.header + 28);
  if (begin > bytes.size() || bytes.size() - begin < member.packed) cut_off();
  if (member.method != 0 && member.method != 8) {
    file.corrupt(fmt::format("packs {} by method {}; 0 (stored) and 8 (deflated) can be read",
                             member.name, member.method));
  }
  return bytes.subspan(begin, member.packed);
}

}  // namespace

std::vector<ZipMember> zip_members(ByteView bytes, const SourceFile& file) {
  const std::size_t end = find_end(bytes, file);
  const std::size_t count = word16(bytes, end + 10);
  std::size_t at = word32(bytes, end + 16);
  std::vector<ZipMember> members;
  for (std::size_t i = 0; i < count; ++i) {
    if (at > end || end - at < kEntryLength || word32(bytes, at) != kEntry) {
      file.corrupt(
          fmt::format("has no entry {} in its table of contents, which promises {}", i, count));
    }
    const std::size_t name_length = word16(bytes, at + 28);
    const std::size_t length =
        kEntryLength + name_length + word16(bytes, at + 30) + word16(bytes, at + 32);
    if (end - at < length) file.corrupt("has a table of contents that is cut off");
    const ByteView name = bytes.subspan(at + kEntryLength, name_length);
    ZipMember member{.name = std::string(name.begin(), name.end()),
                     .method = word16(bytes, at + 10),
                     .crc = static_cast<std::uint32_t>(word32(bytes, at + 16)),
                     .packed = word32(bytes, at + 20),
                     .size = word32(bytes, at + 24),
                     .header = word32(bytes, at + 42)};
    if (std::max({member.packed, member.size, member.header}) >= kZip64) {
      file.corrupt(
          fmt::format("holds {} of 4 GB or more; smaller arrays can be read", member.name));
    }
    members.push_back(std::move(member));
    at += length;
  }
  return members;
}

Bytes unzip_beginning(ByteView bytes, const ZipMember& member, std::size_t count,
                      const SourceFile& file) {
  const ByteView packed = packed_bytes(bytes, member, file);
  if (member.method == 8) return inflate_beginning(packed, Wrapping::kRaw, count);
  return {packed.begin(),
          packed.begin() + static_cast<std::ptrdiff_t>(std::min(packed.size(), count))};
}

Bytes unzip(ByteView bytes, const ZipMember& member, const SourceFile& file) {
  const ByteView packed = packed_bytes(bytes, member, file);
  Bytes out;
  if (member.method == 8) {
    out = inflate(packed, Wrapping::kRaw, file, member.size);
  } else {
    out.assign(packed.begin(), packed.end());
  }
  if (out.size() != member.size) {
    file.corrupt(fmt::format("has {} bytes of {}; its table of contents promises {}", out.size(),
                             member.name, member.size));
  }
  if (crc32_z(0, out.data(), out.size()) != member.crc) {
    file.corrupt(fmt::format("has other bytes in {} than its checksum says", member.name));
  }
  return out;
}

}  // namespace hearsay::data
