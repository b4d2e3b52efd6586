#include "hearsay/algorithm/bank.h"

namespace hearsay::algorithm {

BankCompressor::BankCompressor(const compress::Compressor& compressor, const Layout& layout,
                               backend::Kernels& kernels, ThreadPool& pool, std::uint64_t seed,
                               std::uint32_t first)
    : compressor_(compressor),
      layout_(layout),
      kernels_(kernels),
      operator_(compress::make_bank_operator({.kernels = kernels,
                                              .compressor = compressor,
                                              .layout = layout,
                                              .pool = pool,
                                              .seed = seed,
                                              .first = first})) {}

void BankCompressor::compress(backend::ConstBlock v, std::uint32_t round, Payload& payload) {
  operator_->compress(v, round, room(v.rows, payload), payload.rows);
}

void BankCompressor::encode(backend::ConstBlock v, std::uint32_t round, Payload& payload,
                            std::vector<Bytes>& wire) {
  operator_->encode(v, round, room(v.rows, payload), payload.rows, wire);
}

std::span<std::uint64_t> BankCompressor::room(std::size_t rows, Payload& payload) {
  const std::span<std::uint64_t> bytes = kernels_.results<std::uint64_t>(rows);
  payload.bytes = bytes;
  payload.paper_bytes = compressor_.paper_bytes(layout_);
  return bytes;
}

}  // namespace hearsay::algorithm
