#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/bytes.h"
#include "support/message_of.h"
#include "support/scratch.h"

namespace hearsay::data {

using support::message_of;
using support::Scratch;

/// Small files of every format that a dataset can be read from.

Bytes bytes_of(std::string_view text);
Bytes read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, ByteView bytes);

/// An IDX file of bytes with those dimensions; entries 0, 1, ... modulo `modulus`.
Bytes idx(std::vector<std::uint32_t> dimensions, std::size_t modulus);
Bytes gzip(ByteView bytes);

/// A .npy file: type as "<f4", shape as "(2, 3)".
Bytes npy(std::string_view type, std::string_view shape, ByteView entries);
template <class T>
Bytes npy(std::string_view type, std::string_view shape, std::vector<T> entries) {
  Bytes bytes;
  append(bytes, std::span<const T>(entries));
  return npy(type, shape, ByteView(bytes));
}

struct Member {
  std::string name;
  Bytes bytes;
};
Bytes zip(const std::vector<Member>& members, bool deflated);

/// A picture of `rgb` bytes as PNG, or as JPEG of the best quality.
Bytes png(std::size_t height, std::size_t width, ByteView rgb);
Bytes jpeg(std::size_t height, std::size_t width, ByteView rgb);

/// MNIST's four files with 20 training and 10 test images, pixel k of image i = (784 i + k) % 251.
void write_mnist(const std::filesystem::path& folder, bool gzipped);
/// All files of CIFAR-10 or 100 at their full size, sparse: labels 0, 1, ... once, from the first
/// record of each file on; the rest is zero.
void write_cifar10(const std::filesystem::path& folder);
void write_cifar100(const std::filesystem::path& folder);
/// train/ and val/ with classes cat and dog, one PNG and one JPEG each, `side` pixels wide.
void write_folder(const std::filesystem::path& folder, std::size_t side);

/// Write the files that the registry's row `name` reads into the folder; returns the spec to read
/// them.
std::string write_example(std::string_view name, const std::filesystem::path& folder);

/// The same with numbers to predict, for rows with make_regression.
std::string write_regression_example(std::string_view name, const std::filesystem::path& folder);

}  // namespace hearsay::data
