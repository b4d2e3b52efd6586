#pragma once

#include <array>
#include <limits>
#include <vector>

#include "hearsay/net/ack.h"
#include "hearsay/net/bye.h"
#include "hearsay/net/frame.h"
#include "hearsay/net/hello.h"
#include "hearsay/net/model_piece.h"
#include "hearsay/net/record.h"

/// Valid bodies and frames, for tests and fuzzing.
namespace hearsay::net {

inline constexpr FrameLimits kExampleLimits{.longest_data = 1000, .peers = 16};

inline Hello example_hello() {
  Hello hello;
  for (std::size_t i = 0; i < hello.run.size(); ++i) hello.run[i] = static_cast<std::byte>(i);
  hello.incarnation = 1'700'000'000'000;
  hello.known = 1'700'000'000'001;
  hello.rounds = 42;
  hello.next = 43;
  hello.highest = 99;
  hello.arrived = 0xffff'ffff'0000'0001;
  hello.refused = 2;
  hello.slot = 3;
  hello.port = 7420;
  return hello;
}

inline Record example_record() {
  return {.slot = 5,
          .status = Status::kFinished,
          .incarnation = 7,
          .beat = 8,
          .rounds = 9,
          .rate = 2.5f,
          .clock = 9.5f,
          .u = 0.75f,
          .loss = 1e-3f,
          .accuracy = 0.99f,
          .bytes = 1u << 30};
}

/// One frame of every type, each valid within kExampleLimits.
inline std::vector<Bytes> example_frames() {
  const Bytes code(1000, 7), piece(100, 8);
  const std::vector<Record> records(3, example_record());
  return {
      encode_frame(example_hello()),
      encode_frame(records),
      encode_frame(FrameType::kData, kUncompressedFlag, 1, code),
      encode_frame(FrameType::kData, 0, std::numeric_limits<std::uint64_t>::max(), piece),
      encode_frame(Ack{.highest = 12, .seen = 5, .refused = 2}),
      encode_frame(FrameType::kAsk, 0, 0, {}),
      encode_frame(ModelPiece{.total = 300, .offset = 100, .bytes = piece, .digest = {}}),
      encode_frame(ModelPiece{
          .total = 200, .offset = 100, .bytes = piece, .digest = std::array<std::uint8_t, 32>{}}),
      encode_frame(ByeReason::kLeft)};
}

}  // namespace hearsay::net
