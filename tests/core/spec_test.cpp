#include "hearsay/core/spec.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace hearsay {
namespace {

constexpr Parameter kParameters[] = {
    {"keep", "0.01", "(0, 1]", "fraction of entries sent"},
    {"scope", "layer", "layer|model", "what the fraction is taken of"},
    {"count", "3", "[1, 9]", "how many"},
};

using support::message_of;

TEST(Arguments, FallBackToTheTable) {
  const Arguments arguments("topk", kParameters);
  EXPECT_EQ(arguments.name(), "topk");
  EXPECT_EQ(arguments.number_in_range("keep"), 0.01);
  EXPECT_EQ(arguments.choice("scope"), 0u);
  EXPECT_FALSE(arguments.given("keep"));
}

TEST(Arguments, TakeBareValuesByPlaceAndOthersByKey) {
  const Arguments arguments("topk:0.5,count=2,scope=model", kParameters);
  EXPECT_EQ(arguments.number_in_range("keep"), 0.5);
  EXPECT_EQ(arguments.choice("scope"), 1u);
  EXPECT_EQ(arguments.integer_in_range("count"), 2);
  EXPECT_TRUE(arguments.given("count"));
}

TEST(Arguments, WrittenOutInFullMeanTheSame) {
  const Arguments first("topk:0.5", kParameters);
  EXPECT_EQ(first.resolved(), "topk:keep=0.5,scope=layer,count=3");
  EXPECT_EQ(Arguments(first.resolved(), kParameters).resolved(), first.resolved());
}

TEST(Arguments, KeepAVerbatimTailAsItIs) {
  constexpr Parameter kPath[] = {{"path", "", kVerbatim, "a file"}};
  EXPECT_EQ(Arguments("file:/a,b=c:d", kPath).text("path"), "/a,b=c:d");
}

TEST(Spec, ReplacesWholeValuesOnly) {
  EXPECT_EQ(with_value("net:norm=range,depth=2", "range", "wide"), "net:norm=wide,depth=2");
  EXPECT_EQ(with_value("net:range", "range", "range-b"), "net:range-b");
  EXPECT_EQ(with_value("net:A,range,range", "range", "b"), "net:A,b,b");
  EXPECT_EQ(with_value("range:range-a,a-range,range=1", "range", "b"),
            "range:range-a,a-range,range=1");
}

TEST(Arguments, SayWhatIsWrong) {
  EXPECT_EQ(message_of([] { Arguments("topk:1.5", kParameters).number_in_range("keep"); }),
            "[topk] keep must be in (0, 1], got 1.5");
  EXPECT_EQ(message_of([] { Arguments("topk:nan", kParameters).number_in_range("keep"); }),
            "[topk] keep must be in (0, 1], got nan");
  EXPECT_EQ(message_of([] { Arguments("topk:count=2.5", kParameters).integer_in_range("count"); }),
            "[topk] count must be a whole number in [1, 9], got 2.5");
  EXPECT_EQ(message_of([] { Arguments("topk:scope=all", kParameters).choice("scope"); }),
            "[topk] scope must be one of layer, model, got all");
  EXPECT_EQ(message_of([] { Arguments("topk:kep=1", kParameters); }),
            "[topk] has no parameter 'kep' (did you mean 'keep'?); it takes keep, scope, count");
  EXPECT_EQ(message_of([] { Arguments("topk:1,keep=1", kParameters); }),
            "[topk] keep is given twice in 'topk:1,keep=1'");
  EXPECT_EQ(message_of([] { Arguments("topk:", kParameters); }),
            "[topk] cannot read '' in 'topk:'; write topk:key=value,key=value");
  EXPECT_EQ(message_of([] { Arguments("sign:1", {}); }), "[sign] takes no parameters, got '1'");
}

}  // namespace
}  // namespace hearsay
