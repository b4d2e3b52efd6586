#include "cli/live.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::cli {

namespace {

constexpr std::chrono::milliseconds kBetween{500};  // between messages to the page

}  // namespace

void LiveOptions::add_to(CLI::App& command) {
  CLI::Option* live = command.add_option(
      "--live", word_,
      "serve the page of the run while it goes on, on 127.0.0.1; default: any free "
      "port. The address is printed");
  live->type_name("[PORT]")->expected(0, 1);
  given_ = live;
  command
      .add_option("--address,--live-address", address_,
                  "address for --live, in digits. Any that other machines can reach asks viewers "
                  "for a token, which is part of what is printed")
      ->type_name("ADDRESS")
      ->check([](const std::string& value) {
        return std::string(value.empty() ? "must not be empty" : "");
      })
      ->needs(live);
}

std::string LiveOptions::read() {
  if (given_->count() == 0) return "";
  std::uint16_t port = 0;
  if (word_.find_first_not_of("0123456789") != std::string::npos) {
    port_ = port;
    return word_;
  }
  const char* end = word_.data() + word_.size();
  if (!word_.empty() && std::from_chars(word_.data(), end, port).ec != std::errc()) {
    throw InvalidArgument(fmt::format("[live] a port is a number up to 65535, got {}", word_));
  }
  port_ = port;
  return "";
}

/// Starts the page, once.
void LiveObserver::serve() {
  if (served_) return;
  page_.start("/proc/self/exe", {"hearsay", "watch", run_.string(), "--inherited"});
  served_ = there_ = true;
  say_(fmt::format("the run can be watched at {}", page_.url()));
}

void LiveObserver::waiting() {
  next_.waiting();
  serve();
}

void LiveObserver::started(const train::RunView& run, const train::RunOptions& config) {
  next_.started(run, config);
  stopwatch_.start(run);
  serve();
}

void LiveObserver::resumed(std::uint64_t round, const std::vector<std::string>& damaged) {
  next_.resumed(round, damaged);
}

void LiveObserver::progressed(const train::RunView& run) {
  next_.progressed(run);
  tell(run);
}

void LiveObserver::evaluated(const train::RunView& run, const train::Metrics& metrics) {
  next_.evaluated(run, metrics);
  tell(run);
}

void LiveObserver::tell(const train::RunView& run) {
  if (!there_) return;
  const Pace pace = stopwatch_.pace(run);
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ < kBetween && pace.round < pace.total) return;
  told_ = now;
  const std::string left =
      std::isfinite(pace.seconds_left) ? fmt::format("{:.1f}", pace.seconds_left) : "null";
  there_ = page_.send(
      fmt::format(R"({{"round":{},"total":{},"rounds_per_second":{:.4g},"seconds_left":{}}})",
                  pace.round, pace.total, pace.rounds_per_second, left));
  if (!there_) say_("the live page is gone; training goes on");
}

}  // namespace hearsay::cli
