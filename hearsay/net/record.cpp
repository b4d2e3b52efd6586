#include "hearsay/net/record.h"

#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/net/frame.h"

namespace hearsay::net {

namespace {

void encode_one(const Record& record, Bytes& out) {
  append(out, record.slot);
  append(out, static_cast<std::uint8_t>(record.status));
  append(out, std::uint8_t{0});
  append(out, std::uint16_t{0});
  for (const std::uint64_t value : {record.incarnation, record.beat, record.rounds}) {
    append(out, value);
  }
  for (const float value : {record.rate, record.clock, record.u, record.loss, record.accuracy}) {
    append(out, value);
  }
  append(out, record.bytes);
}

Record decode_one(ByteReader& in) {
  Record record;
  record.slot = in.read<std::uint32_t>();
  if (record.slot >= kMostPeers) {
    throw CorruptData(
        fmt::format("[record] slot {}; a fleet has at most {} peers", record.slot, kMostPeers));
  }
  const auto status = in.read<std::uint8_t>();
  if (status < 1 || status > static_cast<std::uint8_t>(Status::kLeft)) {
    throw CorruptData(fmt::format("[record] status {}; there are 1 to {}", status,
                                  static_cast<std::uint8_t>(Status::kLeft)));
  }
  record.status = static_cast<Status>(status);
  if (in.read<std::uint8_t>() != 0 || in.read<std::uint16_t>() != 0) {
    throw CorruptData("[record] its bytes 5 to 7 are not 0");
  }
  for (std::uint64_t* value : {&record.incarnation, &record.beat, &record.rounds}) {
    *value = in.read<std::uint64_t>();
  }
  for (float* value : {&record.rate, &record.clock, &record.u, &record.loss, &record.accuracy}) {
    *value = in.read<float>();
  }
  record.bytes = in.read<std::uint64_t>();
  if (record.incarnation == 0) throw CorruptData("[record] incarnation 0; it is 1 or more");
  for (const float value : {record.rate, record.clock, record.u}) {
    if (!(value >= 0 && std::isfinite(value))) {
      throw CorruptData(
          fmt::format("[record] rate {}, clock {} and weight {}; all are finite, 0 or more",
                      record.rate, record.clock, record.u));
    }
  }
  return record;
}

}  // namespace

void encode(std::span<const Record> records, Bytes& out) {
  assert(!records.empty() && records.size() <= kMostRecords);
  out.reserve(out.size() + kRecordBytes * records.size());
  for (const Record& record : records) encode_one(record, out);
}

Bytes encode_frame(std::span<const Record> records) {
  Bytes body;
  encode(records, body);
  return encode_frame(FrameType::kPulse, 0, 0, body);
}

std::vector<Record> decode_records(ByteView body) {
  const std::size_t count = body.size() / kRecordBytes;
  if (body.size() % kRecordBytes != 0 || count < 1 || count > kMostRecords) {
    throw CorruptData(fmt::format("[record] {} bytes; there are 1 to {} records of {}", body.size(),
                                  kMostRecords, kRecordBytes));
  }
  ByteReader in(body, "record");
  std::vector<Record> records;
  records.reserve(count);
  while (in.left() > 0) records.push_back(decode_one(in));
  return records;
}

}  // namespace hearsay::net
