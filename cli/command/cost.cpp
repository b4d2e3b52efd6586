#include <chrono>
#include <limits>
#include <memory>
#include <string>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "hearsay/cost/cost_table.h"
#include "hearsay/cost/measure.h"

namespace hearsay::cli {

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Action add_cost(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "cost", "Count the memory, compute, bytes and energy of a round, for one device");
  auto request = std::make_shared<cost::CostRequest>();
  const auto add = [&](const std::string& name, auto& value, const char* meaning) {
    return command->add_option(name, value, meaning)->capture_default_str();
  };
  command->add_option("model", request->model, "the network (hearsay list models)")
      ->required()
      ->type_name("MODEL");
  add("-n,--peers", request->peers, "number of peers")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1 << 20}));
  add("--batch", request->batch, "samples of a peer in a round; a device alone has all peers'")
      ->type_name("B")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1 << 30}));
  add("--compressor", request->compressor, "of messages; default topk:keep=0.01 where there is one")
      ->type_name("SPEC");
  add("--graph", request->graph, "who talks to whom")->type_name("SPEC");
  add("--algorithm", request->algorithm, "what peers keep and send")->type_name("SPEC");
  add("--optimizer", request->optimizer, "what it keeps")->type_name("SPEC");
  add("--input", request->input, "channels x height x width of an image")->type_name("CxHxW");
  add("--classes", request->classes, "outputs of the network")
      ->type_name("C")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  add("--energy", request->energy, "the model of energy (docs/energy.md)")->type_name("SPEC");
  add("--precision", request->precision, "of convolutions and matrix products, beside fp32")
      ->type_name("fp32|tf32|bf16|int8");
  auto measured = std::make_shared<bool>(false);
  command->add_flag("--measure", *measured,
                    "also run a peer's steps here, in fp32 and int8: memory and milliseconds");
  return [request, measured] {
    std::string text = cost::cost_table(*request);
    if (*measured) text += "\n" + cost::measured_table(*request, seconds);
    fmt::print("{}", text);
    return 0;
  };
}

}  // namespace hearsay::cli
