#include "hearsay/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/data/source/digits.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {

namespace {

constexpr std::string_view kOwnSource = "the user's own files, under their own licence";

constexpr Parameter kPath[] = {{"path", "", "PATH", "the folder with the published files"}};
constexpr Parameter kFolder[] = {
    {"path", "", "PATH", "the folder that holds train/ and val/ or test/"},
    {"size", "224", "[1, 4096]", "pixels a side of what the model sees"},
};
constexpr Parameter kSynthetic[] = {
    {"shape", "3x32x32", "CxHxW", "channels, height and width"},
    {"classes", "10", "[1, 65535]", "number of classes, for --task classification"},
    {"samples", "10000", "[1, 1000000000]", "training samples; a fifth more for testing"},
    {"noise", "1", "[0, 1000]",
     "deviation of the noise, that of the images without it being about 1"},
    {"seed", "0", "[0, 1000000000]", "another task of the same kind"},
    {"targets", "1", "[1, 1024]", "numbers to predict, for --task regression"},
};
constexpr Parameter kNpz[] = {
    {"path", "", "PATH", "the file, with arrays x, y and perhaps x_test, y_test"},
    {"test", "0.2", "(0, 1)",
     "fraction of every class (of all samples in a regression) to test on, if there is no x_test"},
    {"first", "auto", "auto|0",
     "label of the first class; auto: the smallest of the file; 0: as older versions counted"},
};
constexpr Parameter kCsv[] = {
    {"path", "", "PATH", "the file; its first line names the columns"},
    {"label", "label", "COLUMN", "the column with the class; all others are features"},
    {"test", "0.2", "(0, 1)",
     "fraction of every class (of all samples in a regression) to test on"},
    {"target", "none", "COLUMN+COLUMN+...",
     "for --task regression: the columns with the numbers to predict; all others are features"},
};

constexpr DatasetEntry kRegistry[] = {
    {"digits",
     "digits",
     "1,797 handwritten digits of 8x8 pixels, inside the binary",
     kDigitsSource,
     {},
     [](const Arguments&) { return make_digits(); },
     "cnn",
     "none",
     125,
     nullptr,
     nullptr,
     0.1},
    {"mnist", "mnist:data/mnist", "70,000 handwritten digits of 28x28 pixels (IDX files)",
     kMnistSource, kPath, make_mnist, "cnn"},
    {"cifar10", "cifar10:data/cifar-10-batches-bin",
     "60,000 colour images of 32x32 pixels, 10 classes (binary version)", kCifarSource, kPath,
     make_cifar10, "resnet20", "crop-flip"},
    {"cifar100", "cifar100:data/cifar-100-binary",
     "60,000 colour images of 32x32 pixels, 100 classes (binary version)", kCifarSource, kPath,
     make_cifar100, "resnet20", "crop-flip"},
    {"folder", "folder:data/imagenette2,size=224", "JPEG and PNG files in train/CLASS/, val/CLASS/",
     kOwnSource, kFolder, make_folder, "resnet18", "resized-crop", 30, nullptr, samples_of_folder},
    {"synthetic", "synthetic:shape=3x32x32,classes=10,samples=1000",
     "a made-up task of any size that can be learnt", "made on the spot; licence as hearsay's",
     kSynthetic, make_synthetic, "cnn", "none", 30, make_synthetic_regression,
     samples_of_synthetic},
    {"npz", "npz:data/mine.npz", "your own arrays x and y, saved by numpy", kOwnSource, kNpz,
     make_npz, "mlp", "none", 30, make_npz_regression, samples_of_npz},
    {"csv", "csv:data/mine.csv,label=species",
     "your own table of numbers with a label column, or with targets", kOwnSource, kCsv, make_csv,
     "mlp", "none", 30, make_csv_regression, samples_of_csv},
};

}  // namespace

Task parse_task(std::string_view word) {
  if (word == "classification" || word == "auto") return Task::kClassification;
  if (word == "regression") return Task::kRegression;
  throw InvalidArgument(fmt::format("[task] must be classification or regression, got '{}'", word));
}

Samples subset(const Samples& from, const std::vector<bool>& chosen) {
  Samples some{.targets_each = from.targets_each};
  if (from.size() == 0) return some;
  const auto count = static_cast<std::size_t>(std::ranges::count(chosen, true));
  const auto copy = [&](const TypedArray& entries) {
    return entries.visit([&]<class T>(const std::vector<T>& all) {
      const std::size_t of_one = all.size() / from.size();
      std::vector<T> to;
      to.reserve(count * of_one);
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (!chosen[i]) continue;
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * of_one);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(of_one));
      }
      return TypedArray(std::move(to));
    });
  };
  some.inputs = copy(from.inputs);
  some.targets = copy(from.targets);
  return some;
}

bool varies(double deviation, double mean) {
  constexpr double kLeast = 1e-6;
  return static_cast<float>(deviation) > 0 && deviation > kLeast * std::abs(mean);
}

std::shared_ptr<const Dataset> with_samples(const Dataset& dataset, Samples train,
                                            Samples validation) {
  // Member by member: copying the whole dataset would duplicate the training part.
  return std::make_shared<const Dataset>(Dataset{.name = dataset.name,
                                                 .channels = dataset.channels,
                                                 .height = dataset.height,
                                                 .width = dataset.width,
                                                 .margin = dataset.margin,
                                                 .classes = dataset.classes,
                                                 .scale = dataset.scale,
                                                 .mean = dataset.mean,
                                                 .deviation = dataset.deviation,
                                                 .train = std::move(train),
                                                 .test = dataset.test,
                                                 .validation = std::move(validation),
                                                 .class_names = dataset.class_names,
                                                 .target_mean = dataset.target_mean,
                                                 .target_deviation = dataset.target_deviation,
                                                 .channel_names = dataset.channel_names,
                                                 .target_names = dataset.target_names});
}

Registry<DatasetEntry> dataset_registry() { return {"data", kRegistry}; }

const DatasetEntry* find_dataset(std::string_view spec) {
  const auto* found = std::ranges::find(kRegistry, spec_name(spec), &DatasetEntry::name);
  return found == std::end(kRegistry) ? nullptr : found;
}

std::shared_ptr<const Dataset> make_dataset(std::string_view spec, Task task) {
  const DatasetEntry& entry = dataset_registry().find(spec);
  const Arguments arguments(spec, entry.parameters);
  if (task == Task::kClassification) return entry.make(arguments);
  if (entry.make_regression != nullptr) return entry.make_regression(arguments);
  std::vector<std::string_view> others;
  for (const DatasetEntry& other : dataset_registry()) {
    if (other.make_regression != nullptr) others.push_back(other.name);
  }
  throw InvalidArgument(
      fmt::format("[{}] has classes, not numbers to predict; --task regression needs one of {}",
                  entry.name, fmt::join(others, ", ")));
}

std::string sha256_of(const Dataset& dataset) {
  Sha256 sha;
  const auto number = [&](std::uint64_t value) { sha.update(&value, sizeof value); };
  const auto entries = [&](const auto& values) {  // with their count, so no entry can change arrays
    number(values.size());
    sha.update(values.data(), values.size() * sizeof *values.data());
  };
  for (std::size_t value :
       {dataset.channels, dataset.height, dataset.width, dataset.margin, dataset.classes}) {
    number(value);
  }
  sha.update(&dataset.scale, sizeof dataset.scale);
  entries(dataset.mean);
  entries(dataset.deviation);
  for (const Samples* part : {&dataset.train, &dataset.test, &dataset.validation}) {
    if (dataset.task() == Task::kRegression) {
      number(part->targets_each);
      entries(part->targets.as<float>());
    } else {
      entries(part->labels());
    }
    // The count of bytes and the count of floats, one of them 0, each before its entries.
    const bool floats = part->inputs.type() == ElementType::kF32;
    if (floats) number(0);
    part->inputs.visit(entries);
    if (!floats) number(0);
  }
  for (const std::string& name : dataset.class_names) entries(name);
  if (dataset.task() == Task::kRegression) {
    entries(dataset.target_mean);
    entries(dataset.target_deviation);
  }
  return sha.finish_hex();
}

}  // namespace hearsay::data
