#include "hearsay/transport/mpi/lane_traffic.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/transport/mpi/call.h"

namespace hearsay::transport {

namespace {

// With its head, still below Open MPI's eager limit (4096 bytes in shared memory).
constexpr std::size_t kInlineBytes = 2048;
constexpr std::size_t kMostHeadMessage = sizeof(std::uint64_t) + kMostHeadBytes + kInlineBytes;

// MPI counts are int; far below that limit, so that the tests cover bodies of several pieces.
constexpr std::size_t kPieceBytes = 32u << 20;

/// MPI guarantees tags only up to 32767; some networks have 23 bits, which global averages of large
/// models exhaust. Wrapped rounds do not collide: those in flight are close together.
int tag_of(std::uint32_t round) { return static_cast<int>(round & 0x7fffu); }

MPI_Comm duplicate() {
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "making a communicator");
  check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "making a communicator");
  return comm;
}

/// Calls start(piece, bytes of the piece, request) for every piece of a body.
template <class Byte, class Start>
void in_pieces(std::span<Byte> body, std::vector<MPI_Request>& requests, Start start) {
  for (std::size_t at = 0; at < body.size(); at += kPieceBytes) {
    const auto piece = body.subspan(at, std::min(kPieceBytes, body.size() - at));
    requests.push_back(MPI_REQUEST_NULL);
    check_mpi(start(piece.data(), static_cast<int>(piece.size()), &requests.back()),
              "starting a message");
  }
}

std::vector<MPI_Request> receive_body(std::span<std::uint8_t> buffer, std::size_t process,
                                      std::uint32_t round, MPI_Comm comm) {
  std::vector<MPI_Request> requests;
  in_pieces(buffer, requests, [&](std::uint8_t* data, int size, MPI_Request* request) {
    return MPI_Irecv(data, size, MPI_BYTE, static_cast<int>(process), tag_of(round), comm, request);
  });
  return requests;
}

bool done(std::vector<MPI_Request>& requests) {
  int all = 0;
  check_mpi(
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE),
      "moving a message");
  return all != 0;
}

}  // namespace

LaneTraffic::LaneTraffic(Lane lane) : lane_(lane), heads_(duplicate()), bodies_(duplicate()) {}

void LaneTraffic::close() {
  MPI_Comm_free(&heads_);
  MPI_Comm_free(&bodies_);
}

void LaneTraffic::send(std::size_t process, std::uint32_t round, ByteView head, ByteView body) {
  rounds_.sends(round);
  Sending& sending = sending_.emplace_back();
  sending.round = round;
  append(sending.head, std::uint64_t{body.size()});
  append(sending.head, head);
  const bool inlined = body.size() <= kInlineBytes;
  if (inlined) append(sending.head, body);

  const int to = static_cast<int>(process), tag = tag_of(round);
  in_pieces(std::span<const std::uint8_t>(sending.head), sending.requests,
            [&](const std::uint8_t* data, int size, MPI_Request* request) {
              return MPI_Issend(data, size, MPI_BYTE, to, tag, heads_, request);
            });
  if (inlined) return;
  in_pieces(body, sending.requests, [&](const std::uint8_t* data, int size, MPI_Request* request) {
    return MPI_Isend(data, size, MPI_BYTE, to, tag, bodies_, request);
  });
}

void LaneTraffic::expect(std::size_t process, std::uint32_t round, std::span<std::uint8_t> buffer) {
  rounds_.expects(round);
  Requests requests;
  if (buffer.size() > kInlineBytes) requests = receive_body(buffer, process, round, bodies_);
  buffers_[{round, process}].push_back({buffer, std::move(requests)});
}

void LaneTraffic::ask(std::uint32_t round) {
  if (!rounds_.asks(round)) return;
  pool_.reuse(round);
  arrived_.erase(arrived_.begin(), arrived_.lower_bound(round));
  buffers_.erase(buffers_.begin(), buffers_.lower_bound({round, 0}));
}

void LaneTraffic::progress() {
  std::erase_if(sending_, [](Sending& sending) { return done(sending.requests); });
  const auto asked = rounds_.asked(), sent = rounds_.sent();
  if (asked) take_heads(*asked);
  if (sent && (!asked || *sent > *asked)) take_heads(*sent);
  std::erase_if(coming_, [&](Coming& coming) {
    if (!done(coming.requests)) return false;
    arrived_[coming.round].push_back(std::move(coming.arrival));
    return true;
  });
}

std::optional<Arrival> LaneTraffic::next() {
  std::deque<Arrival>& here = arrived_[rounds_.asked().value()];
  if (here.empty()) return std::nullopt;
  Arrival arrival = std::move(here.front());
  here.pop_front();
  return arrival;
}

bool LaneTraffic::flushed(std::uint32_t round) const {
  return std::ranges::none_of(sending_,
                              [&](const Sending& sending) { return sending.round <= round; });
}

bool LaneTraffic::busy() const {
  // A process that sent in a gossip round will soon ask for it: messages may be arriving.
  const bool asks_soon = lane_ == Lane::kGossip && rounds_.sent() > rounds_.asked();
  return !sending_.empty() || !coming_.empty() || asks_soon;
}

void LaneTraffic::take_heads(std::uint32_t round) {
  while (true) {
    int found = 0, size = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, tag_of(round), heads_, &found, &message, &status),
              "looking for messages");
    if (found == 0) return;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &size), "looking for messages");
    Bytes bytes(static_cast<std::size_t>(size));
    check_mpi(MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, &status), "receiving a message");
    take(std::move(bytes), static_cast<std::size_t>(status.MPI_SOURCE), round);
  }
}

void LaneTraffic::take(Bytes message, std::size_t process, std::uint32_t round) {
  const std::string what =
      fmt::format("[mpi] a message of round {} from process {}", round, process);
  ByteReader reader(message, what);
  const std::size_t size = reader.read<std::uint64_t>();
  const bool inlined = size <= kInlineBytes;
  if (message.size() > kMostHeadMessage || (inlined && size > reader.left())) {
    throw CorruptData(what + " is none of ours");
  }
  const ByteView head = reader.take(reader.left() - (inlined ? size : 0));

  Coming coming{round, {process, Bytes(head.begin(), head.end()), {}}, {}};
  std::span<std::uint8_t> buffer;
  const auto buffers = buffers_.find({round, process});
  if (buffers != buffers_.end() && !buffers->second.empty()) {
    buffer = buffers->second.front().bytes;
    coming.requests = std::move(buffers->second.front().requests);
    buffers->second.pop_front();
    check_body({lane_, round}, process, size, buffer.size());
  } else {
    buffer = pool_.take(size, round);
    if (!inlined) coming.requests = receive_body(buffer, process, round, bodies_);
  }
  if (inlined && size > 0) std::memcpy(buffer.data(), reader.take(size).data(), size);
  coming.arrival.body = buffer;
  coming_.push_back(std::move(coming));
}

}  // namespace hearsay::transport
