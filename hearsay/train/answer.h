#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/bytes.h"
#include "hearsay/core/error.h"
#include "hearsay/transport/collective.h"

namespace hearsay::train {

/// From good to worst.
enum class Verdict : std::uint8_t {
  kGood,
  kDamaged,  ///< the caller may have another way
  kRefused,  ///< CorruptData
  kFailed,   ///< RunFailed
};

/// How something went in one process, as told to the others.
struct Answer {
  Verdict verdict = Verdict::kGood;
  Bytes body;  ///< what came of it; of anything but kGood: the reason

  /// Call `body`, which returns bytes. What CorruptData means is the caller's to say.
  template <class Body>
  static Answer of(Verdict if_corrupt, const Body& body) {
    const auto because = [](Verdict as, std::string_view why) {
      return Answer{as, Bytes(why.begin(), why.end())};
    };
    try {
      return {Verdict::kGood, body()};
    } catch (const CorruptData& error) {
      return because(if_corrupt, error.what());
    } catch (const std::exception& error) {
      return because(Verdict::kFailed, error.what());
    }
  }
  static Answer from(ByteView bytes) {
    ByteReader in(bytes, "answer of a process");
    Answer answer{static_cast<Verdict>(in.read<std::uint8_t>()), {}};
    const ByteView rest = in.take(in.left());
    answer.body.assign(rest.begin(), rest.end());
    return answer;
  }
  Bytes bytes() const {
    Bytes out{static_cast<std::uint8_t>(verdict)};
    append(out, ByteView(body));
    return out;
  }
  /// The worst of all processes' answers; of several such the first.
  static Answer worst(const std::vector<Bytes>& all) {
    Answer worst;
    for (const Bytes& bytes : all) {
      const Answer answer = from(bytes);
      if (answer.verdict > worst.verdict) worst = answer;
    }
    return worst;
  }

  std::string text() const { return {body.begin(), body.end()}; }
  /// Throws what the verdict stands for.
  void check() const {
    if (verdict == Verdict::kRefused) throw CorruptData(text());
    if (verdict == Verdict::kFailed) throw RunFailed(text());
  }
};

/// What the body gives in process 0, where alone it is called; in all processes.
template <class Body>
Answer ask_process_0(transport::Group& group, std::size_t process, Verdict if_corrupt,
                     const Body& body) {
  return Answer::from(
      group.broadcast(process == 0 ? Answer::of(if_corrupt, body).bytes() : Bytes{}));
}

}  // namespace hearsay::train
