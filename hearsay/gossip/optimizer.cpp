#include "hearsay/gossip/optimizer.h"

#include <cmath>

namespace hearsay::gossip {

namespace {

using backend::Array;
using backend::Block;
using backend::ConstBlock;
using backend::Kernels;

/// Common to all optimizers: g clipped per peer, then g + lambda x.
class Base : public Optimizer {
 public:
  Base(const Arguments& arguments, Kernels& kernels)
      : kernels_(kernels),
        weight_decay_(static_cast<float>(arguments.number_in_range("weight_decay"))),
        clip_(arguments.number_in_range("clip")) {}

  void direction(ConstBlock x, Block gradient) final {
    if (clip_ > 0) kernels_.clip_rows(clip_, gradient);
    if (weight_decay_ > 0) kernels_.axpy(weight_decay_, x, gradient);
    turn(gradient);
  }

  bool linear() const override { return true; }
  bool has_momentum() const override { return true; }

 protected:
  /// Overwrite g + lambda x with the direction.
  virtual void turn(Block gradient) = 0;

  Kernels& kernels_;

 private:
  float weight_decay_;
  double clip_;
};

class Sgd final : public Base {
 public:
  Sgd(const Arguments& arguments, Kernels& kernels, std::size_t, std::size_t)
      : Base(arguments, kernels) {}

  bool has_momentum() const override { return false; }
  void state(backend::StateList&) override {}

 private:
  void turn(Block) override {}
};

class Momentum final : public Base {
 public:
  Momentum(const Arguments& arguments, Kernels& kernels, std::size_t rows, std::size_t dim)
      : Base(arguments, kernels),
        nesterov_(arguments.name() == "nesterov"),
        beta_(static_cast<float>(arguments.number_in_range("beta"))),
        m_(kernels.allocate(rows, dim)) {}

  void state(backend::StateList& list) override { list.per_peer("optimizer.m", m_); }

 private:
  void turn(Block d) override {
    kernels_.axpby(1.0f, d, beta_, m_);
    if (nesterov_) {
      kernels_.axpy(beta_, m_, d);
    } else {
      kernels_.copy(m_, d);
    }
  }

  bool nesterov_;
  float beta_;
  Array m_;
};

class Adam final : public Base {
 public:
  Adam(const Arguments& arguments, Kernels& kernels, std::size_t rows, std::size_t dim)
      : Base(arguments, kernels),
        beta1_(arguments.number_in_range("beta1")),
        beta2_(arguments.number_in_range("beta2")),
        epsilon_(arguments.number_in_range("epsilon")),
        m_(kernels.allocate(rows, dim)),
        v_(kernels.allocate(rows, dim)) {}

  bool linear() const override { return false; }

  void state(backend::StateList& list) override {
    list.per_peer("optimizer.m", m_);
    list.per_peer("optimizer.v", v_);
    list.scalar("optimizer.steps", steps_);
  }

 private:
  void turn(Block d) override {
    const auto t = static_cast<double>(++steps_);
    kernels_.adam({.beta1 = static_cast<float>(beta1_),
                   .beta2 = static_cast<float>(beta2_),
                   .epsilon = static_cast<float>(epsilon_),
                   .c1 = static_cast<float>(1 - std::pow(beta1_, t)),
                   .c2 = static_cast<float>(1 - std::pow(beta2_, t))},
                  m_, v_, d);
  }

  double beta1_, beta2_, epsilon_;
  Array m_;
  Array v_;
  std::uint64_t steps_ = 0;
};

template <class Kind>
std::unique_ptr<Optimizer> make(const Arguments& arguments, Kernels& kernels, std::size_t rows,
                                std::size_t dim) {
  return std::make_unique<Kind>(arguments, kernels, rows, dim);
}

constexpr Parameter kBeta{"beta", "0.9", "[0, 1)", "momentum"};
constexpr Parameter kWeightDecay{"weight_decay", "0", "[0, inf)", "lambda: adds lambda x"};
constexpr Parameter kClip{"clip", "0", "[0, inf)", "largest norm of a peer's gradient; 0: any"};

constexpr Parameter kSgd[] = {kWeightDecay, kClip};
constexpr Parameter kMomentum[] = {kBeta, kWeightDecay, kClip};
constexpr Parameter kAdam[] = {
    {"beta1", "0.9", "[0, 1)", "decay of the mean gradient"},
    {"beta2", "0.999", "[0, 1)", "decay of the mean squared gradient"},
    {"epsilon", "1e-8", "(0, 1]", "added to the root of the mean squared gradient"},
    kWeightDecay,
    kClip,
};

constexpr OptimizerEntry kRegistry[] = {
    {{"sgd", "sgd:weight_decay=1e-4", "the gradient itself", kSgd, make<Sgd>}, 0},
    {{"momentum", "momentum:beta=0.9", "heavy ball", kMomentum, make<Momentum>}, 1},
    {{"nesterov", "nesterov:beta=0.9", "momentum that looks one step ahead", kMomentum,
      make<Momentum>},
     1},
    {{"adam", "adam:beta1=0.9,beta2=0.999", "steps scaled by each entry's past size", kAdam,
      make<Adam>},
     2},
};

}  // namespace

Registry<OptimizerEntry> optimizer_registry() { return {"optimizer", kRegistry}; }

std::unique_ptr<Optimizer> make_optimizer(std::string_view spec, Kernels& kernels, std::size_t rows,
                                          std::size_t dim) {
  return optimizer_registry().make(spec, kernels, rows, dim);
}

}  // namespace hearsay::gossip
