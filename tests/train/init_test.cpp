#include "hearsay/train/init.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "hearsay/core/error.h"
#include "hearsay/run/run.h"
#include "hearsay/train/trainer.h"
#include "support/message_of.h"
#include "support/scratch.h"

namespace hearsay::train {
namespace {

/// A file with the ten unknowns of least-squares set to 0, 1, 2, ...
class Init : public ::testing::Test {
 protected:
  Init() : file_((scratch_ / "start.safetensors").string()) {
    for (int k = 0; k < 10; ++k) start_.push_back(static_cast<float>(k));
    write_safetensors(file_, Layout(10), start_);
  }

  RunOptions settings(std::vector<std::pair<std::string, std::string>> more = {}) const {
    more.insert(more.end(), {{"data", "least-squares"},
                             {"peers", "5"},
                             {"algorithm", "dsgd"},
                             {"rounds", "4"},
                             {"threads", "1"},
                             {"init", file_}});
    return support::config_of(more);
  }

  support::Scratch scratch_;
  std::string file_;
  std::vector<float> start_;
  run::Observer silent_;
};

TEST_F(Init, IsWhereEveryPeerStarts) {
  const Trainer trainer(settings());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(trainer.model(i), start_) << i;
}

TEST_F(Init, CanBeTheExportOfAnotherRun) {
  run::run(settings(), scratch_ / "first", silent_);
  file_ = (scratch_ / "first/models/average.safetensors").string();
  const Trainer trainer(settings());
  EXPECT_EQ(trainer.model(3), read_safetensors(file_, Layout(10)).parameters);
}

TEST_F(Init, IsRefusedOnceTheFileHasChanged) {
  const RunOptions config = settings();
  start_[3] = 1;
  write_safetensors(file_, Layout(10), start_);
  try {
    Trainer trainer(config);
    FAIL() << "it started";
  } catch (const InvalidArgument& error) {
    EXPECT_TRUE(
        std::string(error.what())
            .starts_with("[init] " + file_ + " has changed since it was set: its SHA-256 "));
  }
}

TEST_F(Init, OfAnotherModelIsRefusedBeforeTheFirstFile) {
  write_safetensors(file_, Layout(9), std::vector<float>(9));
  try {
    run::run(settings(), scratch_ / "run", silent_);
    FAIL() << "it started";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.what(), "[safetensors] " + file_ +
                                " has tensor 'x' of shape [9], and the model's has [10]; give the "
                                "--model that it was saved of");
  }
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "run"));
}

TEST_F(Init, IsARegularFile) {
  file_ = (scratch_ / "pipe").string();
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(support::message_of([&] { settings(); }),
            "[init] there is no file '" + file_ + "'; give a safetensors file, or none");
}

TEST_F(Init, IsRefusedIfItsLossIsNotFinite) {
  const std::vector<std::pair<std::string, std::string>> digits = {
      {"data", "digits"}, {"model", "logistic"}, {"peers", "2"}, {"threads", "1"}};
  const Layout layout = Trainer(support::config_of(digits)).layout();
  write_safetensors(file_, layout, std::vector<float>(layout.dim(), 3e38f));
  auto with_init = digits;
  with_init.emplace_back("init", file_);
  const RunOptions config = support::config_of(with_init);
  const std::string message =
      support::message_of([&] { run::run(config, scratch_ / "run", silent_); });
  EXPECT_TRUE(message.starts_with("[init] the loss of " + file_)) << message;
  EXPECT_TRUE(message.ends_with("nan; give a model that was trained on such data")) << message;
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "run")) << "no run directory is left";
}

}  // namespace
}  // namespace hearsay::train
