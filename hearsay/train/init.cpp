#include "hearsay/train/init.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"
#include "hearsay/core/sha256.h"

namespace hearsay::train {

namespace {

constexpr std::string_view kMark = ",sha256=";
constexpr std::size_t kDigits = 64;

/// The position of the ",sha256=" of a pinned file; npos if it is not pinned.
std::size_t mark_of(const std::string& init) {
  if (init.size() < kMark.size() + kDigits) return std::string::npos;
  const std::size_t at = init.size() - kMark.size() - kDigits;
  if (init.compare(at, kMark.size(), kMark) != 0) return std::string::npos;
  const bool digits = std::all_of(init.end() - kDigits, init.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  return digits ? at : std::string::npos;
}

std::string sha256_of(const std::string& file) {
  InputFile in;
  if (!in.open(file).empty()) {
    throw InvalidArgument(
        fmt::format("[init] there is no file '{}'; give a safetensors file, or none", file));
  }
  Sha256 sha;
  std::vector<char> buffer(1 << 16);
  while (const std::size_t got = in.read(buffer.data(), buffer.size())) {
    sha.update(buffer.data(), got);
  }
  return sha.finish_hex();
}

}  // namespace

std::string pin_init(const std::string& init) {
  if (init == "none" || mark_of(init) != std::string::npos) return init;
  return init + std::string(kMark) + sha256_of(init);
}

SavedModel load_init(const std::string& pinned, const Layout& layout, const Layout& buffer_layout) {
  const std::size_t at = mark_of(pinned);
  const std::string file = pinned.substr(0, at);
  std::error_code error;
  if (at != std::string::npos && !std::filesystem::exists(file, error)) {
    throw InvalidArgument(
        fmt::format("[init] {} is gone since it was set; put back the file", file));
  }
  if (at != std::string::npos && sha256_of(file) != pinned.substr(at + kMark.size())) {
    throw InvalidArgument(fmt::format(
        "[init] {} has changed since it was set: its SHA-256 is not {}; put back the file", file,
        pinned.substr(at + kMark.size())));
  }
  return read_safetensors(file, layout, buffer_layout);
}

}  // namespace hearsay::train
