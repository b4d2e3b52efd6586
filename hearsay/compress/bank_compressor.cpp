#include "hearsay/compress/bank_compressor.h"

#include "hearsay/compress/device_vector.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::compress {

namespace {

/// The Compressor itself, rows in parallel.
class HostCompressor final : public BankCompressor {
 public:
  explicit HostCompressor(const Parts& parts) : BankCompressor(parts) {}

 private:
  void run(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
           std::vector<backend::VectorView>& q, std::vector<Bytes>* codes) override {
    const bool on_host = parts_.kernels.on_host();
    vectors_.resize(v.rows);
    q.resize(v.rows);
    if (codes) codes->assign(v.rows, {});
    copies_.resize(on_host ? 0 : v.rows);
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      copies_[i].resize(v.dim);
      parts_.kernels.download(v, i, copies_[i]);
    }
    parts_.pool.run(v.rows, [&](std::size_t i) {
      const std::uint32_t peer = parts_.first + static_cast<std::uint32_t>(i);
      const Random random(parts_.seed, Purpose::kRounding, peer, round);
      bytes[i] = parts_.compressor.compress(on_host ? v.row(i) : std::span<const float>(copies_[i]),
                                            parts_.layout, random, vectors_[i].decoded,
                                            codes ? &(*codes)[i] : nullptr);
    });
    for (std::size_t i = 0; i < v.rows; ++i) q[i] = vectors_[i].place(parts_.kernels);
  }

  std::vector<DeviceVector> vectors_;
  std::vector<std::vector<float>> copies_;  ///< of rows on a device
};

}  // namespace

void BankCompressor::compress(backend::ConstBlock v, std::uint32_t round, Payload& payload) {
  const std::span<std::uint64_t> bytes = parts_.kernels.results<std::uint64_t>(v.rows);
  payload.form = Payload::Form::kCompressed;
  payload.bytes = bytes;
  payload.paper_bytes = parts_.compressor.paper_bytes(parts_.layout);
  run(v, round, bytes, payload.rows, parts_.encodes ? &payload.codes : nullptr);
}

std::unique_ptr<BankCompressor> make_bank_compressor(const BankCompressor::Parts& parts) {
  const bool known = !std::holds_alternative<OtherKind>(parts.compressor.kind());
  if (parts.kernels.device() == "cuda" && known) return make_cuda_bank_compressor(parts);
  return std::make_unique<HostCompressor>(parts);
}

}  // namespace hearsay::compress
