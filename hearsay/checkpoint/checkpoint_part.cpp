#include "hearsay/checkpoint/checkpoint_part.h"

#include <algorithm>
#include <cassert>
#include <future>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"

namespace hearsay::checkpoint {

namespace {

namespace fs = std::filesystem;
using backend::StateList;

constexpr std::string_view kMagic = "HSCKPT02";
constexpr std::size_t kBuffer = 1 << 20;

/// Writes to the file and updates the digest.
class Writer {
 public:
  explicit Writer(const fs::path& path) : file_(path) { bytes(kMagic.data(), kMagic.size()); }

  void bytes(const void* data, std::size_t size) {
    if (size < kBuffer) {  // not worth a thread
      sha_.update(data, size);
      return file_.write(data, size);
    }
    auto hashed =
        std::async(std::launch::async | std::launch::deferred, [&] { sha_.update(data, size); });
    file_.write(data, size);
    hashed.get();
  }
  Digest commit() {
    file_.commit();
    return sha_.finish();
  }

 private:
  DurableFile file_;
  Sha256 sha_;
};

struct Save {
  Writer& out;
  backend::Kernels& kernels;
  std::vector<float>& row;  ///< host buffer for one row of a device

  void operator()(const backend::Array* rows) const {
    const backend::ConstBlock block = *rows;
    if (kernels.on_host()) return out.bytes(block.data, block.size() * sizeof(float));
    row.resize(block.dim);
    for (std::size_t i = 0; i < block.rows; ++i) {
      kernels.download(block, i, row);
      out.bytes(row.data(), row.size() * sizeof(float));
    }
  }
  void operator()(const backend::RowsAndReplicas& place) const { (*this)(place.rows); }
  template <class T>
  void operator()(const std::vector<T>* values) const {
    out.bytes(values->data(), values->size() * sizeof(T));
  }
  template <class T>
  void operator()(const T*) const {}  // scalars are in the manifest
};

/// Restores one item of a part, whose rows begin at byte `at`, and advances `at` to the next item.
struct Restore {
  PartReader& in;
  backend::Kernels& kernels;
  PeerRange held, own;
  std::uint64_t& at;

  void operator()(const backend::Array* rows) const {
    std::vector<float> row(rows->block().dim);
    for (std::size_t peer = held.first; peer < held.end(); ++peer) {
      if (own.holds(peer)) copy_row(peer, row, *rows, peer - own.first);
    }
    at += held.count * row.size() * sizeof(float);
  }
  void operator()(const backend::RowsAndReplicas& place) const {
    const std::vector<std::uint32_t>& replicas = place.replicas->peers;
    std::vector<float> row(place.rows->block().dim);
    for (std::size_t k = 0; k < replicas.size(); ++k) {
      if (held.holds(replicas[k])) copy_row(replicas[k], row, place.replicas->rows, k);
    }
    (*this)(place.rows);
  }
  template <class T>
  void operator()(std::vector<T>* values) const {
    if (values->empty()) return;
    assert(values->size() == own.count);
    const std::size_t begin = std::max(held.first, own.first);
    const std::size_t end = std::min(held.end(), own.end());
    if (begin < end) {
      in.read(at + (begin - held.first) * sizeof(T), &(*values)[begin - own.first],
              (end - begin) * sizeof(T));
    }
    at += held.count * sizeof(T);
  }
  template <class T>
  void operator()(const T*) const {}  // scalars are in the manifest

 private:
  void copy_row(std::size_t peer, std::span<float> row, backend::Block to, std::size_t i) const {
    in.read(at + (peer - held.first) * row.size_bytes(), row.data(), row.size_bytes());
    kernels.upload(row, to, i);
  }
};

}  // namespace

Digest write_part(const fs::path& path, const StateList& list, backend::Kernels& kernels) {
  Writer out(path);
  std::vector<float> row;
  for (const StateList::Item& item : list.items()) std::visit(Save{out, kernels, row}, item.place);
  return out.commit();
}

bool has_room_for(const StateList& list, PeerRange own, PeerRange peers) {
  if (std::max(own.first, peers.first) < std::min(own.end(), peers.end())) return true;
  return std::ranges::any_of(list.items(), [&](const StateList::Item& item) {
    const auto* place = std::get_if<backend::RowsAndReplicas>(&item.place);
    return place != nullptr &&
           std::ranges::any_of(place->replicas->peers,
                               [&](std::uint32_t replica) { return peers.holds(replica); });
  });
}

PartReader::PartReader(fs::path path, const Manifest::Part& part)
    : path_(std::move(path)), peers_(part.peers) {
  std::error_code error;
  if (!fs::exists(path_, error)) reject("is missing");
  if (const std::string why = in_.open(path_); !why.empty()) {
    reject(fmt::format("cannot be read: {}", why));
  }
  if (digest() != part.digest) reject("is damaged: its checksum does not match");
}

Digest PartReader::digest() {
  Sha256 sha;
  std::vector<char> buffer(kBuffer);
  while (const std::size_t got = in_.read(buffer.data(), kBuffer)) sha.update(buffer.data(), got);
  return sha.finish();
}

void PartReader::restore(const StateList& list, PeerRange own, backend::Kernels& kernels) {
  std::uint64_t at = kMagic.size();
  for (const StateList::Item& item : list.items()) {
    std::visit(Restore{*this, kernels, peers_, own, at}, item.place);
  }
}

void PartReader::read(std::uint64_t at, void* data, std::size_t size) {
  in_.seek(at);
  if (in_.read(data, size) != size) reject("cannot be read");
}

void PartReader::reject(std::string_view why) const {
  throw CorruptData(fmt::format("[checkpoint] {} {}", path_.string(), why));
}

}  // namespace hearsay::checkpoint
