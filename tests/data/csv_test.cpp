#include <gtest/gtest.h>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"

namespace hearsay::data {
namespace {

class Csv : public ::testing::Test {
 protected:
  std::string path() const { return (scratch_ / "mine.csv").string(); }

  std::shared_ptr<const Dataset> read(std::string_view text, std::string_view arguments = "") {
    support::write_text(path(), text);
    return make_dataset("csv:" + path() + ",test=0.5" + std::string(arguments));
  }

  std::string corrupt(std::string_view text) {
    return error_of<CorruptData>([&] { read(text); });
  }

  Scratch scratch_;
};

TEST_F(Csv, ReadsFeaturesAndNumbersTextLabelsInAlphabeticalOrder) {
  const auto own =
      read("a,kind,b\n1,rose,-2.5\n1,iris,+1e3\n1,rose,-2.5\n1,iris,+1e3\n", ",label=kind");
  EXPECT_EQ(own->class_names, (std::vector<std::string>{"iris", "rose"}));
  EXPECT_EQ(own->channels, 2u);
  EXPECT_EQ(own->features(), 2u);
  EXPECT_EQ(own->train.labels, (std::vector<std::uint16_t>{1, 0}));
  EXPECT_EQ(own->train.values, (std::vector<float>{1, -2.5f, 1, 1000}));
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
  EXPECT_EQ(corrupt(""), start + "is empty; its first line must name the columns");
  EXPECT_EQ(corrupt("a,label\n"), start + "has no rows after its header");
  EXPECT_EQ(corrupt("label\nx\n"), start + "has no column beside the label");
  EXPECT_EQ(corrupt("a,label\n1,x\n2\n"), start + "line 3 has 1 fields; the header has 2");
  EXPECT_EQ(corrupt("a,label\n1,x\n\n2,y,\n"), start + "line 4 has 3 fields; the header has 2");
  EXPECT_EQ(corrupt("a,label\none,x\n"),
            start + "line 2 has 'one' in column 'a'; features must be finite numbers");
  for (const char* word : {"", "nan", "inf", "1e99", "1 2", "0x10", "1;2", "+-5", "++5"}) {
    EXPECT_EQ(corrupt("a,label\n" + std::string(word) + ",x\n"),
              start + "line 2 has '" + word + "' in column 'a'; features must be finite numbers");
  }
  EXPECT_EQ(corrupt("a,label\n1,\n"), start + "line 2 has no label");
  EXPECT_EQ(corrupt("a,label\n1,\"x\n"), start + "line 2 has a quote that is never closed");
  EXPECT_EQ(corrupt("a,label\n1,\"x\"y\n"), start + "line 2 has text after a closing quote");
  EXPECT_EQ(error_of<InvalidArgument>([&] { read("a,lable\n1,x\n"); }),
            start +
                "has no column 'label' (did you mean 'lable'?); name the label column with "
                "label=...; there are a, lable");
  EXPECT_EQ(error_of<InvalidArgument>([&] { read("label,label\n1,x\n"); }),
            start + "has two columns 'label'; the label must be one");
  EXPECT_EQ(error_of<InvalidArgument>([&] { read("a,label\n1,x\n2,y\n"); }),
            "[csv] 0.5 of the 2 samples in 2 classes is no sample of any class; give a larger test "
            "fraction or more samples");
}

TEST_F(Csv, KeepsACarriageReturnThatEndsNoLine) {
  const auto own = read("a,label\n1,x\r\n2,\"y\"\r\n3,x\r\n4,\"y\"\r");
  EXPECT_EQ(own->class_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read("label,a\nx\r,1\ny,2\nx\r,1\ny,2\n")->class_names,
            (std::vector<std::string>{"x\r", "y"}));
}

}  // namespace
}  // namespace hearsay::data
