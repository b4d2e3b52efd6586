#include <limits>
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/command/commands.h"
#include "hearsay/compress/code/message.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/text.h"
#include "hearsay/cost/cost.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/picture.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/graph/svg.h"

namespace hearsay::cli {

namespace {

struct GraphOptions {
  std::string spec, compressor = "topk:keep=0.01", svg;
  std::size_t peers = 0, dim = 269'722;
  std::uint64_t seed = 1;
};

constexpr std::int64_t kMostPeers = 1 << 20;
constexpr std::int64_t kMostDim = 1'000'000'000;
constexpr std::int64_t kMostSeed = std::numeric_limits<std::int64_t>::max();

const char* yes_no(bool value) { return value ? "yes" : "no"; }

void print_line(const char* name, const std::string& value) {
  fmt::print("  {:<28} {}\n", name, value);
}

void print_spectrum(const graph::Facts& f) {
  print_line("rho = ||W - 11'/n||", fmt::format("{:.6f}", f.rho));
  print_line("second eigenvalue modulus",
             fmt::format("{:.6f}  (gap {:.3g})", f.second_modulus, 1 - f.second_modulus));
  if (f.symmetric) {
    print_line(f.period > 1 ? "smallest of any W" : "smallest eigenvalue",
               fmt::format("{:.6f}", f.lambda_min));
  }
  const std::size_t shown = std::min<std::size_t>(f.perron.size(), 8);
  print_line("push-sum weights tend to",
             fmt::format("{:.3f}{}",
                         fmt::join(f.perron.begin(),
                                   f.perron.begin() + static_cast<std::ptrdiff_t>(shown), " "),
                         shown < f.perron.size() ? " ..." : ""));
  print_line("rounds to average to 1e-3", f.rounds_to_1e3 < graph::Facts::kNever
                                              ? fmt::format("{}", f.rounds_to_1e3)
                                              : "more than 9e15");
}

void graph_command(const GraphOptions& options) {
  const auto schedule = graph::make_schedule(options.spec, {options.peers, options.seed});
  const graph::Facts f = graph::facts_of(*schedule);
  const double bytes = cost::vector_bytes(options.compressor, Layout(options.dim));

  fmt::print("{}: {} peers", options.spec, f.peers);
  if (f.period > 1) fmt::print(", {} matrices in turn", f.period);
  fmt::print("\n");
  print_line("strongly connected",
             fmt::format("{}{}", yes_no(f.strongly_connected), f.period > 1 ? " (jointly)" : ""));
  print_line("column / row stochastic",
             fmt::format("{} / {}", yes_no(f.column_stochastic), yes_no(f.row_stochastic)));
  print_line("doubly stochastic, symmetric",
             fmt::format("{}, {}", yes_no(f.doubly_stochastic), yes_no(f.symmetric)));
  print_line("out-degree", f.min_out_degree == f.max_out_degree
                               ? fmt::format("{}", f.min_out_degree)
                               : fmt::format("{} .. {}", f.min_out_degree, f.max_out_degree));
  f.has_spectrum ? print_spectrum(f)
                 : print_line("eigenvalues",
                              "left out: this graph mixes too slowly to compute them in seconds");
  print_line("messages per round", fmt::format("{:.10g}", f.messages_per_round));
  print_line(
      "bytes per round",
      fmt::format("{} uncompressed, {} with {}, for {} parameters",
                  human_bytes(f.messages_per_round *
                              (4.0 * static_cast<double>(options.dim) + compress::kHeaderBytes)),
                  human_bytes(f.messages_per_round * bytes), options.compressor, options.dim));
  fmt::print("\n{}", graph::picture(schedule->period().front()));
  if (options.svg.empty()) return;
  write_user_file(options.svg, graph::svg_file(*schedule, options.spec));
  fmt::print("\npicture: {}\n", options.svg);
}

}  // namespace

Action add_graph(CLI::App& app) {
  CLI::App* command = app.add_subcommand("graph", "Print the spectral properties of a graph");
  auto options = std::make_shared<GraphOptions>();
  command->add_option("spec", options->spec, "the graph (hearsay list graphs)")
      ->required()
      ->type_name("SPEC");
  command->add_option("-n,--peers", options->peers, "number of peers")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, kMostPeers));
  command->add_option("--dim", options->dim, "model size for the byte counts; default: ResNet-20")
      ->type_name("D")
      ->check(CLI::Range(std::int64_t{1}, kMostDim));
  command->add_option("--compressor", options->compressor, "for the byte counts")
      ->type_name("SPEC");
  command->add_option("--seed", options->seed, "of random graphs")
      ->type_name("S")
      ->check(CLI::Range(std::int64_t{0}, kMostSeed));
  command->add_option("--svg", options->svg, "draw it into FILE, with all its phases if it changes")
      ->check([](const std::string& file) {
        return std::string(file.empty() ? "must not be empty" : "");
      })
      ->type_name("FILE");
  return [options] {
    graph_command(*options);
    return 0;
  };
}

}  // namespace hearsay::cli
