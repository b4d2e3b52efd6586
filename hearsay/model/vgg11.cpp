#include <fmt/format.h>

#include "hearsay/model/families.h"

namespace hearsay::model {

/// Configuration A of Simonyan, Zisserman 2015, with the papers' small classifier. Tensors are
/// numbered as in torchvision: features.I, classifier.I, with I the position in the sequence.
Network make_vgg11(const Arguments& arguments, Shape input, std::size_t outputs) {
  require_pixels(arguments, input, 32);
  const Norm norm = norm_of(arguments);
  constexpr std::size_t kPool = 0;
  constexpr std::size_t kHidden = 512;

  Network net(input);
  Value x = net.input();
  std::size_t place = 0;
  const auto next = [&place] { return fmt::format("features.{}", place++); };
  for (std::size_t out :
       {64ul, kPool, 128ul, kPool, 256ul, 256ul, kPool, 512ul, 512ul, kPool, 512ul, 512ul, kPool}) {
    if (out == kPool) {
      x = net.add(next(), MaxPool{}, {x});
      continue;
    }
    x = net.add(next(), Conv2d{.out = out, .padding = 1, .start = Start::kFanOut}, {x});
    if (norm != Norm::kNone) x = add_norm(net, next(), norm, x);
    if (!activates(norm)) x = net.add(next(), Relu{}, {x});
  }
  if (net.shape(x).pixels() > 1) x = net.add("avgpool", GlobalAveragePool{}, {x});
  x = net.add("classifier.0", Dropout{.rate = 0.5}, {x});
  x = net.add("classifier.1", Linear{.out = kHidden}, {x});
  x = net.add("classifier.2", Relu{}, {x});
  net.add("classifier.3", Linear{.out = outputs}, {x});
  return net;
}

}  // namespace hearsay::model
