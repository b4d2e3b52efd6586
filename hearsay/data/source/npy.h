#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/data/source/source_file.h"

namespace hearsay::data {

/// An array as numpy saves it: little-endian entries in C order, `begin` bytes into `bytes`. The
/// kind is numpy's letter: b (bool), u, i or f; `width` is the bytes per entry.
struct Array {
  char kind = 0;
  std::size_t width = 0;
  std::vector<std::size_t> shape;
  std::size_t begin = 0;
  Bytes bytes;

  std::size_t size() const { return (bytes.size() - begin) / width; }
};

/// The longest header that is read; numpy writes fewer than 200 bytes for any array here.
inline constexpr std::size_t kMostNpyHeader = 4096;

/// Checks the first kMostNpyHeader + 12 bytes (or all, if there are fewer) of a .npy file of `size`
/// bytes, before the others are unpacked. Throws as parse_npy.
void check_npy(ByteView beginning, std::size_t size, std::string_view name, const SourceFile& file);

/// Parses the bytes of a .npy file (format 1 to 3): bool, u1..u8, i1..i8, f4 or f8, with as many
/// entries as its shape says. Throws CorruptData, naming `file` and the array.
Array parse_npy(Bytes bytes, std::string_view name, const SourceFile& file);

/// Entry i as a T, which must be the array's own type.
template <class T>
T entry(const Array& array, std::size_t i) {
  T value;
  std::memcpy(&value, array.bytes.data() + array.begin + i * sizeof(T), sizeof(T));
  return value;
}

/// Entry i of any array as a double. Whole numbers beyond 2^53 are rounded.
double number(const Array& array, std::size_t i);

}  // namespace hearsay::data
