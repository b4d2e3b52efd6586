#include "hearsay/train/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::train {

namespace {

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path) {
  throw RunFailed(
      fmt::format("[files] cannot {} {}: {}", what, path.string(), std::strerror(errno)));
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
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", temporary_);
    at += written;
    size -= static_cast<std::size_t>(written);
  }
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
  // A name of its own, because others may be writing theirs; a link never replaces a file.
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

void sync_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("open", path);
  const int synced = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (synced != 0) fail("sync", path);
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    errno = EISDIR;
    fail("read", path);
  }
  std::ifstream in(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) fail("read", path);
  return text;
}

bool appears(const std::filesystem::path& path) {
  constexpr int kLooks = 30;
  std::error_code error;
  for (int look = 0; look < kLooks && !std::filesystem::exists(path, error); ++look) {
    // Reading the directory makes the client forget that there was no such file.
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(path.parent_path(), error)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return std::filesystem::exists(path, error);
}

}  // namespace hearsay::train
