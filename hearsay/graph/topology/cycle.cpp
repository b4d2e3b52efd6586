#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

struct Body {
  std::vector<std::string> members;
  std::uint64_t every = 1;
  Clock clock = Clock::kRounds;
};

/// "11" or "11epochs".
void parse_every(std::string_view text, Body& body) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, body.every);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (error != std::errc() || body.every == 0 || !(unit.empty() || unit == "epochs")) {
    throw InvalidArgument(fmt::format(
        "[cycle] every must be a number of rounds or epochs, such as 5 or 5epochs, got '{}'",
        text));
  }
  body.clock = unit.empty() ? Clock::kRounds : Clock::kEpochs;
}

/// Members are separated by '+' and may contain commas; the item every=.. belongs to the cycle.
Body parse_body(std::string_view text) {
  Body body;
  bool every_given = false;
  body.members.emplace_back();
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of(",+"), text.size());
    const std::string_view item = text.substr(0, length);
    const std::string_view key = "every=";
    std::string& member = body.members.back();
    if (item.starts_with(key)) {
      if (every_given) throw InvalidArgument("[cycle] every is given twice; give it once");
      every_given = true;
      parse_every(item.substr(key.size()), body);
    } else {
      if (!member.empty()) member += ',';
      member += item;
    }
    const bool next_member = length < text.size() && text[length] == '+';
    text.remove_prefix(std::min(length + 1, text.size()));
    if (next_member) body.members.emplace_back();
  }
  if (std::ranges::any_of(body.members, &std::string::empty)) {
    throw InvalidArgument("[cycle] a member is empty; write cycle:A+B+C,every=K");
  }
  return body;
}

/// Each member has its own seed, so that two random members differ.
GraphContext member_context(const GraphContext& cycle, std::size_t peers, std::size_t member) {
  Random random(cycle.seed, Purpose::kGraph, ~std::uint32_t{0}, static_cast<std::uint32_t>(member));
  const std::uint64_t high = random.next();
  return {.peers = peers, .seed = high << 32 | random.next()};
}

Weights make_member(const std::string& spec, const GraphContext& context) {
  const auto schedule = make_unchecked(spec, context);
  if (!schedule->is_static()) {
    throw InvalidArgument(fmt::format(
        "[cycle] {} changes by itself; the members of a cycle must be static graphs", spec));
  }
  return schedule->at(0, 0);
}

std::vector<Weights> make_members(const Body& body, const GraphContext& context,
                                  std::size_t peers) {
  std::vector<Weights> members;
  for (std::size_t m = 0; m < body.members.size(); ++m) {
    members.push_back(make_member(body.members[m], member_context(context, peers, m)));
  }
  return members;
}

/// Without --peers: the size that one member implies and all others accept.
std::vector<Weights> make_agreeing_members(const Body& body, const GraphContext& context) {
  const std::vector<Weights> natural = make_members(body, context, 0);
  for (const Weights& member : natural) {
    try {
      std::vector<Weights> members = make_members(body, context, member.peers());
      const auto agrees = [&](const Weights& w) { return w.peers() == member.peers(); };
      if (std::ranges::all_of(members, agrees)) return members;
    } catch (const InvalidArgument&) {  // some member does not accept this size: try the next one
    }
  }
  std::string sizes;
  for (std::size_t m = 0; m < natural.size(); ++m) {
    sizes += fmt::format("{}{} has {}", m == 0 ? "" : ", ", body.members[m], natural[m].peers());
  }
  throw InvalidArgument(
      fmt::format("[cycle] members must have the same number of peers, but {}", sizes));
}

}  // namespace

std::unique_ptr<Schedule> make_cycle(const Arguments& arguments, const GraphContext& context) {
  const Body body = parse_body(arguments.text("members"));
  std::vector<Weights> members = context.peers == 0 ? make_agreeing_members(body, context)
                                                    : make_members(body, context, context.peers);
  return make_periodic(std::move(members), body.every, body.clock);
}

}  // namespace hearsay::graph
