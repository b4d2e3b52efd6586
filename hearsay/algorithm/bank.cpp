#include "hearsay/algorithm/bank.h"

namespace hearsay::algorithm {

BankCompressor::BankCompressor(const compress::Compressor& compressor, const Layout& layout,
                               backend::Kernels& kernels, ThreadPool& pool, std::uint64_t seed,
                               std::uint32_t first, bool encodes)
    : compressor_(compressor),
      layout_(layout),
      kernels_(kernels),
      operator_(compress::make_bank_operator({.kernels = kernels,
                                              .compressor = compressor,
                                              .layout = layout,
                                              .pool = pool,
                                              .seed = seed,
                                              .first = first})),
      encodes_(encodes) {}

void BankCompressor::compress(backend::ConstBlock v, std::uint32_t round, Payload& payload) {
  const std::span<std::uint64_t> bytes = kernels_.results<std::uint64_t>(v.rows);
  payload.bytes = bytes;
  payload.paper_bytes = compressor_.paper_bytes(layout_);
  if (encodes_) {
    operator_->encode(v, round, bytes, payload.rows, payload.codes);
  } else {
    operator_->compress(v, round, bytes, payload.rows);
  }
}

}  // namespace hearsay::algorithm
