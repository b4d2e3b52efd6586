#pragma once

#include "backend/kernels_contract.h"
#include "hearsay/backend/mass_meter.h"

/// Kernels::mix_compensated where x + low is also scaled (keep != 1), and how a MassMeter measures
/// it. Included by one source per kind of device.
namespace hearsay::backend {

/// x + low = 0.7^k (x + low): every step rounds twice, to two floats.
TEST_P(KernelTest, CompensatedMixingScalesFarBeyondFloats) {
  constexpr float kKeep = 0.7f;
  Array x = random_block(1), low = kernels_->allocate(rows(), dim());
  const Array nothing = kernels_->allocate(rows(), dim());
  const std::vector<float> before = values(x);
  const std::vector<std::uint32_t> begin(rows() + 1, 0);
  const std::vector<double> debit(rows(), 0.0);
  std::vector<VectorView> q;
  for (std::size_t i = 0; i < rows(); ++i) q.push_back({nothing.row(i).data()});
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    kernels_->mix_compensated({begin, {}, {}, debit}, q, kKeep, x, low);
  }
  const std::vector<float> high = values(x), rest = values(low);
  for (std::size_t k = 0; k < before.size(); ++k) {
    const double expected =
        std::pow(static_cast<double>(kKeep), kRounds) * static_cast<double>(before[k]);
    const double found = static_cast<double>(high[k]) + static_cast<double>(rest[k]);
    ASSERT_NEAR(found, expected, 1e-13 * std::abs(expected)) << k;
  }
}

class MeterTest : public KernelTest {
 protected:
  /// The drift that a meter finds in one compensated mixing on a ring. `debits`: of what every peer
  /// sends, the part that it is charged for.
  double drift(float keep, double debits) {
    std::vector<float> small = random_floats(3);
    for (float& value : small) value *= 1e-4f;  // more than rounding: a meter must not ignore it
    Array x = random_block(1), low = block_of(small);
    const Array sent = random_block(2);
    Ring ring(rows());
    for (double& debit : ring.debit) debit *= debits;
    std::vector<VectorView> q;
    for (std::size_t i = 0; i < rows(); ++i) q.push_back({sent.row(i).data()});
    MassMeter meter;
    kernels_->set_meter(&meter);
    kernels_->mix_compensated(ring.mixing(), q, keep, x, low);
    kernels_->set_meter(nullptr);
    return meter.drift();
  }
};

TEST_P(MeterTest, FindsNoDriftInCompensatedMixing) {
  for (const float keep : {1.0f, 0.7f}) EXPECT_LT(drift(keep, 1), 1e-11) << keep;
}

TEST_P(MeterTest, FindsWhatIsNotConserved) {
  if (dim() == 0) return;
  for (const float keep : {1.0f, 0.7f}) EXPECT_GT(drift(keep, 0.5), 1e-3) << keep;
}

}  // namespace hearsay::backend
