#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal/progress.h"
#include "hearsay/run/tensorboard.h"

namespace hearsay::cli {

/// Shows a run, and logs it for TensorBoard.
class Logged : public run::TensorBoardLog {
 public:
  Logged(std::unique_ptr<Progress> shown, const std::filesystem::path& run)
      : TensorBoardLog(*shown, run, true, [to = shown.get()](const auto& why) { warn(*to, why); }),
        shown_(std::move(shown)) {}

  static void warn(Progress& shown, const std::string& why) {
    shown.say(fmt::format("warning: {}; nothing more is logged", why));
  }

 private:
  const std::unique_ptr<Progress> shown_;
};

}  // namespace hearsay::cli
