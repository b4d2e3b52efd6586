#include "hearsay/data/source/source_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::data {

namespace {

std::string describe(const SourceFile& file, std::string_view what) {
  std::string text = fmt::format("[{}] {} {}", file.dataset, file.path.string(), what);
  if (!file.source.empty()) text += fmt::format("; published by {}", file.source);
  return text;
}

/// zlib's state, released by the destructor.
struct Inflater {
  explicit Inflater(Wrapping wrapping) {
    // 15: the largest window; + 16: a gzip header; negative: no header at all.
    ready = inflateInit2(&stream, wrapping == Wrapping::kGzip ? 15 + 16 : -15) == Z_OK;
  }
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  bool ready;
};

}  // namespace

void SourceFile::refuse(std::string_view what) const {
  throw InvalidArgument(describe(*this, what));
}

void SourceFile::corrupt(std::string_view what) const { throw CorruptData(describe(*this, what)); }

std::ifstream SourceFile::open(std::size_t& size) const {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) refuse("does not exist");
  if (!std::filesystem::is_regular_file(path, error)) refuse("is not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  size = std::filesystem::file_size(path, error);
  if (error) refuse(fmt::format("cannot be read: {}", error.message()));
  return in;
}

void SourceFile::read_next(std::ifstream& in, std::span<std::uint8_t> out) const {
  const auto count = static_cast<std::streamsize>(out.size());
  in.read(reinterpret_cast<char*>(out.data()), count);
  if (in.gcount() != count) refuse("cannot be read to its end");
}

Bytes SourceFile::read() const {
  std::size_t size = 0;
  std::ifstream in = open(size);
  Bytes bytes(size);
  read_next(in, bytes);
  return bytes;
}

Bytes inflate_beginning(ByteView in, Wrapping wrapping, std::size_t count) {
  Inflater inflater(wrapping);
  if (!inflater.ready) throw std::bad_alloc();
  constexpr std::size_t kEnough = std::size_t{1} << 24;  // of the input, for any header
  Bytes out(count);
  inflater.stream.next_in = const_cast<Bytef*>(in.data());  // zlib only reads it
  inflater.stream.avail_in = static_cast<uInt>(std::min(in.size(), kEnough));
  inflater.stream.next_out = out.data();
  inflater.stream.avail_out = static_cast<uInt>(count);
  ::inflate(&inflater.stream, Z_SYNC_FLUSH);
  out.resize(count - inflater.stream.avail_out);
  return out;
}

Bytes inflate(ByteView in, Wrapping wrapping, const SourceFile& file, std::size_t most) {
  constexpr std::size_t kPiece = 1u << 30;  // zlib counts in 32 bits
  Inflater inflater(wrapping);
  if (!inflater.ready) throw std::bad_alloc();
  z_stream& stream = inflater.stream;
  Bytes out;
  std::size_t read = 0;
  std::size_t written = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (written == out.size()) {
      if (written > most) break;
      // Up to one byte beyond `most`, to detect that there is too much.
      const std::size_t goal = std::max<std::size_t>(2 * written, 4 * in.size() + 64);
      out.resize(most == std::numeric_limits<std::size_t>::max() ? goal : std::min(goal, most + 1));
    }
    const std::size_t give = std::min(kPiece, in.size() - read);
    const std::size_t room = std::min(kPiece, out.size() - written);
    stream.next_in = const_cast<Bytef*>(in.data() + read);  // zlib only reads it
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = out.data() + written;
    stream.avail_out = static_cast<uInt>(room);
    status = ::inflate(&stream, Z_NO_FLUSH);
    read += give - stream.avail_in;
    written += room - stream.avail_out;
    if (status != Z_OK && status != Z_STREAM_END && !(status == Z_BUF_ERROR && read < in.size())) {
      file.corrupt(fmt::format("is not validly compressed ({})",
                               stream.msg != nullptr ? stream.msg : "it ends too early"));
    }
  }
  if (written > most) file.corrupt(fmt::format("holds more than {} bytes uncompressed", most));
  if (read != in.size()) file.corrupt(fmt::format("goes on after its {} bytes", read));
  out.resize(written);
  return out;
}

}  // namespace hearsay::data
