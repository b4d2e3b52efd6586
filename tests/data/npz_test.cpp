#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"

namespace hearsay::data {
namespace {

const Bytes kLabels = npy("<i4", "(4,)", std::vector<std::int32_t>{0, 1, 0, 1});

class Npz : public ::testing::Test {
 protected:
  std::string path() const { return (scratch_ / "mine.npz").string(); }

  std::shared_ptr<const Dataset> read(const std::vector<Member>& members, bool deflated = true) {
    write_bytes(path(), zip(members, deflated));
    return make_dataset("npz:" + path() + ",test=0.5");
  }

  std::string corrupt(const std::vector<Member>& members) {
    return message_of<CorruptData>([&] { read(members); });
  }

  Scratch scratch_;
};

TEST_F(Npz, ReadsStoredAndDeflatedMembersAlike) {
  const std::vector<Member> members{
      {"x.npy", npy("<f8", "(4, 2)", std::vector<double>{1, 20, 2, 30, 3, 40, 4, 50})},
      {"y.npy", kLabels},
      {"x_test.npy", npy("<f8", "(1, 2)", std::vector<double>{5, 60})},
      {"y_test.npy", npy("<i4", "(1,)", std::vector<std::int32_t>{1})},
  };
  for (const bool deflated : {false, true}) {
    const auto own = read(members, deflated);
    EXPECT_EQ(own->train.inputs.as<float>(), (std::vector<float>{1, 20, 2, 30, 3, 40, 4, 50}));
    EXPECT_EQ(own->train.labels(), (std::vector<std::uint16_t>{0, 1, 0, 1}));
    EXPECT_EQ(own->test.inputs.as<float>(), (std::vector<float>{5, 60}));
    EXPECT_EQ(own->channels, 2u);
    EXPECT_EQ(own->classes, 2u);
    // Per feature: means 2.5 and 35, deviations sqrt(5 / 4) and ten times that.
    std::vector<float> seen(2);
    read_sample(*own, own->test, 0, seen);
    EXPECT_NEAR(seen[0], 2.5 / std::sqrt(1.25), 1e-6);
    EXPECT_NEAR(seen[1], 25 / (10 * std::sqrt(1.25)), 1e-6);
  }
}

TEST_F(Npz, KnowsTheShapesOfImagesAndNormalisesByChannel) {
  Bytes entries(4 * 2 * 3 * 5);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    entries[k] = k / 15 % 2 == 0 ? (k % 2 == 0 ? 0 : 255) : 51;
  }
  const auto own = read({{"x.npy", npy("|u1", "(4, 2, 3, 5)", entries)}, {"y.npy", kLabels}});
  EXPECT_EQ(own->channels, 2u);
  EXPECT_EQ(own->height, 3u);
  EXPECT_EQ(own->width, 5u);
  EXPECT_EQ(
      own->train.inputs.as<std::uint8_t>().size() + own->test.inputs.as<std::uint8_t>().size(),
      entries.size());
  EXPECT_NEAR(own->mean[0], 0.5, 0.05);
  EXPECT_NEAR(own->deviation[0], 0.5, 0.01);
  EXPECT_NEAR(own->mean[1], 0.2, 1e-6);
  EXPECT_EQ(own->deviation[1], 1) << "a channel that does not vary";

  const auto grey = read({{"x.npy", npy("|u1", "(4, 6, 5)", entries)}, {"y.npy", kLabels}});
  EXPECT_EQ(grey->channels, 1u);
  EXPECT_EQ(grey->height, 6u);
  const auto flat = read({{"x.npy", npy("|u1", "(4, 30)", entries)}, {"y.npy", kLabels}});
  EXPECT_EQ(flat->channels, 1u);
  EXPECT_EQ(flat->width, 30u);
}

TEST_F(Npz, ReadsEveryNumberType) {
  const std::vector<float> expected{1, 2, 3, 4};
  const auto check = [&](const Bytes& x) {
    const auto own =
        read({{"x.npy", x}, {"y.npy", kLabels}, {"x_test.npy", x}, {"y_test.npy", kLabels}});
    EXPECT_EQ(own->train.inputs.as<float>(), expected);
  };
  check(npy("<u2", "(4, 1)", std::vector<std::uint16_t>{1, 2, 3, 4}));
  check(npy("<u4", "(4, 1)", std::vector<std::uint32_t>{1, 2, 3, 4}));
  check(npy("<u8", "(4, 1)", std::vector<std::uint64_t>{1, 2, 3, 4}));
  check(npy("|i1", "(4, 1)", std::vector<std::int8_t>{1, 2, 3, 4}));
  check(npy("<i2", "(4, 1)", std::vector<std::int16_t>{1, 2, 3, 4}));
  check(npy("<i4", "(4, 1)", std::vector<std::int32_t>{1, 2, 3, 4}));
  check(npy("<i8", "(4, 1)", std::vector<std::int64_t>{1, 2, 3, 4}));
  check(npy("<f4", "(4, 1)", std::vector<float>{1, 2, 3, 4}));
  check(npy("<f8", "(4, 1)", std::vector<double>{1, 2, 3, 4}));
}

TEST_F(Npz, DrawsATestPartOfEveryClassIfThereIsNone) {
  std::vector<float> x(100);
  std::vector<std::uint8_t> y(100);
  for (std::size_t i = 0; i < 100; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = i < 30 ? 0 : 1;
  }
  write_bytes(
      path(),
      zip({{"x.npy", npy("<f4", "(100, 1)", x)}, {"y.npy", npy("|u1", "(100,)", y)}}, true));
  const auto own = make_dataset("npz:" + path());
  EXPECT_EQ(std::ranges::count(own->test.labels(), 0), 6);
  EXPECT_EQ(std::ranges::count(own->test.labels(), 1), 14);
  std::vector<float> all = own->train.inputs.as<float>();
  all.insert(all.end(), own->test.inputs.as<float>().begin(), own->test.inputs.as<float>().end());
  std::ranges::sort(all);
  EXPECT_EQ(all, x) << "each sample is in one part";
  EXPECT_EQ(message_of([&] { make_dataset("npz:" + path() + ",test=0.001"); }),
            "[npz] 0.001 of the 100 samples in 2 classes is no sample of any class; give a larger "
            "test fraction or more samples, or --task regression to predict numbers");
}

TEST_F(Npz, LabelsThatDoNotStartAtZeroNameTheClasses) {
  const Bytes x = npy("<f4", "(4, 1)", std::vector<float>{1, 2, 3, 4});
  const std::vector<Member> members{
      {"x.npy", x},
      {"y.npy", npy("<i4", "(4,)", std::vector<std::int32_t>{5, 2, 1, 3})},
      {"x_test.npy", x},
      {"y_test.npy", npy("<i4", "(4,)", std::vector<std::int32_t>{1, 2, 5, 5})},
  };
  const auto own = read(members);
  EXPECT_EQ(own->classes, 5u) << "not 6";
  EXPECT_EQ(own->class_names, (std::vector<std::string>{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(own->train.labels(), (std::vector<std::uint16_t>{4, 1, 0, 2}));
  EXPECT_EQ(own->test.labels(), (std::vector<std::uint16_t>{0, 1, 4, 4}));

  const auto older = make_dataset("npz:" + path() + ",first=0");
  EXPECT_EQ(older->classes, 6u);
  EXPECT_TRUE(older->class_names.empty());
  EXPECT_EQ(older->train.labels(), (std::vector<std::uint16_t>{5, 2, 1, 3}));
}

TEST_F(Npz, SaysWhatIsWrongWithTheArrays) {
  const Bytes x = npy("<f4", "(4, 1)", std::vector<float>{1, 2, 3, 4});
  const std::string start = "[npz] " + path() + " ";
  EXPECT_EQ(message_of([&] {
              read({{"x.npy", x}, {"labels.npy", kLabels}});
            }),
            start +
                "has no array y; it must have x and y, and may have x_test and y_test; it has "
                "x.npy, labels.npy");
  EXPECT_EQ(corrupt({{"x.npy", x}, {"y.npy", npy("<i4", "(1,)", std::vector<std::int32_t>{0})}}),
            start + "has 4 samples in x and 1 labels in y");
  EXPECT_EQ(corrupt({{"x.npy", x}, {"y.npy", x}}),
            start +
                "has y of type f4 and shape (4, 1); labels must be whole numbers, one per sample; "
                "to predict numbers use --task regression");
  EXPECT_EQ(corrupt({{"x.npy", x},
                     {"y.npy", npy("<i4", "(4,)", std::vector<std::int32_t>{0, -1, 0, 1})}}),
            start + "has label -1 in y; labels must be 0 to 65535");
  EXPECT_EQ(
      corrupt({{"x.npy", npy("<f4", "(4,)", std::vector<float>{1, 2, 3, 4})}, {"y.npy", kLabels}}),
      start +
          "has x of shape (4); it must be samples by features, by height by width, or by "
          "channels by height by width");
  EXPECT_EQ(corrupt({{"x.npy", npy("<f8", "(4, 1)", std::vector<double>{1, 2, 1e300, 4})},
                     {"y.npy", kLabels}}),
            start + "has 1e+300 at entry 2 of x; entries must be finite floats");
  EXPECT_EQ(corrupt({{"x.npy", x},
                     {"y.npy", kLabels},
                     {"x_test.npy", npy("<f4", "(2, 2)", std::vector<float>{1, 2, 3, 4})},
                     {"y_test.npy", kLabels}}),
            start + "has x_test of type f4 and shape (2, 2); x has f4 and (4, 1)");
}

TEST_F(Npz, ReadsNumbersToPredict) {
  const Bytes x = npy("<f4", "(4, 1)", std::vector<float>{1, 2, 3, 4});
  const auto regression = [&](const Bytes& y, std::vector<Member> more = {}) {
    more.insert(more.begin(), {{"x.npy", x}, {"y.npy", y}});
    write_bytes(path(), zip(more, true));
    return make_dataset("npz:" + path() + ",test=0.5", Task::kRegression);
  };
  const auto one = regression(npy("<f8", "(4,)", std::vector<double>{0.5, 1, 1.5, 2}));
  EXPECT_EQ(one->outputs(), 1u);
  EXPECT_EQ(one->train.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(one->train.targets.as<float>()[i], one->train.inputs.as<float>()[i] / 2);
  }
  const Bytes two = npy("<f4", "(4, 2)", std::vector<float>{1, -1, 2, -2, 3, -3, 4, -4});
  EXPECT_EQ(regression(two)->outputs(), 2u);
  EXPECT_EQ(regression(kLabels)->outputs(), 1u) << "whole numbers are numbers too";
  EXPECT_EQ(regression(two, {{"x_test.npy", x}, {"y_test.npy", two}})->test.size(), 4u);

  const std::string start = "[npz] " + path() + " ";
  EXPECT_EQ(message_of<CorruptData>([&] {
              regression(npy("<f4", "(2, 2, 1)", std::vector<float>{1, 2, 3, 4}));
            }),
            start +
                "has y of shape (2, 2, 1); numbers to predict must be samples, or samples by "
                "targets");
  EXPECT_EQ(message_of<CorruptData>([&] {
              regression(npy("<f4", "(3,)", std::vector<float>{1, 2, 3}));
            }),
            start + "has 4 samples in x and 3 targets in y");
  EXPECT_EQ(message_of<CorruptData>([&] {
              regression(npy("<f8", "(4,)", std::vector<double>{1, 2, 1e300, 3}));
            }),
            start + "has 1e+300 at entry 2 of y; entries must be finite floats");
  EXPECT_EQ(message_of<CorruptData>([&] {
              regression(two, {{"x_test.npy", x}, {"y_test.npy", kLabels}});
            }),
            start + "has 1 targets per sample in y_test; y has 2");
}

TEST_F(Npz, SaysWhatIsWrongWithAnArraysHeader) {
  const std::string start = "[npz] " + path() + " is damaged: array x ";
  const std::vector<float> four{1, 2, 3, 4};
  const auto with = [&](const Bytes& x) { return corrupt({{"x.npy", x}, {"y.npy", kLabels}}); };
  EXPECT_EQ(with(bytes_of("PK nonsense")),
            start + "does not begin like a .npy file of format 1, 2 or 3");
  EXPECT_EQ(with(npy("<c8", "(4, 1)", four)),
            start +
                "has type '<c8'; known are |b1, |u1, <u2, <u4, <u8, |i1, <i2, <i4, <i8, <f4, "
                "<f8");
  EXPECT_EQ(with(npy(">f4", "(4, 1)", four)).find(start + "has type '>f4'; known are"), 0u);
  EXPECT_EQ(with(npy("<f4", "(5, 1)", four)),
            start + "has 16 bytes of entries; its shape (5, 1) wants another number");
  EXPECT_EQ(with(npy("<f4", "(4294967296, 4294967296, 4)", four)),
            start +
                "has 16 bytes of entries; its shape (4294967296, 4294967296, 4) wants another "
                "number");
  EXPECT_EQ(with(npy("<f4", "(4, one)", four)),
            start + "has a shape that is no list of whole numbers");
  EXPECT_EQ(with(npy("<f4", "4", four)), start + "has no shape in parentheses");
  Bytes x = npy("<f4", "(4, 1)", four);
  const std::string text(x.begin(), x.end());
  Bytes other = x;
  std::ranges::copy(std::string_view("True "),
                    other.begin() + static_cast<std::ptrdiff_t>(text.find("False")));
  EXPECT_EQ(with(other), start + "is in Fortran order; save numpy.ascontiguousarray of it");
}

/// A megabyte of zeros, deflated to a kilobyte: its header says that it needs 4 bytes.
TEST_F(Npz, IsNotUnpackedBeyondItsShape) {
  const Bytes x = npy("<f4", "(1, 1)", std::vector<float>(1 << 18));
  EXPECT_EQ(corrupt({{"x.npy", x}, {"y.npy", kLabels}}),
            "[npz] " + path() +
                " is damaged: array x has 1048576 bytes of entries; its shape (1, 1) wants another "
                "number");
  Bytes header = npy("<f4", "(4, 1)" + std::string(5000, ' '), std::vector<float>{1, 2, 3, 4});
  const std::string message = corrupt({{"x.npy", header}, {"y.npy", kLabels}});
  EXPECT_NE(message.find("array x has a header of 5"), std::string::npos) << message;
}

TEST_F(Npz, NoticesADamagedArchive) {
  const Bytes x = npy("<f4", "(4, 1)", std::vector<float>{1, 2, 3, 4});
  for (const bool deflated : {false, true}) {
    const Bytes whole = zip({{"x.npy", x}, {"y.npy", kLabels}}, deflated);
    for (std::size_t keep = 0; keep < whole.size(); ++keep) {
      write_bytes(path(), ByteView(whole).first(keep));
      EXPECT_NE(message_of<CorruptData>([&] { make_dataset("npz:" + path()); }), "no error")
          << keep;
    }
    for (std::size_t k = 40; k < 90; ++k) {  // inside the first member
      Bytes changed = whole;
      changed[k] ^= 4;
      write_bytes(path(), changed);
      EXPECT_NE(message_of<CorruptData>([&] { make_dataset("npz:" + path()); }), "no error") << k;
    }
  }
}

}  // namespace
}  // namespace hearsay::data
