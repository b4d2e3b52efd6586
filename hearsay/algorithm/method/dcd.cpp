/// DCD-PSGD and ECD-PSGD (Tang, Gan, Zhang, Zhang, Liu 2018). W symmetric and static; hats start at
/// their peers' initial models; compression must be mild (see check_fit).
///
/// dcd: a peer's model is its own hat.
///   half_i = sum_j W_ij hat_j - lr d_i,   q_i = C[half_i - hat_i],   hat_j += q_j
///
/// ecd: t = 1, 2, ... counts rounds.
///   x+_i = sum_j W_ij hat_j - lr d_i,     q_i = C[(1 - t/2) x_i + (t/2) x+_i]
///   hat_j = (1 - 2/t) hat_j + (2/t) q_j,  x_i = x+_i
///
/// Both compute sum_j W_ij hat_j for the next round as soon as the hats are updated, with the
/// weights that came with the messages.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"
#include "hearsay/algorithm/method/public_copies.h"

namespace hearsay::algorithm {

namespace {

class HatMethod : public Base {
 public:
  explicit HatMethod(const Bank& bank)
      : Base(bank), bank_(bank), copies_(bank), mixed_(another()) {}

  void start() override {
    kernels_.copy(x_, copies_.block());
    kernels_.copy(x_, mixed_);
  }

  void meet(std::span<const std::uint32_t> senders) override {
    copies_.meet(senders, bank_.start_of);
  }

  void state(backend::StateList& list) override {
    Base::state(list);
    copies_.state(list);
    list.per_peer("mixed_hats", mixed_);
  }

 protected:
  /// mixed = W hats.
  void mix_hats(const Exchange& exchange) {
    kernels_.copy(copies_.block(), mixed_);
    copies_.mix_into(exchange, mixed_);
  }

  const Bank bank_;
  PublicCopies copies_;
  backend::Array mixed_;
  backend::Block scratch_;
};

class Dcd : public HatMethod {
 public:
  using HatMethod::HatMethod;

  void step(backend::Block direction) override {
    kernels_.axpy(-round_.lr, direction, mixed_);  // half
    scratch_ = direction;
  }
  void emit(Outbox& outbox) override {
    copies_.emit_difference(mixed_, round_.index, scratch_, outbox);
  }
  void mix(const Exchange& exchange) override {
    copies_.follow(exchange);
    kernels_.copy(copies_.block(), x_);
    mix_hats(exchange);
  }
};

class Ecd : public HatMethod {
 public:
  using HatMethod::HatMethod;

  // Both formulas are evaluated as a point plus a difference: t grows, and so would the rounding
  // error of the cancellation.
  void step(backend::Block direction) override {
    kernels_.axpy(-round_.lr, direction, mixed_);  // x+
    const float half_t = 0.5f * static_cast<float>(round_.index + 1);
    kernels_.copy(mixed_, direction);
    kernels_.axpy(-1.0f, x_, direction);
    kernels_.axpby(1.0f, x_, half_t, direction);  // x + (t/2) (x+ - x)
    kernels_.copy(mixed_, x_);
    scratch_ = direction;
  }
  void emit(Outbox& outbox) override {
    bank_.compressor.compress(scratch_, round_.index, outbox.payloads.emplace_back());
  }
  void mix(const Exchange& exchange) override {
    copies_.blend(2.0f / static_cast<float>(round_.index + 1), exchange, scratch_);
    mix_hats(exchange);
  }
};

}  // namespace

std::unique_ptr<Algorithm> make_dcd(const Arguments&, const Bank& bank) {
  return std::make_unique<Dcd>(bank);
}

std::unique_ptr<Algorithm> make_ecd(const Arguments&, const Bank& bank) {
  return std::make_unique<Ecd>(bank);
}

}  // namespace hearsay::algorithm
