#include "hearsay/algorithm/bank.h"

namespace hearsay::algorithm {

BankCompressor::BankCompressor(const compress::Compressor& compressor, const Layout& layout,
                               backend::Kernels& kernels, ThreadPool& pool, std::uint64_t seed,
                               std::uint32_t first)
    : compressor_(compressor),
      layout_(layout),
      kernels_(kernels),
      pool_(pool),
      seed_(seed),
      first_(first) {}

void BankCompressor::compress(backend::ConstBlock v, std::uint32_t round, Payload& payload) {
  decoded_.resize(v.rows);
  payload.rows.resize(v.rows);
  const std::span<std::uint64_t> bytes = kernels_.results<std::uint64_t>(v.rows);
  payload.bytes = bytes;
  payload.paper_bytes = compressor_.paper_bytes(layout_);
  pool_.run(v.rows, [&](std::size_t i) {
    const Random random(seed_, Purpose::kRounding, first_ + static_cast<std::uint32_t>(i), round);
    bytes[i] = compressor_.compress(v.row(i), layout_, random, decoded_[i], nullptr);
    payload.rows[i] = decoded_[i].view();
  });
}

}  // namespace hearsay::algorithm
