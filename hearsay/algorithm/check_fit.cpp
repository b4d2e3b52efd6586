#include <cmath>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"

namespace hearsay::algorithm {

namespace {

using Graph = Needs::Graph;
using Change = Needs::Change;
using Compression = Needs::Compression;

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw InvalidArgument(fmt::format(text, std::forward<Args>(args)...));
}

void check_graph(std::string_view name, const Needs& needs, const Surroundings& s) {
  if (needs.graph == Graph::kSymmetric && !s.graph.symmetric) {
    refuse(
        "[{}] needs symmetric weights, and {} has none; use ring, torus or "
        "random:p=0.5,symmetric=1",
        name, s.graph_spec);
  }
  if (needs.graph == Graph::kDoublyStochastic && !s.graph.doubly_stochastic) {
    refuse(
        "[{}] needs doubly stochastic weights, and those of {} are not; use ring, exponential or "
        "torus, or a push-sum method (sgp, sparse-push, push-diging) on this graph",
        name, s.graph_spec);
  }
  if (needs.change == Change::kStatic && s.change != graph::Schedule::Change::kNever) {
    refuse(
        "[{}] needs a graph that does not change, and {} does; use ring, or gradient-tracking on "
        "this graph",
        name, s.graph_spec);
  }
  if (needs.change == Change::kPhases && s.change == graph::Schedule::Change::kEveryRound) {
    refuse(
        "[{}] keeps copies of its neighbours' models, which {} makes worthless every round; use a "
        "graph with longer phases (cycle:A+B,every=100), or sparse-push",
        name, s.graph_spec);
  }
  if (needs.lambda_min_above_third && !s.graph.has_spectrum) {
    refuse(
        "[{}] needs lambda_min > -1/3, and the eigenvalues of {} take too long to compute; use "
        "exact-diffusion, which mixes with (I+W)/2",
        name, s.graph_spec);
  }
  if (needs.lambda_min_above_third && s.graph.lambda_min <= -1.0 / 3 + 1e-9) {
    refuse(
        "[{}] needs lambda_min > -1/3, and {} has {:.4f}; use exact-diffusion, which mixes with "
        "(I+W)/2",
        name, s.graph_spec, s.graph.lambda_min);
  }
}

/// DCD-PSGD converges if alpha = sup |C(x) - x| / |x| satisfies (1 - rho)^2 > 4 mu^2 alpha^2, with
/// mu = max |lambda - 1| (Tang et al. 2018, Theorem 1). ECD's theorem needs a bound on the absolute
/// error, which no operator here has; the same criterion is applied to it.
void check_mild(std::string_view name, const Surroundings& s) {
  const double quality = s.compressor.quality(s.layout);
  if (!s.graph.has_spectrum && quality < 1) {
    refuse(
        "[{}] needs mild compression, and the eigenvalues of {}, which say how mild, take too long "
        "to compute; use identity, or choco, which takes any",
        name, s.graph_spec);
  }
  const bool contractive = s.compressor.promise() == compress::Promise::kContractive;
  const double alpha = std::sqrt(contractive ? 1 - quality : 1 / quality - 1);
  const double bound = (1 - s.graph.rho) / (2 * std::max(1 - s.graph.lambda_min, 1e-12));
  if (alpha >= bound) {
    refuse(
        "[{}] needs mild compression: the relative error of {} may reach {:.3g}, and {} allows "
        "{:.3g}; use qsgd:bits=8,unbiased=1 or identity, or choco, which takes any",
        name, s.compressor_spec, alpha, s.graph_spec, bound);
  }
}

void check_compression(std::string_view name, const Needs& needs, const Surroundings& s) {
  const bool lossless = s.compressor.quality(s.layout) >= 1;
  switch (needs.compression) {
    case Compression::kRefused:
      if (!lossless) {
        refuse("[{}] does not compress, and the compressor is {}; drop --compressor, or use {}",
               name, s.compressor_spec,
               needs.own_momentum ? "qg-choco or qg-quant-sgp"
                                  : "sparse-push, deep-squeeze, choco or quant-sgp");
      }
      return;
    case Compression::kContractive:
      if (s.compressor.promise() != compress::Promise::kContractive && !lossless) {
        refuse(
            "[{}] needs a contractive compressor, and {} is unbiased: under error feedback it "
            "explodes; use qsgd without unbiased=1, randk without scale=1, topk, int8 or "
            "sign",
            name, s.compressor_spec);
      }
      return;
    case Compression::kMild:
      return check_mild(name, s);
  }
}

}  // namespace

void check_fit(std::string_view spec, const Surroundings& s) {
  const Entry& entry = registry().find(spec);
  check_fit(entry.name, entry.needs, s);
}

void check_fit(std::string_view name, const Needs& needs, const Surroundings& s) {
  if (s.asynchronous && !needs.asynchronous) {
    refuse("[{}] needs rounds in lock step; of asynchronous peers use sgp, sparse-push or scsp",
           name);
  }
  check_graph(name, needs, s);
  check_compression(name, needs, s);
  if (needs.linear_optimizer && !s.linear_optimizer) {
    refuse(
        "[{}] takes differences of directions and cannot use adam; use sgd, momentum or nesterov",
        name);
  }
  if (needs.own_momentum && s.optimizer_has_momentum) {
    refuse("[{}] has a momentum of its own ({}:beta=..); use --optimizer sgd", name, name);
  }
  if (needs.constant_rate && !s.constant_rate) {
    refuse(
        "[{}] is made for a constant learning rate: after a change it converges to another point; "
        "use exact-diffusion, or a constant --lr",
        name);
  }
  const bool push_sum = needs.graph == Graph::kColumnStochastic;
  if (s.lossy_links && !push_sum && needs.graph != Graph::kNone) {
    refuse(
        "[{}] has no push-sum weights, and links that lose messages bias it; use sgp or "
        "sparse-push",
        name);
  }
  if (needs.every_message && s.lossy_links) {
    refuse("[{}] needs every message to arrive, and the links lose some; use sgp or sparse-push",
           name);
  }
}

}  // namespace hearsay::algorithm
