#include "hearsay/live/page_cache.h"

#include <exception>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
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

/// A file or folder of the run that is a link, or "": it may lead out of the run directory, to what
/// viewers must not see.
std::string link_in(const fs::path& run) {
  const auto is_link = [](const fs::path& path) {
    std::error_code error;
    return fs::is_symlink(path, error);
  };
  for (const char* folder : {"", "compare", "compare/silence", "compare/full"}) {
    if (*folder != '\0' && is_link(run / folder)) return folder;
    for (const char* name : {"config.toml", "metrics.jsonl", "summary.json", "fleet.json",
                             "events.jsonl", "peer.toml", "failure.json"}) {
      const fs::path file = fs::path(folder) / name;
      if (is_link(run / file)) return file.string();
    }
  }
  return "";
}

std::string make(const fs::path& run, bool live) {
  try {
    if (const std::string link = link_in(run); !link.empty()) {
      return waiting_page(fmt::format(
          "{} is a symbolic link, and only files of the run directory itself are shown", link));
    }
    const std::vector<std::string> directories = {run.string()};
    const report::Page page = report::make_page(directories, {.live = live});
    if (page.runs > 0) return page.html;
    return waiting_page(page.problems.empty() ? "no run" : page.problems.front());
  } catch (const std::bad_alloc&) {
    return waiting_page(
        "the page of this run takes more memory than is given to the live one; hearsay report "
        "makes it");
  } catch (const std::exception& error) {
    return waiting_page(message_of(error));
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
