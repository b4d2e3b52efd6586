// What is seen of a fleet: the live page of a device, and a report of all.
#include "cli/fleet.h"
#include "live/client.h"

namespace hearsay::cli {
namespace {

TEST_F(Fleet, IsSeenInTheLivePageOfADeviceAndReportedAsOneRun) {
  make_fleet(2, "algorithm = 'sgp'\nrounds = 1200\n");
  begin(0, {"peer", "--identity", "pi-0.pem", "--out", "pi-0", "--min-round", "5ms", "--live",
            "fleet.toml"});
  const std::string said = "hearsay: the run can be watched at http://127.0.0.1:";
  ASSERT_TRUE(comes_true([&] { return error_of(0).find(said) != std::string::npos; }))
      << "before there is another";
  ASSERT_TRUE(comes_true([&] { return error_of(0).find("/\n") != std::string::npos; }));
  const auto port = static_cast<std::uint16_t>(
      std::stoi(error_of(0).substr(error_of(0).find(said) + said.size())));
  const auto page = [&] { return live::ask(port, "/").body; };
  EXPECT_NE(page().find("There is nothing to see yet"), std::string::npos);
  start(1);
  ASSERT_TRUE(comes_true([&] { return page().find("<h2>Fleet</h2>") != std::string::npos; }));
  live::Client client(port);
  client.send(live::request_of("GET", "/events", port));
  client.receive("event: fleet\ndata: \"<div class=\\\"sheet members\\\">");
  client.receive("<span>pi-1</span>");
  client.receive("pi-1 is connected");
  client.receive("event: fleet\n");  // it goes on
  client.receive("event: line\n");
  client.receive("event: end\n");
  EXPECT_NE(page().find("Figures at the end"), std::string::npos);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(device(k).wait(), 0) << error_of(k);
  EXPECT_NE(support::read_text(out(1) / "report.html").find("<span>pi-1 (this one)</span>"),
            std::string::npos);

  const Result one = hearsay({"report", "pi-1", "pi-0"}, scratch_.path());
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_NE(one.out.find("pi-0 and 1 more device "), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("\npi-1    finished"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("  pi-0: pi-1 is connected\n"), std::string::npos) << one.out;
}

}  // namespace
}  // namespace hearsay::cli
