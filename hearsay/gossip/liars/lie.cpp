#include "hearsay/gossip/liars/lie.h"

#include <algorithm>
#include <cmath>

#include "hearsay/core/random.h"

namespace hearsay::gossip {

namespace {

constexpr Parameter kPeers = {"peers", "2", "[1, 1000000]", "how many lie; the seed says who"};
constexpr Parameter kAt = {"at", "any", "any|NUMBERS", "who lies instead: numbers joined by +"};
constexpr Parameter kWeight = {"weight", "1", "(0, 1e9]",
                               "times the own push-sum weight is claimed"};
constexpr Parameter kPlain[] = {kPeers, kAt, kWeight};
constexpr Parameter kNoise[] = {
    kPeers, kAt, kWeight, {"times", "10", "(0, 1e9]", "noise, of the size of the weights"}};
constexpr Parameter kAlie[] = {
    kPeers, kAt, kWeight, {"times", "1.5", "[0, 1e9]", "standard deviations from the mean"}};

double entry(const Said& said, std::size_t k) { return static_cast<double>(said.x[k]) / said.u; }

class SignFlip final : public Lie {
 public:
  void tell(const Knowledge& knowledge, std::span<float> z) const override {
    for (std::size_t k = 0; k < z.size(); ++k) z[k] = static_cast<float>(-entry(knowledge.own, k));
  }
};

class Noise final : public Lie {
 public:
  Noise(double times, std::uint64_t seed) : times_(times), seed_(seed) {}

  void tell(const Knowledge& knowledge, std::span<float> z) const override {
    Random random(seed_, Purpose::kLies, knowledge.liar, knowledge.round);
    const double size = times_ * scale_of(knowledge.own.x) / knowledge.own.u;
    for (std::size_t k = 0; k < z.size(); ++k) {
      z[k] = static_cast<float>(entry(knowledge.own, k) + size * random.normal());
    }
  }

 private:
  double times_;
  std::uint64_t seed_;
};

class Alie final : public Lie {
 public:
  explicit Alie(double times) : times_(times) {}

  void tell(const Knowledge& knowledge, std::span<float> z) const override {
    const auto count = static_cast<double>(knowledge.honest.size());
    for (std::size_t k = 0; k < z.size(); ++k) {
      double mean = 0, squares = 0;
      for (const Said& said : knowledge.honest) mean += entry(said, k) / count;
      for (const Said& said : knowledge.honest) squares += std::pow(entry(said, k) - mean, 2);
      z[k] = static_cast<float>(mean - times_ * std::sqrt(squares / count));
    }
  }

 private:
  double times_;
};

class Constant final : public Lie {
 public:
  explicit Constant(const LieContext& context) : context_(context) {}

  void tell(const Knowledge& /*knowledge*/, std::span<float> z) const override {
    constexpr std::uint32_t kNobody = 0xFFFFFFFF;  // a stream of no peer's
    Random random(context_.seed, Purpose::kLies, kNobody);
    for (float& value : z) value = static_cast<float>(context_.scale * random.normal());
  }

 private:
  LieContext context_;
};

std::unique_ptr<Lie> make_none(const Arguments& /*arguments*/, const LieContext& /*context*/) {
  return nullptr;
}
std::unique_ptr<Lie> make_sign_flip(const Arguments& /*arguments*/, const LieContext& /*context*/) {
  return std::make_unique<SignFlip>();
}
std::unique_ptr<Lie> make_noise(const Arguments& arguments, const LieContext& context) {
  return std::make_unique<Noise>(arguments.number_in_range("times"), context.seed);
}
std::unique_ptr<Lie> make_alie(const Arguments& arguments, const LieContext& /*context*/) {
  return std::make_unique<Alie>(arguments.number_in_range("times"));
}
std::unique_ptr<Lie> make_constant(const Arguments& /*arguments*/, const LieContext& context) {
  return std::make_unique<Constant>(context);
}

constexpr LieEntry kLies[] = {
    {"none", "none", "all peers are honest", {}, make_none},
    {"sign-flip", "sign-flip:peers=2", "the negative model", kPlain, make_sign_flip},
    {"noise", "noise:peers=2,times=10", "the model under noise", kNoise, make_noise},
    {"alie", "alie:peers=2,times=1.5", "a little off the honest peers' mean (ALIE)", kAlie,
     make_alie},
    {"constant", "constant:peers=2", "always the same random model", kPlain, make_constant},
};

}  // namespace

Registry<LieEntry> lie_registry() { return {"lie", kLies}; }

double scale_of(std::span<const float> z) {
  double squares = 0;
  for (const float value : z) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, z.size())));
}

}  // namespace hearsay::gossip
