#include <gtest/gtest.h>
#include <zlib.h>

#include <fmt/format.h>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/image_file.h"

namespace hearsay::data {
namespace {

namespace fs = std::filesystem;

std::string spec_of(const Scratch& scratch, std::size_t size) {
  return fmt::format("folder:{},size={}", scratch.path().string(), size);
}

TEST(Folder, ReadsClassesInAlphabeticalOrderAndPicturesOfBothKinds) {
  const Scratch scratch;
  write_folder(scratch.path(), 6);
  write_bytes(scratch / "train/cat/notes.txt", bytes_of("no picture"));
  write_bytes(scratch / "train/dog/.hidden.png", bytes_of("no picture"));
  const auto images = make_dataset(spec_of(scratch, 28));
  EXPECT_EQ(images->class_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(images->train.labels(), (std::vector<std::uint16_t>{0, 0, 1, 1}));
  EXPECT_EQ(images->height, 28u);
  EXPECT_EQ(images->margin, 2u);
  EXPECT_EQ(images->stored_features(), 3u * 32 * 32);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::uint8_t pixel : images->train.image(i, images->stored_features())) {
      EXPECT_NEAR(pixel, i < 2 ? 200 : 40, 1);
    }
  }
}

TEST(Folder, StoresAtTwoHundredAndTwentyFourWhatImagenetRecipesDo) {
  const Scratch scratch;
  write_folder(scratch.path(), 2);
  const auto images = make_dataset("folder:" + scratch.path().string());
  EXPECT_EQ(images->height, 224u);
  EXPECT_EQ(images->stored_height(), 256u);
  EXPECT_EQ(images->mean, (std::vector<float>{0.485f, 0.456f, 0.406f}));
  EXPECT_EQ(images->deviation, (std::vector<float>{0.229f, 0.224f, 0.225f}));
}

TEST(Folder, KeepsTheCentreSquareOfAWidePicture) {
  // 2 x 4: the left and right columns are cut off. size=2 has no margin: pixels are unchanged.
  const Bytes rgb{9, 9, 9, 10, 20, 30, 40, 50, 60, 9, 9, 9,   // row 0
                  9, 9, 9, 70, 80, 90, 11, 12, 13, 9, 9, 9};  // row 1
  const Scratch scratch;
  write_bytes(scratch / "train/only/a.png", png(2, 4, rgb));
  write_bytes(scratch / "test/only/a.png", png(2, 4, rgb));
  const auto images = make_dataset(spec_of(scratch, 2));
  EXPECT_EQ(images->train.inputs.as<std::uint8_t>(),
            (Bytes{10, 40, 70, 11, 20, 50, 80, 12, 30, 60, 90, 13}));
}

TEST(Picture, OfTwoByTwoComesBackFromPngExactlyAndFromJpegNearly) {
  const Scratch scratch;
  const Bytes rgb{100, 100, 100, 120, 120, 120, 140, 140, 140, 160, 160, 160};
  write_bytes(scratch / "a", png(2, 2, rgb));
  EXPECT_EQ(read_picture({"folder", scratch / "a"}).rgb, rgb);
  write_bytes(scratch / "b", jpeg(2, 2, rgb));
  const Picture picture = read_picture({"folder", scratch / "b"});
  EXPECT_EQ(picture.height, 2u);
  EXPECT_EQ(picture.width, 2u);
  ASSERT_EQ(picture.rgb.size(), rgb.size());
  for (std::size_t k = 0; k < rgb.size(); ++k) EXPECT_NEAR(picture.rgb[k], rgb[k], 2);
}

TEST(Picture, WithADamagedNoteBesideItsPixelsIsRead) {
  const Scratch scratch;
  const Bytes rgb{100, 100, 100, 120, 120, 120, 140, 140, 140, 160, 160, 160};
  Bytes bytes = png(2, 2, rgb);
  // A gAMA chunk of 3 bytes instead of 4, after the header.
  Bytes chunk = bytes_of(std::string("\0\0\0\3gAMAabc", 11));
  const auto sum = static_cast<std::uint32_t>(crc32(0, chunk.data() + 4, 7));
  for (int shift : {24, 16, 8, 0}) chunk.push_back(static_cast<std::uint8_t>(sum >> shift));
  constexpr std::ptrdiff_t kSignatureAndHeader = 8 + 25;
  bytes.insert(bytes.begin() + kSignatureAndHeader, chunk.begin(), chunk.end());
  write_bytes(scratch / "a.png", bytes);
  EXPECT_EQ(read_picture({"folder", scratch / "a.png"}).rgb, rgb);
}

TEST(Picture, ThatIsDamagedIsRefused) {
  const Scratch scratch;
  const fs::path path = scratch / "damaged.jpg";
  Bytes rgb(48 * 48 * 3);
  for (std::size_t k = 0; k < rgb.size(); ++k) rgb[k] = static_cast<std::uint8_t>(k * k / 7);
  for (const Bytes& whole : {png(48, 48, rgb), jpeg(48, 48, rgb)}) {
    for (std::size_t keep = 0; keep + 12 < whole.size(); keep += keep < 40 ? 1 : 97) {
      write_bytes(path, ByteView(whole).first(keep));
      const std::string text = message_of<CorruptData>([&] { read_picture({"folder", path}); });
      EXPECT_EQ(text.find("[folder] " + path.string() + " is no picture that can be read: "), 0u)
          << keep << ": " << text;
    }
  }
  write_bytes(path, bytes_of("GIF89a"));
  EXPECT_EQ(message_of<CorruptData>([&] {
              read_picture({"folder", path});
            }),
            "[folder] " + path.string() +
                " is no picture that can be read: it begins like neither a JPEG nor a PNG file");
}

TEST(Picture, ThatClaimsToBeHugeIsRefusedBeforeItsPixelsAreAllocated) {
  const Scratch scratch;
  Bytes bytes = jpeg(2, 2, Bytes(12, 0));
  for (std::size_t k = 0; k + 8 < bytes.size(); ++k) {
    if (bytes[k] == 0xff && bytes[k + 1] == 0xc0) {  // the frame header: height, width
      for (std::size_t at = k + 5; at < k + 9; ++at) bytes[at] = 0xfd;
      break;
    }
  }
  write_bytes(scratch / "a.jpg", bytes);
  const std::string text = message_of<CorruptData>([&] {
    read_picture({"folder", scratch / "a.jpg"});
  });
  EXPECT_NE(text.find("it has 65021 x 65021 pixels"), std::string::npos) << text;
}

TEST(Folder, RefusesPicturesThatAreCutOffAnywhere) {
  const Scratch scratch;
  Bytes rgb(16 * 16 * 3);
  for (std::size_t k = 0; k < rgb.size(); ++k) rgb[k] = static_cast<std::uint8_t>(k * k / 7);
  for (const Bytes& whole : {png(16, 16, rgb), jpeg(16, 16, rgb)}) {
    const std::string start = "[folder] " + (scratch / "a").string() + " is no picture";
    for (std::size_t keep = 0; keep < whole.size(); ++keep) {
      write_bytes(scratch / "a", ByteView(whole).first(keep));
      const std::string text = message_of<CorruptData>([&] {
        read_picture({"folder", scratch / "a"});
      });
      EXPECT_TRUE(text.starts_with(start)) << keep << " of " << whole.size() << ": " << text;
    }
  }
}

TEST(Folder, SaysWhatIsWrong) {
  const Scratch scratch;
  const std::string root = scratch.path().string();
  const auto message = [&] { return message_of([&] { make_dataset(spec_of(scratch, 8)); }); };
  const std::string wants =
      "[folder] " + root +
      " must hold train/CLASS/*.jpg (.jpeg, .png) and val/CLASS/ or test/CLASS/";
  EXPECT_EQ(message(), wants);
  fs::create_directories(scratch / "train");
  EXPECT_EQ(message(), wants);
  fs::create_directories(scratch / "val");
  EXPECT_EQ(message(), "[folder] " + root +
                           "/train has 0 folders; each is a class, and there must be 1 to 65536");
  write_folder(scratch.path(), 3);
  fs::create_directories(scratch / "val/mouse");
  EXPECT_EQ(message(),
            "[folder] " + root + "/val/mouse is no class of train/, whose classes are cat, dog");
  fs::remove(scratch / "val/mouse");
  EXPECT_EQ(message(), "no error");
  fs::create_directories(scratch / "train/mouse");
  EXPECT_EQ(message(), "[folder] " + root +
                           "/train/mouse has no images; they are named *.jpg, *.jpeg or *.png");
  fs::remove(scratch / "train/mouse");
  write_bytes(scratch / "val/cat/a.png", bytes_of("nothing"));
  const std::string text = message_of<CorruptData>([&] { make_dataset(spec_of(scratch, 8)); });
  EXPECT_EQ(text.find("[folder] " + root + "/val/cat/a.png is no picture"), 0u) << text;
}

}  // namespace
}  // namespace hearsay::data
