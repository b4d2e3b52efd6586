#include "hearsay/engine/on_host.h"

#include <gtest/gtest.h>

#include "engine/bank.h"
#include "engine/far_kernels.h"

namespace hearsay::engine {
namespace {

/// The same problem with its peers on the host and on a device whose memory the host cannot touch.
class OnHost : public ::testing::TestWithParam<std::string> {
 protected:
  OnHost()
      : spec_(GetParam()),
        near_(spec_, options()),
        far_(make_objective(spec_, {.peers = 5,
                                    .first = 0,
                                    .rows = 5,
                                    .seed = options().seed,
                                    .pool = pool_,
                                    .kernels = kernels_,
                                    .model = options().model,
                                    .batch = options().batch})),
        x_(kernels_.allocate(5, near_.dim())),
        g_(kernels_.allocate(5, near_.dim())) {
    std::vector<float> start(near_.dim());
    for (std::uint32_t i = 0; i < 5; ++i) {
      far_->initial_model(i, start);
      kernels_.upload(start, x_, i);
    }
  }

  static BankOptions options() { return {.model = "cnn:norm=batch", .batch = 4}; }

  std::vector<float> floats(backend::ConstBlock block) {
    std::vector<float> all(block.size());
    for (std::size_t i = 0; i < block.rows; ++i) {
      kernels_.download(block, i, std::span(all).subspan(i * block.dim, block.dim));
    }
    return all;
  }

  std::string spec_;
  Bank near_;
  ThreadPool pool_{1};
  FarKernels kernels_{pool_};
  std::unique_ptr<Objective> far_;
  backend::Array x_, g_;
};

TEST_P(OnHost, GivesTheSameStartGradientsLossesBuffersAndScores) {
  EXPECT_EQ(floats(x_), near_.x);
  for (std::uint32_t round = 0; round < 3; ++round) {
    near_.gradients(round);
    const auto losses = kernels_.results<double>(5);
    far_->gradients(round, x_, g_, losses);
    kernels_.synchronize();
    EXPECT_EQ(std::vector<double>(losses.begin(), losses.end()), near_.losses);
    EXPECT_EQ(floats(g_), near_.g);
  }
  far_->observe(3, x_);
  near_->observe(3, {near_.x.data(), 5, near_.dim()});
  EXPECT_EQ(far_->metrics().data(), near_->metrics().data());
  const std::vector<Score> far = far_->scores(x_);
  const std::vector<Score> near = near_->scores({near_.x.data(), 5, near_.dim()});
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(far_->buffers(i), near_->buffers(i));
    EXPECT_EQ(far[i].loss, near[i].loss);
    EXPECT_EQ(far[i].values, near[i].values);
  }
}

TEST_P(OnHost, GoesOnFromBuffersThatARestartPutOnTheDevice) {
  const std::size_t dim = far_->buffer_layout().dim();
  backend::StateList list;
  far_->state(list);
  ASSERT_EQ(list.items().size(), dim > 0 ? 1u : 0u);
  if (dim == 0) return;  // nothing to restore
  const std::vector<float> restored(dim, 0.5f);
  kernels_.upload(restored, *std::get<backend::Array*>(list.items()[0].place), 2);
  near_->set_buffers(2, restored);
  near_.gradients(0);
  far_->gradients(0, x_, g_, kernels_.results<double>(5));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(far_->buffers(i), near_->buffers(i));
}

INSTANTIATE_TEST_SUITE_P(Specs, OnHost,
                         ::testing::Values("consensus", "least-squares", "logistic",
                                           "synthetic:shape=1x8x8,classes=3,samples=60"),
                         [](const auto& spec) {
                           std::string name;
                           for (char c : spec.param.substr(0, spec.param.find(':'))) {
                             name += c == '-' ? '_' : c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace hearsay::engine
