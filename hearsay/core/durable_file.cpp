#include "hearsay/core/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"

namespace hearsay {

namespace {

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path) {
  throw RunFailed(
      fmt::format("[files] cannot {} {}: {}", what, path.string(), std::strerror(errno)));
}

void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// A file descriptor, closed by the destructor.
class Opened {
 public:
  explicit Opened(int descriptor) : descriptor_(descriptor) {}
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The target of a chain of symbolic links, whether or not it exists.
std::filesystem::path end_of_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  std::error_code error;
  for (int link = 0; link < kMostLinks && std::filesystem::is_symlink(path, error); ++link) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

/// The standard stream that is open on this file, or -1. Replacing the file would detach it from
/// the stream, and reopening it would write from its first byte.
int stream_of(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat other {};
    if (::fstat(stream, &other) == 0 && other.st_dev == file.st_dev &&
        other.st_ino == file.st_ino) {
      return stream;
    }
  }
  return -1;
}

}  // namespace

DurableFile::DurableFile(std::filesystem::path path, Writers writers)
    : path_(std::move(path)), temporary_(path_) {
  temporary_ += writers == Writers::kOne ? ".tmp" : fmt::format(".{}.tmp", ::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("create", temporary_);
}

DurableFile::~DurableFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void DurableFile::write(const void* data, std::size_t size) {
  write_all(descriptor_, {static_cast<const char*>(data), size}, temporary_);
}

void DurableFile::commit() {
  if (::fsync(descriptor_) != 0) fail("sync", temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename", temporary_);
  ::close(descriptor_);
  descriptor_ = -1;
  sync_file(path_.has_parent_path() ? path_.parent_path() : ".");
}

bool write_new_file(const std::filesystem::path& path, std::string_view text,
                    const std::function<void(const std::filesystem::path&)>& before) {
  // A unique temporary name, as other processes may be writing too; link() never replaces a file.
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) fail("create", temporary);
  ::close(descriptor);
  struct Remover {
    const std::string& name;
    ~Remover() { ::unlink(name.c_str()); }
  } remover{temporary};
  {
    DurableFile whole(temporary);
    whole.write(text);
    whole.commit();
  }
  if (before) before(temporary);
  const bool linked = ::link(temporary.c_str(), path.c_str()) == 0;
  if (!linked && errno != EEXIST) fail("create", path);
  if (linked) sync_file(path.has_parent_path() ? path.parent_path() : ".");
  return linked;
}

void write_user_file(const std::filesystem::path& path, std::string_view text) {
  struct stat before {};
  const bool exists = ::stat(path.c_str(), &before) == 0;
  if (!exists && errno != ENOENT) fail("write", path);
  if (exists && S_ISDIR(before.st_mode)) {
    errno = EISDIR;
    fail("write", path);
  }
  if (const int stream = exists ? stream_of(before) : -1; stream >= 0) {
    std::fflush(stream == STDOUT_FILENO ? stdout : stderr);
    return write_all(stream, text, path);
  }
  if (exists && !S_ISREG(before.st_mode)) {
    const Opened target(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (target.get() < 0) fail("open", path);
    return write_all(target.get(), text, path);
  }
  const std::filesystem::path end = end_of_links(path);
  std::string temporary = (end.parent_path() / ".hearsay-XXXXXX").string();
  const Opened file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) {
    // Where only the directory is not writable, an existing file in it is overwritten in place.
    // After any other failure (no space, no descriptors) it stays as it is.
    const bool refused = errno == EACCES || errno == EPERM || errno == EROFS;
    if (!exists || !refused) fail("create", end);
    const Opened target(::open(end.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (target.get() < 0) fail("open", end);
    return write_all(target.get(), text, end);
  }
  try {
    write_all(file.get(), text, temporary);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const mode_t mode = exists ? before.st_mode & 07777u : 0666u & ~mask;
    if (::fchmod(file.get(), mode) != 0) fail("set the permissions of", temporary);
    if (::fsync(file.get()) != 0) fail("sync", temporary);
    if (::rename(temporary.c_str(), end.c_str()) != 0) fail("create", end);
  } catch (const RunFailed&) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_file(end.has_parent_path() ? end.parent_path() : ".");
}

void sync_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("open", path);
  const int synced = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (synced != 0) fail("sync", path);
}

std::string read_file(const std::filesystem::path& path, std::uint64_t most) {
  InputFile in;
  if (const std::string why = in.open(path); !why.empty()) {
    throw RunFailed(fmt::format("[files] cannot read {}: {}", path.string(), why));
  }
  if (in.size() > most) {
    throw CorruptData(fmt::format("[files] {} has {} bytes; at most {} are read", path.string(),
                                  in.size(), most));
  }
  std::string text(in.size(), '\0');
  text.resize(in.read(text.data(), text.size()));
  // What was appended since; files of /proc have no size at all.
  char more[1 << 12];
  while (const std::size_t got = in.read(more, sizeof more)) {
    text.append(more, got);
    if (text.size() > most) {
      throw CorruptData(
          fmt::format("[files] {} has more than {} bytes, and grows", path.string(), most));
    }
  }
  return text;
}

bool appears(const std::filesystem::path& path) {
  constexpr int kLooks = 30;
  std::error_code error;
  for (int look = 0; look < kLooks && !std::filesystem::exists(path, error); ++look) {
    // Reading the directory invalidates the client's negative lookup cache.
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(path.parent_path(), error)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return std::filesystem::exists(path, error);
}

}  // namespace hearsay
