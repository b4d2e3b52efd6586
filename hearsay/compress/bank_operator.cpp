#include "hearsay/compress/bank_operator.h"

#include "hearsay/core/thread_pool.h"

namespace hearsay::compress {

namespace {

class HostOperator final : public BankOperator {
 public:
  explicit HostOperator(const BankOperatorParts& parts) : parts_(parts) {}

  void compress(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
                std::vector<backend::VectorView>& q) override {
    run(v, round, bytes, q, nullptr);
  }

  void encode(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
              std::vector<backend::VectorView>& q, std::vector<Bytes>& wire) override {
    wire.assign(v.rows, {});
    run(v, round, bytes, q, &wire);
  }

 private:
  void run(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
           std::vector<backend::VectorView>& q, std::vector<Bytes>* wire) {
    decoded_.resize(v.rows);
    q.resize(v.rows);
    parts_.pool.run(v.rows, [&](std::size_t i) {
      const std::uint32_t peer = parts_.first + static_cast<std::uint32_t>(i);
      const Random random(parts_.seed, Purpose::kRounding, peer, round);
      bytes[i] = parts_.compressor.compress(v.row(i), parts_.layout, random, decoded_[i],
                                            wire ? &(*wire)[i] : nullptr);
      q[i] = decoded_[i].view();
    });
  }

  BankOperatorParts parts_;
  std::vector<Decoded> decoded_;
};

}  // namespace

std::unique_ptr<BankOperator> make_bank_operator(const BankOperatorParts& parts) {
  if (parts.kernels.device() == "cuda") return make_cuda_bank_operator(parts);
  return std::make_unique<HostOperator>(parts);
}

}  // namespace hearsay::compress
