#include "hearsay/core/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay {

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      at_(other.at_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(at_, other.at_);
  return *this;
}

std::string InputFile::open(const std::filesystem::path& path) {
  path_ = path;
  // Without O_NONBLOCK opening a pipe would wait for its writer; regular files ignore it.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &facts) != 0) return std::strerror(errno);
  if (S_ISDIR(facts.st_mode)) return std::strerror(EISDIR);
  if (!S_ISREG(facts.st_mode)) return "it is no regular file";
  size_ = static_cast<std::uint64_t>(facts.st_size);
  return "";
}

std::size_t InputFile::read(void* to, std::size_t most) {
  std::size_t done = 0;
  while (done < most) {
    const ssize_t got =
        ::pread(descriptor_, static_cast<char*>(to) + done, most - done, static_cast<off_t>(at_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw RunFailed(
          fmt::format("[files] cannot read {}: {}", path_.string(), std::strerror(errno)));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
    at_ += static_cast<std::uint64_t>(got);
  }
  return done;
}

}  // namespace hearsay
