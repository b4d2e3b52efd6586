#include "hearsay/live/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace hearsay::live {

namespace {

/// A file that is open for reading, or none.
class Reader {
 public:
  /// Non-blocking: a pipe in place of the file has no lines. Nor has a link, which may lead out of
  /// the run directory.
  explicit Reader(const char* path)
      : descriptor_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)) {
    if (descriptor_ >= 0 && (::fstat(descriptor_, &facts_) != 0 || !S_ISREG(facts_.st_mode))) {
      ::close(std::exchange(descriptor_, -1));
    }
  }
  ~Reader() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool good() const { return descriptor_ >= 0; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(facts_.st_size); }
  std::uint64_t inode() const { return facts_.st_ino; }

  /// Up to `size` bytes from there on.
  std::string read(std::uint64_t offset, std::size_t size) const {
    std::string text(size, '\0');
    const ssize_t got = ::pread(descriptor_, text.data(), size, static_cast<off_t>(offset));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  /// Whether a line begins there.
  bool line_begins(std::uint64_t offset) const {
    if (offset == 0) return true;
    return offset <= size() && read(offset - 1, 1) == "\n";
  }

 private:
  int descriptor_;
  struct stat facts_ {};
};

std::string without_controls(std::string_view text) {
  std::string clean(text);
  std::ranges::replace_if(
      clean, [](char byte) { return static_cast<unsigned char>(byte) < 0x20; }, ' ');
  return clean;
}

}  // namespace

Tail::Tail(std::filesystem::path file, std::optional<std::uint64_t> from)
    : file_(std::move(file)), wanted_(from) {}

Tail::News Tail::poll() {
  News news;
  at_end_ = true;
  const Reader reader(file_.c_str());
  if (!reader.good()) return news;

  if (!offset_) {  // the first time that the file exists
    inode_ = reader.inode();
    offset_ = wanted_ ? *wanted_ : reader.size() - std::min(reader.size(), kFirstBytes);
    if (!wanted_) skipping_ = !reader.line_begins(*offset_);
  }
  if (reader.inode() != inode_ || reader.size() < *offset_ ||
      (!skipping_ && !reader.line_begins(*offset_))) {
    news.reset = true;
    inode_ = reader.inode();
    offset_ = 0;
    skipping_ = false;
  }

  const std::string text = reader.read(*offset_, kBytesAtOnce);
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (!std::exchange(skipping_, false)) {
      news.lines.push_back({without_controls(std::string_view(text).substr(begin, end - begin)),
                            *offset_ + end + 1});
    }
  }
  if (begin == 0 && text.size() == kBytesAtOnce) {
    skipping_ = true;
    begin = text.size();
  }
  *offset_ += begin;
  at_end_ = text.size() < kBytesAtOnce;
  return news;
}

}  // namespace hearsay::live
