#include <gtest/gtest.h>

#include "cli/process.h"
#include "data/files.h"
#include "hearsay/data/dataset.h"
#include "support/scratch.h"

/// Names that are not ASCII: in UTF-8 they work everywhere; in another encoding they are rejected
/// where a run could not be resumed with them, and no part of a run is ever lost.
namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder =
    "Donn\xc3\xa9"
    "es \xe2\x82\xac";
constexpr const char* kLatin =
    "Donn\xe9"
    "es";  // not UTF-8

std::string in(const char* folder, const std::string& name) {
  return std::string(folder) + "/" + name;
}

Words train(Words more) {
  more.insert(more.begin(),
              {"train", "--model", "logistic", "--rounds", "2", "--peers", "2", "--graph", "ring",
               "--partition", "iid", "--batch", "2", "--lr", "1e-4", "--quiet"});
  return more;
}

class Names : public ::testing::Test {
 protected:
  Names() {
    fs::create_directories(scratch_ / kFolder);
    fs::create_directories(scratch_ / kLatin);
  }

  Result run(const Words& words) { return hearsay(words, scratch_.path()); }
  void expect_done(const Words& words) {
    const Result result = run(words);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
  }

  support::Scratch scratch_;
};

TEST_F(Names, OfDataOfEveryKind) {
  for (const data::DatasetEntry& entry : data::dataset_registry()) {
    if (entry.name.starts_with("cifar")) continue;  // 180 MB; read as mnist is
    const fs::path folder = scratch_ / in(kFolder, std::string(entry.name));
    fs::create_directories(folder);
    const std::string spec = data::write_example(entry.name, folder);
    const std::string out = "of " + std::string(entry.name);
    expect_done(train({"--data", spec, "--out", out}));
    expect_done({"train", "--resume", out, "--quiet"});
    EXPECT_TRUE(fs::exists(scratch_ / out / "summary.json")) << spec;
  }
}

TEST_F(Names, OfEveryFileThatACommandReadsOrWrites) {
  const std::string out = in(kFolder, "l\xc3\xa4uft");
  support::write_text(scratch_ / in(kFolder, "graph\xc3\xa9.txt"), "0 1\n1 2\n2 0\n");
  support::write_text(scratch_ / in(kFolder, "r\xc3\xa9glage.toml"),
                      "data = 'least-squares:dim=4'\nrounds = 4\nevaluate = 1\ngraph = 'file:" +
                          in(kFolder, "graph\xc3\xa9.txt") + "'\n");
  expect_done({"train", in(kFolder, "r\xc3\xa9glage.toml"), "--out", out, "--quiet"});
  fs::remove(scratch_ / out / "summary.json");
  expect_done({"train", "--resume", out, "--quiet"});
  EXPECT_EQ(support::summary_of(scratch_ / out)["training_rounds"], 4);
  expect_done({"train", in(kFolder, "r\xc3\xa9glage.toml"), "--init",
               in(out.c_str(), "models/average.safetensors"), "--out", "second", "--quiet"});
  expect_done({"graph", "file:" + in(kFolder, "graph\xc3\xa9.txt"), "--svg",
               in(kFolder, "dessin\xc3\xa9.svg")});
  expect_done({"report", out, "second", "--html", in(kFolder, "page\xc3\xa9.html")});
  for (const char* file : {"dessin\xc3\xa9.svg", "page\xc3\xa9.html"}) {
    EXPECT_TRUE(fs::exists(scratch_ / in(kFolder, file))) << file;
  }
  EXPECT_NE(support::read_text(scratch_ / in(kFolder, "page\xc3\xa9.html")).find("l\xc3\xa4uft"),
            std::string::npos);
}

TEST_F(Names, OfModelsThatAreScored) {
  const std::string out = in(kFolder, "chiffres");
  expect_done(train({"--data", "digits", "--out", out}));
  const std::string model = in(out.c_str(), "models/mod\xc3\xa8le.safetensors");
  fs::rename(scratch_ / in(out.c_str(), "models/average.safetensors"), scratch_ / model);
  expect_done({"eval", model});
  expect_done({"eval", model, "--model", "logistic", "--data", "digits"});
}

TEST_F(Names, OfSweeps) {
  data::write_mnist(scratch_ / kFolder, false);
  support::write_text(scratch_ / in(kFolder, "s\xc3\xa9rie.toml"), R"(
title = "R\u00e9glages"
source = "nobody"
seeds = [1]
figures = [{name = "loss", key = "loss", digits = 4}]
rows = [{label = "\u00e9t\u00e9", lr = 0.01}]
[base]
data = "mnist"
model = "logistic"
partition = "iid"
batch = 2
rounds = 2
)");
  for (int turn = 0; turn < 2; ++turn) {  // the second finds the runs of the first
    expect_done({"sweep", in(kFolder, "s\xc3\xa9rie.toml"), "--where",
                 "mnist=" + std::string(kFolder), "--out", in(kFolder, "r\xc3\xa9sultats"),
                 "--quiet"});
  }
  expect_done({"report", in(kFolder, "r\xc3\xa9sultats"), "--html", "none"});
}

TEST_F(Names, ThatAreNotUtf8CanBeThoseOfRunDirectories) {
  const std::string out = in(kLatin, "run");
  expect_done({"train", "--data", "least-squares:dim=4", "--rounds", "4", "--out", out, "--quiet"});
  fs::remove(scratch_ / out / "summary.json");
  expect_done({"train", "--resume", out, "--quiet"});
  expect_done({"report", out, "--html", in(kLatin, "page.html")});
  EXPECT_EQ(support::summary_of(scratch_ / out)["training_rounds"], 4);
}

TEST_F(Names, ThatAreNotUtf8AreRefusedInSettings) {
  data::write_mnist(scratch_ / kLatin, false);
  const auto before = support::contents(scratch_.path());
  const Result result = run(train({"--data", "mnist:" + std::string(kLatin), "--out", "made"}));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "hearsay: [config] data is not UTF-8: 'mnist:Donn\\xe9es'; rename what it names, or "
            "give a symbolic link to it\n");
  EXPECT_EQ(support::contents(scratch_.path()), before);
}

TEST_F(Names, OfClassesThatAreNotUtf8AreEscaped) {
  support::write_text(scratch_ / "latin.csv",
                      "a,label,b\n1,caf\xe9,2\n3,th\xc3\xa9,4\n5,caf\xe9,6\n"
                      "7,th\xc3\xa9,9\n");
  data::write_folder(scratch_ / "pictures", 5);
  for (const char* part : {"train", "val"}) {
    fs::rename(scratch_ / "pictures" / part / "cat", scratch_ / "pictures" / part / "ch\xe2t");
  }
  const std::pair<const char*, const char*> all[] = {{"csv:latin.csv,test=0.5", "caf\\xe9"},
                                                     {"folder:pictures,size=14", "ch\\xe2t"}};
  for (const auto& [spec, name] : all) {
    const std::string out = std::string("of ") + name;
    expect_done(train({"--data", spec, "--out", out}));
    for (int turn = 0; turn < 2; ++turn) {
      const auto names = support::summary_of(scratch_ / out)["class_names"];
      EXPECT_NE(std::ranges::find(names, name), names.end()) << names;
      EXPECT_TRUE(fs::exists(scratch_ / out / "report.html"));
      fs::remove(scratch_ / out / "summary.json");
      expect_done({"train", "--resume", out, "--quiet"});
    }
  }
}

}  // namespace
}  // namespace hearsay::cli
