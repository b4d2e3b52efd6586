#include "hearsay/train/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/train/durable_file.h"

namespace hearsay::train {

namespace {

namespace fs = std::filesystem;
using backend::StateList;

constexpr std::string_view kMagic = "HSCKPT01";
constexpr std::size_t kDigest = 32;
constexpr std::size_t kBuffer = 1 << 20;
constexpr std::size_t kNameLength = 23;  // round-000000000123.ckpt

enum class Kind : std::uint8_t { kRows = 0, kDoubles = 1, kCount = 2, kReal = 3, kCounts = 4 };

/// Writes to the file and to the digest at once.
class Writer {
 public:
  explicit Writer(DurableFile& file) : file_(file) {}

  void bytes(const void* data, std::size_t size) {
    file_.write(data, size);
    sha_.update(data, size);
  }
  template <class T>
  void value(T value) {
    bytes(&value, sizeof(T));
  }
  void text(std::string_view text) {
    value<std::uint64_t>(text.size());
    bytes(text.data(), text.size());
  }
  void finish() {
    const auto digest = sha_.finish();
    file_.write(digest.data(), digest.size());
  }

 private:
  DurableFile& file_;
  Sha256 sha_;
};

/// Reads a file whose digest was checked; whatever else is wrong is CorruptData.
class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path), in_(path, std::ios::binary) {
    check_digest();
  }

  void bytes(void* data, std::size_t size) {
    if (size > left_) reject("ends early");
    in_.read(static_cast<char*>(data), static_cast<std::streamsize>(size));
    if (!in_) reject("cannot be read");
    left_ -= size;
  }
  template <class T>
  T value() {
    T value;
    bytes(&value, sizeof(T));
    return value;
  }
  std::string text() {
    const auto size = value<std::uint64_t>();
    if (size > left_) reject("ends early");
    std::string text(size, '\0');
    bytes(text.data(), size);
    return text;
  }
  [[noreturn]] void reject(std::string_view why) const {
    throw CorruptData(fmt::format("[checkpoint] {} {}", path_.string(), why));
  }

 private:
  void check_digest() {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path_, error);
    if (error || !in_) reject("cannot be read");
    if (size < kMagic.size() + kDigest) reject("is too short for a checkpoint");
    left_ = size - kDigest;
    Sha256 sha;
    std::vector<char> buffer(kBuffer);
    for (std::uintmax_t todo = left_; todo > 0;) {
      const auto piece = static_cast<std::size_t>(std::min<std::uintmax_t>(todo, kBuffer));
      in_.read(buffer.data(), static_cast<std::streamsize>(piece));
      if (!in_) reject("cannot be read");
      sha.update(buffer.data(), piece);
      todo -= piece;
    }
    std::array<std::uint8_t, kDigest> stored{};
    in_.read(reinterpret_cast<char*>(stored.data()), kDigest);
    if (sha.finish() != stored) reject("is damaged: its checksum does not match");
    in_.seekg(0);
    std::string magic(kMagic.size(), '\0');
    bytes(magic.data(), magic.size());
    if (magic != kMagic) reject("is no checkpoint of this version");
  }

  fs::path path_;
  std::ifstream in_;
  std::uintmax_t left_ = 0;
};

struct Save {
  Writer& out;
  backend::Kernels& kernels;

  void operator()(backend::Array* rows) const {
    const backend::ConstBlock block = *rows;
    out.value(Kind::kRows);
    out.value<std::uint64_t>(block.rows);
    out.value<std::uint64_t>(block.dim);
    std::vector<float> row(block.dim);
    for (std::size_t i = 0; i < block.rows; ++i) {
      kernels.download(block, i, row);
      out.bytes(row.data(), row.size() * sizeof(float));
    }
  }
  void operator()(const backend::RowsAndGuests& place) const { (*this)(place.rows); }
  void operator()(std::vector<double>* values) const { all(Kind::kDoubles, *values); }
  void operator()(std::vector<std::uint64_t>* values) const { all(Kind::kCounts, *values); }
  template <class T>
  void all(Kind kind, const std::vector<T>& values) const {
    out.value(kind);
    out.value<std::uint64_t>(values.size());
    out.bytes(values.data(), values.size() * sizeof(T));
  }
  void operator()(std::uint64_t* value) const {
    out.value(Kind::kCount);
    out.value(*value);
  }
  void operator()(double* value) const {
    out.value(Kind::kReal);
    out.value(*value);
  }
};

struct Restore {
  Reader& in;
  backend::Kernels& kernels;
  const std::string& name;

  void expect(Kind kind) const {
    if (in.value<Kind>() != kind) in.reject(fmt::format("holds '{}' as another kind", name));
  }
  void operator()(backend::Array* rows) const {
    expect(Kind::kRows);
    const backend::Block block = *rows;
    const auto saved_rows = in.value<std::uint64_t>(), saved_dim = in.value<std::uint64_t>();
    if (saved_rows != block.rows || saved_dim != block.dim) {
      in.reject(fmt::format("holds '{}' as {} x {}, and this run has {} x {}", name, saved_rows,
                            saved_dim, block.rows, block.dim));
    }
    std::vector<float> row(block.dim);
    for (std::size_t i = 0; i < block.rows; ++i) {
      in.bytes(row.data(), row.size() * sizeof(float));
      kernels.upload(row, block, i);
    }
  }
  void operator()(const backend::RowsAndGuests& place) const { (*this)(place.rows); }
  void operator()(std::vector<double>* values) const { all(Kind::kDoubles, *values); }
  void operator()(std::vector<std::uint64_t>* values) const { all(Kind::kCounts, *values); }
  template <class T>
  void all(Kind kind, std::vector<T>& values) const {
    expect(kind);
    if (in.value<std::uint64_t>() != values.size()) {
      in.reject(fmt::format("holds '{}' for another number of peers", name));
    }
    in.bytes(values.data(), values.size() * sizeof(T));
  }
  void operator()(std::uint64_t* value) const {
    expect(Kind::kCount);
    *value = in.value<std::uint64_t>();
  }
  void operator()(double* value) const {
    expect(Kind::kReal);
    *value = in.value<double>();
  }
};

}  // namespace

CheckpointStore::CheckpointStore(fs::path directory, std::string config_hash,
                                 std::string files_hash)
    : directory_(std::move(directory)),
      config_hash_(std::move(config_hash)),
      files_hash_(std::move(files_hash)) {}

std::vector<fs::path> CheckpointStore::newest_first() const {
  std::vector<fs::path> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("round-") && name.ends_with(".ckpt") && name.size() == kNameLength) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found, std::greater<>());
  return found;
}

void CheckpointStore::save(std::uint64_t round, const StateList& list, backend::Kernels& kernels) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) {
    throw RunFailed(
        fmt::format("[checkpoint] cannot create {}: {}", directory_.string(), error.message()));
  }
  DurableFile file(directory_ / fmt::format("round-{:012}.ckpt", round));
  Writer out(file);
  out.bytes(kMagic.data(), kMagic.size());
  out.text(config_hash_ + files_hash_);
  out.value<std::uint64_t>(round);
  out.value<std::uint64_t>(list.items().size());
  for (const StateList::Item& item : list.items()) {
    out.text(item.name);
    std::visit(Save{out, kernels}, item.place);
  }
  out.finish();
  file.commit();
  const std::vector<fs::path> files = newest_first();
  for (std::size_t i = 2; i < files.size(); ++i) fs::remove(files[i], error);
}

std::optional<std::uint64_t> CheckpointStore::restore_newest(const StateList& list,
                                                             backend::Kernels& kernels,
                                                             std::vector<std::string>& damaged) {
  const std::vector<fs::path> files = newest_first();
  for (const fs::path& path : files) {
    std::optional<Reader> reader;
    try {
      reader.emplace(path);
    } catch (const CorruptData& error) {
      damaged.emplace_back(error.what());
      continue;
    }
    Reader& in = *reader;
    if (const std::string owner = in.text(); owner != config_hash_ + files_hash_) {
      in.reject(owner.starts_with(config_hash_)
                    ? "is of a run on other files: those of --data or --graph have changed since; "
                      "put them back"
                    : "belongs to a run with other settings");
    }
    const auto round = in.value<std::uint64_t>();
    if (in.value<std::uint64_t>() != list.items().size())
      in.reject("holds other arrays than this run");
    for (const StateList::Item& item : list.items()) {
      const std::string name = in.text();
      if (name != item.name) {
        in.reject(fmt::format("holds '{}' where this run has '{}'", name, item.name));
      }
      std::visit(Restore{in, kernels, item.name}, item.place);
    }
    return round;
  }
  if (!damaged.empty()) {
    throw CorruptData(
        fmt::format("[checkpoint] all {} checkpoints in {} are damaged; the first: {}",
                    damaged.size(), directory_.string(), damaged.front()));
  }
  return std::nullopt;
}

}  // namespace hearsay::train
