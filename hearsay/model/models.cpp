#include "hearsay/model/models.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/model/families.h"

namespace hearsay::model {

namespace {

constexpr std::string_view kNormMeaning =
    "after each convolution; evonorms replace the relu too; range-evonorm is range-evonorm-hard";
constexpr std::string_view kShortcutMeaning =
    "where the shape changes: A pads with zeros, B is a 1x1 convolution and norm";

constexpr Parameter norm_parameter(std::string_view fallback) {
  return {"norm", fallback, kNorms, kNormMeaning};
}
constexpr Parameter shortcut_parameter(std::string_view fallback) {
  return {"shortcut", fallback, "A|B", kShortcutMeaning};
}
constexpr Parameter kZeroLast = {"zero_last", "0", "0|1",
                                 "1: weights of the last norm of each residual block start at 0"};

constexpr Parameter kMlp[] = {
    {"hidden", "64+64", "N+N+...", "widths of the hidden layers, each with a relu"},
};
constexpr Parameter kCnn[] = {norm_parameter("none")};
constexpr Parameter kResnet[] = {
    {"depth", "20", "20|32|44|50|56|110", "layers with weights: 6n + 2 with n blocks a stage"},
    shortcut_parameter("A"),
    norm_parameter("batch"),
    kZeroLast,
};
// The default values of a preset are those that give the parameter count of its paper's table:
// 1.0789 MB for resnet20 and 6.935 MB for resnet110 (100 classes) are shortcut A with batch norm,
// 37.953 MB for vgg11 is without a norm, 760,458 for resnet54 is shortcut B with EvoNorm.
constexpr Parameter kResnetA[] = {shortcut_parameter("A"), norm_parameter("batch"), kZeroLast};
constexpr Parameter kResnetB[] = {shortcut_parameter("B"), norm_parameter("evonorm"), kZeroLast};
constexpr Parameter kResnet18[] = {norm_parameter("evonorm"), kZeroLast};
constexpr Parameter kVgg11[] = {norm_parameter("none")};

constexpr ModelEntry kRegistry[] = {
    {"logistic", "logistic", "one linear layer, from zero: convex", {}, make_linear},
    {"linear", "linear", "the same; what one calls it in a regression", {}, make_linear},
    {"mlp", "mlp:hidden=64+64", "linear layers with relus between", kMlp, make_mlp},
    {"cnn", "cnn", "two 3x3 convolutions (16, 32 channels) and a linear layer", kCnn, make_cnn},
    {"lenet5", "lenet5", "LeNet-5 with relus and max pooling", {}, make_lenet5},
    {"resnet", "resnet:depth=20,norm=evonorm", "the CIFAR ResNets of He et al.", kResnet,
     make_resnet},
    {"resnet20", "resnet20", "ResNet-20 of the Sparse-Push paper", kResnetA, make_resnet20},
    {"resnet54", "resnet54", "what the low-precision paper calls so; 50 layers, 8 blocks a stage",
     kResnetB, make_resnet54},
    {"resnet110", "resnet110", "ResNet-110 of the Sparse-Push paper", kResnetA, make_resnet110},
    {"resnet18", "resnet18", "ResNet-18 for images of about 224x224", kResnet18, make_resnet18},
    {"vgg11", "vgg11:norm=batch", "VGG-11, with 512 hidden features and dropout", kVgg11,
     make_vgg11},
};

}  // namespace

Registry<ModelEntry> model_registry() { return {"model", kRegistry}; }

Network make_model(std::string_view spec, Shape input, std::size_t outputs) {
  const ModelEntry& entry = model_registry().find(spec);
  const Arguments arguments(spec, entry.parameters);
  if (outputs == 0) {
    throw InvalidArgument(fmt::format("[{}] got 0 outputs; there must be at least 1", entry.name));
  }
  try {
    return entry.make(arguments, input, outputs);
  } catch (const DoesNotFit& error) {
    throw InvalidArgument(fmt::format("[{}] got images of {}, which do not fit: {}",
                                      arguments.resolved(), to_string(input), error.what()));
  }
}

}  // namespace hearsay::model
