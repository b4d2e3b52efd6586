#include <gtest/gtest.h>

#include <cmath>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/targets.h"

namespace hearsay::data {
namespace {

class Csv : public ::testing::Test {
 protected:
  std::string path() const { return (scratch_ / "mine.csv").string(); }

  std::shared_ptr<const Dataset> read(std::string_view text, std::string_view arguments = "") {
    support::write_text(path(), text);
    return make_dataset("csv:" + path() + ",test=0.5" + std::string(arguments));
  }

  std::string mistake(std::string_view text) {
    return message_of([&] { read(text); });
  }

  Scratch scratch_;
};

TEST_F(Csv, ReadsFeaturesAndNumbersTextLabelsInAlphabeticalOrder) {
  const auto own =
      read("a,kind,b\n1,rose,-2.5\n1,iris,+1e3\n1,rose,-2.5\n1,iris,+1e3\n", ",label=kind");
  EXPECT_EQ(own->class_names, (std::vector<std::string>{"iris", "rose"}));
  EXPECT_EQ(own->channels, 2u);
  EXPECT_EQ(own->features(), 2u);
  EXPECT_EQ(own->train.labels(), (std::vector<std::uint16_t>{1, 0}));
  EXPECT_EQ(own->train.inputs.as<float>(), (std::vector<float>{1, -2.5f, 1, 1000}));
  // a is constant; b has mean 498.75 and deviation 501.25.
  EXPECT_EQ(own->mean, (std::vector<float>{1, 498.75f}));
  EXPECT_EQ(own->deviation, (std::vector<float>{1, 501.25f}));
  std::vector<float> seen(2);
  read_sample(*own, own->train, 0, seen);
  EXPECT_NEAR(seen[0], 0, 1e-7);
  EXPECT_NEAR(seen[1], -1, 1e-6);
}

TEST_F(Csv, OrdersNumericLabelsAsNumbers) {
  const auto own = read("label,a\n10,1\n9,2\n10,3\n9,4\n");
  EXPECT_EQ(own->class_names, (std::vector<std::string>{"9", "10"}));
}

TEST_F(Csv, KnowsQuotesLineEndsAndBlankLines) {
  const auto plain = read("a,label\n1,x\n2,\"y, \"\"z\"\"\"\n3,x\n4,\"y, \"\"z\"\"\"\n");
  EXPECT_EQ(plain->class_names, (std::vector<std::string>{"x", "y, \"z\""}));
  const auto windows = read("\xef\xbb\xbf\"a\",label\r\n1,x\r\n\r\n2,y\r\n3,x\r\n4,y");
  EXPECT_EQ(windows->class_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(windows->train.size() + windows->test.size(), 4u);
}

TEST_F(Csv, SaysWhatIsWrongAndWhere) {
  const std::string start = "[csv] " + path() + " ";
  EXPECT_EQ(mistake(""), start + "is empty; its first line must name the columns");
  EXPECT_EQ(mistake("a,label\n"), start + "has no rows after its header");
  EXPECT_EQ(mistake("label\nx\n"), start + "has no column beside the label");
  EXPECT_EQ(mistake("a,label\n1,x\n2\n"), start + "line 3 has 1 fields; the header has 2");
  EXPECT_EQ(mistake("a,label\n1,x\n\n2,y,\n"), start + "line 4 has 3 fields; the header has 2");
  EXPECT_EQ(mistake("a,label\none,x\n"),
            start + "line 2 has 'one' in column 'a'; features must be finite numbers");
  for (const char* word : {"", "nan", "inf", "1e99", "1 2", "0x10", "1;2", "+-5", "++5"}) {
    EXPECT_EQ(mistake("a,label\n" + std::string(word) + ",x\n"),
              start + "line 2 has '" + word + "' in column 'a'; features must be finite numbers");
  }
  EXPECT_EQ(mistake("a,label\n1,\n"), start + "line 2 has no label");
  EXPECT_EQ(mistake("a,label\n1,\"x\n"), start + "line 2 has a quote that is never closed");
  EXPECT_EQ(mistake("a,label\n1,\"x\"y\n"), start + "line 2 has text after a closing quote");
  EXPECT_EQ(message_of([&] { read("a,lable\n1,x\n"); }),
            start +
                "has no column 'label' (did you mean 'lable'?); name the label column with "
                "label=...; there are a, lable");
  EXPECT_EQ(message_of([&] { read("label,label\n1,x\n"); }),
            start + "has two columns 'label'; the label must be one");
  EXPECT_EQ(message_of([&] { read("a,label\n1,x\n2,y\n"); }),
            "[csv] 0.5 of the 2 samples in 2 classes is no sample of any class; give a larger test "
            "fraction or more samples, or --task regression to predict numbers");
}

std::shared_ptr<const Dataset> read_regression(const std::string& path, std::string_view text,
                                               const std::string& arguments) {
  support::write_text(path, text);
  return make_dataset("csv:" + path + ",test=0.5" + arguments, Task::kRegression);
}

TEST_F(Csv, ReadsTargetsInTheOrderTheyAreNamed) {
  const auto own = read_regression(
      path(), "price,a,rent,b\n10,1,5,2\n20,3,6,4\n30,5,7,6\n40,7,8,9\n", ",target=rent+price");
  EXPECT_EQ(own->task(), Task::kRegression);
  EXPECT_EQ(own->outputs(), 2u);
  EXPECT_EQ(own->channels, 2u);
  ASSERT_EQ(own->train.size(), 2u);
  ASSERT_EQ(own->test.size(), 2u);
  for (const Samples* part : {&own->train, &own->test}) {
    EXPECT_EQ(part->targets.type(), ElementType::kF32);
    for (std::size_t i = 0; i < 2; ++i) {
      const float rent = part->targets.as<float>()[2 * i];
      EXPECT_EQ(part->targets.as<float>()[2 * i + 1], 10 * rent - 40);
      EXPECT_EQ(part->inputs.as<float>()[2 * i], 2 * rent - 9);
    }
  }
  // Of two values, mean +- deviation.
  std::vector<float> seen(2);
  read_targets(*own, own->train, 0, seen);
  EXPECT_NEAR(std::abs(seen[0]), 1, 1e-6);
  EXPECT_NEAR(std::abs(seen[1]), 1, 1e-6);
  EXPECT_EQ(read_regression(path(), "a+b,c\n1,2\n2,3\n", ",target=a+b")->outputs(), 1u)
      << "a name with a +";
}

TEST_F(Csv, SaysWhatIsWrongWithTargetsAndWhere) {
  const std::string start = "[csv] " + path() + " ", good = "a,price\n1,2\n3,4\n";
  const auto refused = [&](std::string_view text, const std::string& arguments) {
    return message_of([&] { read_regression(path(), text, arguments); });
  };
  for (const char* word : {"", "n/a", "nan", "inf", "1e99"}) {
    EXPECT_EQ(
        message_of([&] {
          read_regression(path(), "a,price\n1,2\n3," + std::string(word) + "\n", ",target=price");
        }),
        start + "line 3 has '" + word + "' in column 'price'; targets must be finite numbers");
  }
  EXPECT_EQ(message_of([&] { read_regression(path(), "price\n1\n", ",target=price"); }),
            start + "has no column beside the targets");
  EXPECT_EQ(refused(good, ""),
            start + "needs target=COLUMN for --task regression; there are a, price");
  EXPECT_EQ(refused(good, ",target=prize"),
            start +
                "has no column 'prize' (did you mean 'price'?); name the target column with "
                "target=...; there are a, price");
  EXPECT_EQ(refused(good, ",target=price+price"),
            start + "got column 'price' twice in target=price+price; name it once");
  EXPECT_EQ(refused(good, ",label=a"),
            "[csv] label names a class; --task regression takes target=COLUMN, the number to "
            "predict");
  EXPECT_EQ(message_of([&] { read(good, ",target=price"); }),
            "[csv] target names numbers to predict; add --task regression, or name a class with "
            "label=COLUMN");
  EXPECT_EQ(refused("a,price\n1,2\n", ",target=price"),
            "[csv] 0.5 of the 1 samples is no sample; give a larger test fraction or more samples");
}

TEST_F(Csv, KeepsACarriageReturnThatEndsNoLine) {
  const auto own = read("a,label\n1,x\r\n2,\"y\"\r\n3,x\r\n4,\"y\"\r");
  EXPECT_EQ(own->class_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read("label,a\nx\r,1\ny,2\nx\r,1\ny,2\n")->class_names,
            (std::vector<std::string>{"x\r", "y"}));
}

}  // namespace
}  // namespace hearsay::data
