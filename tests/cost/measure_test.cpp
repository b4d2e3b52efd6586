#include "hearsay/cost/measure.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/engine/cpu/program.h"
#include "hearsay/model/models.h"

namespace hearsay::cost {
namespace {

using backend::Precision;

/// Each reading is `step` seconds after the one before.
Clock ticking(double step) {
  return [now = 0.0, step]() mutable { return now += step; };
}

model::Network resnet() {
  return model::make_model("resnet20:norm=range-evonorm", {3, 32, 32}, 10);
}

TEST(Measure, TellsTheArenaOfTheProgram) {
  const model::Network net = resnet();
  for (Precision precision : {Precision::kFp32, Precision::kInt8}) {
    const Measured measured = measure(net, 8, precision, ticking(1));
    const auto program = engine::cpu::make_program(precision, net, 8, {});
    EXPECT_EQ(measured.arena_bytes, static_cast<double>(program->arena_bytes()));
  }
}

/// The arena, the model and its gradient are written in whole; 8 bits take less than half.
TEST(Measure, TellsTheMemoryThatBecameResident) {
  const model::Network net = resnet();
  const double arrays = 2 * 4 * static_cast<double>(net.layout().dim());
  const Measured fp32 = measure(net, 16, Precision::kFp32, ticking(1));
  const Measured int8 = measure(net, 16, Precision::kInt8, ticking(1));
  for (const Measured& measured : {fp32, int8}) {
    EXPECT_GT(measured.resident_bytes, 0.8 * (measured.arena_bytes + arrays));
  }
  EXPECT_LT(int8.resident_bytes, 0.5 * fp32.resident_bytes);
}

TEST(Measure, TakesTheMedianOfAsManyStepsAsFitIntoHalfASecond) {
  const model::Network net = model::make_model("logistic", {1, 2, 2}, 2);
  const auto with = [&](const Clock& clock) { return measure(net, 2, Precision::kFp32, clock); };
  EXPECT_EQ(with(ticking(0.125)).steps, 4u);
  EXPECT_EQ(with(ticking(2)).steps, 3u) << "at least";
  EXPECT_EQ(with(ticking(0x1p-10)).steps, 100u) << "at most";
  EXPECT_EQ(with(ticking(0.125)).step_seconds, 0.125);
  EXPECT_EQ(with(ticking(0.125)).evaluation_seconds, 0.125);

  // Steps of 1, 3, 5 seconds, and of 7, 9, 11 for the evaluations.
  const Measured slowing = with([now = 0.0, step = 0.0]() mutable { return now += step++; });
  EXPECT_EQ(slowing.step_seconds, 3);
  EXPECT_EQ(slowing.evaluation_seconds, 9);
}

TEST(Measure, RefusesWhatThisProcessorCannotCompute) {
  const model::Network batch_norm = model::make_model("resnet20", {3, 32, 32}, 10);
  EXPECT_THROW(measure(batch_norm, 2, Precision::kInt8, ticking(1)), InvalidArgument);
  EXPECT_THROW(measure(resnet(), 2, Precision::kBf16, ticking(1)), InvalidArgument);
  EXPECT_THROW(measure(resnet(), 2, Precision::kTf32, ticking(1)), InvalidArgument);
  try {
    measure(resnet(), 1'000'000, Precision::kFp32, ticking(1));
    FAIL() << "1.85 TB";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[cost] a batch of 1000000 needs about 1.85 TB, and at most 8 GB are measured; "
                 "take a smaller batch, or count without --measure");
  }
}

TEST(MeasuredTable, HasWhatWasCountedAboveWhatWasMeasured) {
  const CostRequest request{.model = "cnn:norm=range-evonorm", .input = "1x8x8", .batch = 2};
  const std::string table = measured_table(request, ticking(0.125));
  std::size_t at = 0;
  for (const char* part :
       {"one thread, 2 samples", "fp32", "int8", "fp32 / int8", "activations, counted",
        "arena, measured", "counted", "resident, measured", "training step, measured", "125 ms",
        "evaluation, measured", "125 ms"}) {
    at = table.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << " in\n" << table;
  }
}

TEST(MeasuredTable, SaysWhyBytesAreNotMeasured) {
  const std::string table =
      measured_table({.model = "cnn:norm=batch", .input = "1x8x8", .batch = 2}, ticking(0.125));
  EXPECT_EQ(table.find("fp32 / int8"), std::string::npos) << table;
  EXPECT_NE(table.find("int8 is not measured: [precision] int8 cannot train this model: "),
            std::string::npos)
      << table;
}

}  // namespace
}  // namespace hearsay::cost
