#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/text.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/data/image/image_file.h"
#include "hearsay/data/image/resize.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostClasses = 65536;

SourceFile at(fs::path path) { return {"folder", std::move(path)}; }

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

/// The entries of a folder that `wanted` accepts, in alphabetical order, without hidden files.
template <class Wanted>
std::vector<fs::path> list(const fs::path& folder, Wanted wanted) {
  std::vector<fs::path> found;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (!entry.path().filename().string().starts_with('.') && wanted(entry)) {
        found.push_back(entry.path());
      }
    }
  } catch (const fs::filesystem_error& error) {
    at(folder).refuse(fmt::format("cannot be listed: {}", error.code().message()));
  }
  std::ranges::sort(found);
  return found;
}

std::vector<fs::path> subfolders(const fs::path& folder) {
  return list(folder, [](const fs::directory_entry& entry) { return entry.is_directory(); });
}

/// The images of one part (train or test) and the class of each.
struct Files {
  std::vector<fs::path> paths;
  std::vector<std::uint16_t> labels;
};

Files find_images(const fs::path& part, const std::vector<std::string>& classes) {
  Files files;
  for (const fs::path& folder : subfolders(part)) {
    const auto place = std::ranges::find(classes, folder.filename().string());
    if (place == classes.end()) {
      at(folder).refuse(
          fmt::format("is no class of train/, whose classes are {}", name_list(classes)));
    }
    const std::vector<fs::path> images = list(folder, [](const fs::directory_entry& entry) {
      return entry.is_regular_file() && is_image(entry.path());
    });
    if (images.empty()) at(folder).refuse("has no images; they are named *.jpg, *.jpeg or *.png");
    files.paths.insert(files.paths.end(), images.begin(), images.end());
    files.labels.resize(files.paths.size(), static_cast<std::uint16_t>(place - classes.begin()));
  }
  if (files.paths.empty()) {
    at(part).refuse(fmt::format("has no classes; they are its folders, {}", name_list(classes)));
  }
  return files;
}

/// The centre square of a picture, scaled to `side` x `side`, channel after channel.
void fill(const Picture& picture, std::size_t side, std::span<std::uint8_t> out) {
  const std::size_t square = std::min(picture.height, picture.width);
  const std::size_t top = (picture.height - square) / 2;
  const std::size_t left = (picture.width - square) / 2;
  std::vector<float> plane(square * square);
  std::vector<float> scaled(side * side);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t y = 0; y < square; ++y) {
      const std::uint8_t* row = picture.rgb.data() + ((top + y) * picture.width + left) * 3 + c;
      for (std::size_t x = 0; x < square; ++x) plane[y * square + x] = row[3 * x];
    }
    resize({plane.data(), square, square, square}, side, side, scaled);
    for (std::size_t k = 0; k < scaled.size(); ++k) {
      out[c * scaled.size() + k] =
          static_cast<std::uint8_t>(std::clamp(scaled[k] + 0.5f, 0.0f, 255.0f));
    }
  }
}

Samples read_part(const Files& files, const Dataset& images, ThreadPool& pool) {
  const std::size_t features = images.stored_features();
  Samples part;
  part.labels() = files.labels;
  std::vector<std::uint8_t>& pixels = part.inputs.as<std::uint8_t>();
  pixels.resize(files.paths.size() * features);
  pool.run(files.paths.size(), [&](std::size_t i) {
    fill(read_picture(at(files.paths[i])), images.stored_width(),
         std::span(pixels).subspan(i * features, features));
  });
  return part;
}

}  // namespace

std::shared_ptr<const Dataset> make_folder(const Arguments& arguments) {
  const fs::path root = arguments.text("path");
  const auto size = static_cast<std::size_t>(arguments.integer_in_range("size"));
  Dataset images{.name = "folder",
                 .channels = 3,
                 .height = size,
                 .width = size,
                 .margin = static_cast<std::size_t>(std::lround(static_cast<double>(size) / 14)),
                 .scale = 1.0f / 255,
                 .mean = {0.485f, 0.456f, 0.406f},
                 .deviation = {0.229f, 0.224f, 0.225f}};
  std::error_code error;
  const fs::path test = fs::is_directory(root / "val", error) ? root / "val" : root / "test";
  if (!fs::is_directory(root / "train", error) || !fs::is_directory(test, error)) {
    at(root).refuse("must hold train/CLASS/*.jpg (.jpeg, .png) and val/CLASS/ or test/CLASS/");
  }
  for (const fs::path& folder : subfolders(root / "train")) {
    images.class_names.push_back(folder.filename().string());
  }
  images.classes = images.class_names.size();
  if (images.classes == 0 || images.classes > kMostClasses) {
    at(root / "train")
        .refuse(fmt::format("has {} folders; each is a class, and there must be 1 "
                            "to {}",
                            images.classes, kMostClasses));
  }
  // Both lists before the first picture: a wrong folder is reported at once.
  const Files train_files = find_images(root / "train", images.class_names);
  const Files test_files = find_images(test, images.class_names);
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  images.train = read_part(train_files, images, pool);
  images.test = read_part(test_files, images, pool);
  return std::make_shared<const Dataset>(std::move(images));
}

std::size_t samples_of_folder(const Arguments& arguments) {
  const fs::path train = fs::path(arguments.text("path")) / "train";
  std::vector<std::string> classes;
  for (const fs::path& folder : subfolders(train)) classes.push_back(folder.filename().string());
  return find_images(train, classes).paths.size();
}

}  // namespace hearsay::data
