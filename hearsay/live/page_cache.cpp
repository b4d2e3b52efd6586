#include "hearsay/live/page_cache.h"

#include <exception>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/markup.h"
#include "hearsay/report/page/page.h"

namespace hearsay::live {

namespace {

namespace fs = std::filesystem;

/// Shown instead of the page, with the reason; it reloads automatically.
std::string waiting_page(const std::string& reason) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"refresh\" content=\"2\"><meta name=\"color-scheme\" content=\"light "
      "dark\">"
      "<title>hearsay</title></head><body><p>There is nothing to see yet: {}</p></body></html>\n",
      escape_markup(reason));
}

std::string make(const fs::path& run, bool live) {
  try {
    const std::vector<std::string> directories = {run.string()};
    const report::Page page = report::make_page(directories, {.live = live});
    if (page.runs > 0) return page.html;
    return waiting_page(page.problems.empty() ? "no run" : page.problems.front());
  } catch (const std::bad_alloc&) {
    return waiting_page(
        "the page of this run takes more memory than is given to the live one; hearsay report "
        "makes it");
  } catch (const std::exception& error) {
    return waiting_page(error.what());
  }
}

}  // namespace

std::string PageCache::stamp() const {
  std::error_code error;
  if (!fs::exists(run_ / "config.toml",
                  error)) {  // no run but maybe a sweep of many: not looked at
    return fmt::format("{}", Clock::now().time_since_epoch().count());
  }
  std::string stamp;
  for (const char* name : {"metrics.jsonl", "summary.json", "compare/silence/summary.json",
                           "compare/full/summary.json", "fleet.json", "events.jsonl"}) {
    const auto size = fs::file_size(run_ / name, error);
    const auto time = fs::last_write_time(run_ / name, error);
    stamp += error ? "-;" : fmt::format("{} {};", size, time.time_since_epoch().count());
  }
  return stamp;
}

std::shared_ptr<const std::string> PageCache::page(bool live) {
  const std::lock_guard lock(mutex_);
  const bool other = page_ == nullptr || live != live_;
  if (!other && Clock::now() - made_ < kPause) return page_;
  std::string now = stamp();
  if (other || now != stamp_) {
    page_ = std::make_shared<const std::string>(make(run_, live));
    stamp_ = std::move(now);
    live_ = live;
  }
  made_ = Clock::now();
  return page_;
}

}  // namespace hearsay::live
