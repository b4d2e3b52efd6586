#include "hearsay/live/page_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "live/client.h"
#include "support/scratch.h"

namespace hearsay::live {
namespace {

TEST(PageCache, SaysWhyThereIsNoPage) {
  const support::Scratch scratch;
  PageCache pages(scratch / "<nothing>");
  const auto page = pages.page(true);
  EXPECT_NE(page->find("There is nothing to see yet: "), std::string::npos) << *page;
  EXPECT_NE(page->find("http-equiv=\"refresh\""), std::string::npos) << *page;
  EXPECT_EQ(page->find("<nothing>"), std::string::npos) << *page;
}

TEST(PageCache, MakesOneForMany) {
  const support::Scratch scratch;
  make_run(scratch / "run", 2);
  PageCache pages(scratch / "run");
  const auto first = pages.page(true);
  EXPECT_NE(first->find("<h1"), std::string::npos);
  EXPECT_EQ(pages.page(true), first) << "the same one";
}

TEST(PageCache, IsMadeAnewWhenTheRunHasEnded) {
  const support::Scratch scratch;
  make_run(scratch / "run", 2);
  PageCache pages(scratch / "run");
  const auto live = pages.page(true);
  EXPECT_NE(pages.page(false), live) << "at once";
}

TEST(PageCache, IsMadeAnewWhenTheFleetHasChanged) {
  const support::Scratch scratch;
  make_run(scratch / "run", 2);
  support::write_text(scratch / "run/peer.toml", "fleet = 'f'\nidentity = 'i'\n");
  PageCache pages(scratch / "run");
  const auto first = pages.page(true);
  support::write_text(scratch / "run/events.jsonl", "{\"time\": 1, \"event\": \"pi-1 is gone\"}\n");
  while (pages.page(true) == first) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_NE(pages.page(true)->find("pi-1 is gone"), std::string::npos);
}

TEST(PageCache, IsMadeAnewWhenFilesHaveChanged) {
  const support::Scratch scratch;
  make_run(scratch / "run", 2);
  PageCache pages(scratch / "run");
  const auto first = pages.page(true);
  std::this_thread::sleep_for(PageCache::kPause);
  EXPECT_EQ(pages.page(true), first) << "nothing has changed";
  make_run(scratch / "run", 5);
  while (pages.page(true) == first) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace hearsay::live
