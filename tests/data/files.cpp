#include "data/files.h"

#include <cstdio>
#include <cstdlib>
// jpeglib.h uses size_t and FILE without including them.
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include <stdexcept>

#include <fmt/format.h>

namespace hearsay::data {

namespace {

namespace fs = std::filesystem;

Bytes deflate_all(ByteView bytes, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflate");
  }
  Bytes out(deflateBound(&stream, bytes.size()) + 32);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A sparse file with one label byte (0 .. labels - 1) at the given offset of its first records.
void write_cifar_file(const fs::path& path, std::size_t records, std::size_t record,
                      std::size_t label_at, std::size_t labels) {
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < labels; ++i) {
    out.seekp(static_cast<std::streamoff>(i * record + label_at));
    out.put(static_cast<char>(i));
  }
  out.close();
  fs::resize_file(path, records * record);
}

}  // namespace

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Bytes read_bytes(const fs::path& path) { return bytes_of(support::read_text(path)); }

void write_bytes(const fs::path& path, ByteView bytes) {
  fs::create_directories(path.parent_path());
  fs::remove(path);  // much faster than truncating it, after which some file systems flush
  support::write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Bytes idx(std::vector<std::uint32_t> dimensions, std::size_t modulus) {
  Bytes bytes{0, 0, 8, static_cast<std::uint8_t>(dimensions.size())};
  std::size_t entries = 1;
  for (const std::uint32_t dimension : dimensions) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<std::uint8_t>(dimension >> shift));
    }
    entries *= dimension;
  }
  for (std::size_t k = 0; k < entries; ++k) {
    bytes.push_back(static_cast<std::uint8_t>(k % modulus));
  }
  return bytes;
}

Bytes gzip(ByteView bytes) { return deflate_all(bytes, 15 + 16); }

Bytes npy(std::string_view type, std::string_view shape, ByteView entries) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  header.resize((10 + header.size() + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  Bytes bytes = bytes_of("\x93NUMPY");
  append(bytes, std::uint16_t{1});  // version 1.0
  append(bytes, static_cast<std::uint16_t>(header.size()));
  for (const char c : header) bytes.push_back(static_cast<std::uint8_t>(c));
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  return bytes;
}

Bytes zip(const std::vector<Member>& members, bool deflated) {
  Bytes out;
  Bytes contents;
  for (const Member& member : members) {
    const auto header = static_cast<std::uint32_t>(out.size());
    const Bytes packed = deflated ? deflate_all(member.bytes, -15) : member.bytes;
    Bytes common;  // common to both headers: from the version needed to the length of the extras
    append(common, std::uint16_t{20});
    append(common, std::uint16_t{0});
    append(common, static_cast<std::uint16_t>(deflated ? 8 : 0));
    append(common, std::uint32_t{0});  // time and date
    append(common, static_cast<std::uint32_t>(
                       crc32(0, member.bytes.data(), static_cast<uInt>(member.bytes.size()))));
    append(common, static_cast<std::uint32_t>(packed.size()));
    append(common, static_cast<std::uint32_t>(member.bytes.size()));
    append(common, static_cast<std::uint16_t>(member.name.size()));
    append(common, std::uint16_t{0});

    const Bytes name = bytes_of(member.name);
    append(out, std::uint32_t{0x04034b50});
    for (const Bytes* part : {static_cast<const Bytes*>(&common), &name, &packed}) {
      out.insert(out.end(), part->begin(), part->end());
    }
    append(contents, std::uint32_t{0x02014b50});
    append(contents, std::uint16_t{20});
    contents.insert(contents.end(), common.begin(), common.end());
    contents.insert(contents.end(), 10, 0);  // comment, disk, attributes
    append(contents, header);
    contents.insert(contents.end(), name.begin(), name.end());
  }
  const auto begin = static_cast<std::uint32_t>(out.size());
  out.insert(out.end(), contents.begin(), contents.end());
  append(out, std::uint32_t{0x06054b50});
  append(out, std::uint32_t{0});
  append(out, static_cast<std::uint16_t>(members.size()));
  append(out, static_cast<std::uint16_t>(members.size()));
  append(out, static_cast<std::uint32_t>(contents.size()));
  append(out, begin);
  append(out, std::uint16_t{0});
  return out;
}

Bytes png(std::size_t height, std::size_t width, ByteView rgb) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(height);
  image.width = static_cast<png_uint_32>(width);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, rgb.data(), 0, nullptr);
  Bytes bytes(size);
  png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0, nullptr);
  bytes.resize(size);
  return bytes;
}

Bytes jpeg(std::size_t height, std::size_t width, ByteView rgb) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  for (std::size_t y = 0; y < height; ++y) {
    JSAMPROW row = const_cast<JSAMPROW>(rgb.data() + y * width * 3);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  Bytes bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg's, by malloc
  return bytes;
}

void write_mnist(const fs::path& folder, bool gzipped) {
  const auto write = [&](const std::string& name, const Bytes& bytes) {
    write_bytes(folder / (name + (gzipped ? ".gz" : "")), gzipped ? gzip(bytes) : bytes);
  };
  write("train-images-idx3-ubyte", idx({20, 28, 28}, 251));
  write("train-labels-idx1-ubyte", idx({20}, 10));
  write("t10k-images-idx3-ubyte", idx({10, 28, 28}, 251));
  write("t10k-labels-idx1-ubyte", idx({10}, 10));
}

void write_cifar10(const fs::path& folder) {
  fs::create_directories(folder);
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    write_cifar_file(folder / name, 10000, 3073, 0, 10);
  }
}

void write_cifar100(const fs::path& folder) {
  fs::create_directories(folder);
  write_cifar_file(folder / "train.bin", 50000, 3074, 1, 100);
  write_cifar_file(folder / "test.bin", 10000, 3074, 1, 100);
}

void write_folder(const fs::path& folder, std::size_t side) {
  for (const char* part : {"train", "val"}) {
    const Bytes red(side * side * 3, 200);
    const Bytes blue(side * side * 3, 40);
    write_bytes(folder / part / "cat" / "a.png", png(side, side, red));
    write_bytes(folder / part / "cat" / "b.JPG", jpeg(side, side, red));
    write_bytes(folder / part / "dog" / "a.jpeg", jpeg(side, side, blue));
    write_bytes(folder / part / "dog" / "b.png", png(side, side, blue));
  }
}

std::string write_example(std::string_view name, const fs::path& folder) {
  if (name == "digits") return "digits";
  if (name == "synthetic") return "synthetic:shape=2x5x6,classes=3,samples=50";
  if (name == "mnist") write_mnist(folder, false);
  if (name == "cifar10") write_cifar10(folder);
  if (name == "cifar100") write_cifar100(folder);
  if (name == "folder") write_folder(folder, 5);
  if (name == "folder") return fmt::format("folder:{},size=14", folder.string());
  if (name == "npz") {
    const std::vector<Member> members{
        {"x.npy", npy("<f4", "(4, 3)", std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2})},
        {"y.npy", npy("<i8", "(4,)", std::vector<std::int64_t>{0, 1, 0, 1})},
    };
    write_bytes(folder / "mine.npz", zip(members, true));
    return fmt::format("npz:{},test=0.5", (folder / "mine.npz").string());
  }
  if (name == "csv") {
    support::write_text(folder / "mine.csv", "a,label,b\n1,x,2\n3,y,4\n5,x,6\n7,y,9\n");
    return fmt::format("csv:{},test=0.5", (folder / "mine.csv").string());
  }
  return fmt::format("{}:{}", name, folder.string());
}

std::string write_regression_example(std::string_view name, const fs::path& folder) {
  if (name == "npz") {
    const std::vector<Member> members{
        {"x.npy", npy("<f4", "(4, 3)", std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2})},
        {"y.npy", npy("<f8", "(4, 2)", std::vector<double>{0.5, 1, 1.5, -2, 2.5, 3, 3.5, -4})},
    };
    write_bytes(folder / "mine.npz", zip(members, true));
    return fmt::format("npz:{},test=0.5", (folder / "mine.npz").string());
  }
  if (name == "csv") {
    support::write_text(folder / "mine.csv", "a,price,b\n1,10.5,2\n3,20,4\n5,-3,6\n7,8,9\n");
    return fmt::format("csv:{},test=0.5,target=price+b", (folder / "mine.csv").string());
  }
  if (name == "synthetic") return "synthetic:shape=2x5x6,targets=2,samples=50";
  throw std::runtime_error(fmt::format("no regression example of {}", name));
}

}  // namespace hearsay::data
