#include "hearsay/net/identity.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"

namespace hearsay::net {

namespace {

constexpr std::string_view kIdPrefix = "hs1:";
constexpr std::string_view kIdDigits = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kIdLength = 52;  // digits of 5 bits; the last one ends in 4 zeros
constexpr int kPublicKeyBytes = 44;    // RFC 8410, section 4
constexpr std::size_t kMostKeyFileBytes = 16 << 10;  // a key takes 119

struct FreeKey {
  void operator()(void* key) const { EVP_PKEY_free(static_cast<EVP_PKEY*>(key)); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using KeyOwner = std::unique_ptr<void, FreeKey>;
using BioOwner = std::unique_ptr<BIO, FreeBio>;

EVP_PKEY* as_key(void* key) { return static_cast<EVP_PKEY*>(key); }

/// OpenSSL's queue of errors as it was before, whatever happens in between: code that uses OpenSSL
/// on the same thread, as TLS does, would take what is left there for its own.
class ErrorMark {
 public:
  ErrorMark() { ERR_set_mark(); }
  ~ErrorMark() { ERR_pop_to_mark(); }
  ErrorMark(const ErrorMark&) = delete;
  ErrorMark& operator=(const ErrorMark&) = delete;
};

[[noreturn]] void fail_in_openssl(std::string_view what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  throw RunFailed(fmt::format("[identity] OpenSSL cannot {}: {}", what,
                              reason == nullptr ? "it gives no reason" : reason));
}

/// A descriptor of a key's file, closed by the destructor.
class KeyFile {
 public:
  KeyFile(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~KeyFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Bytes that hold a key, wiped by the destructor.
struct SecretText {
  std::array<char, kMostKeyFileBytes + 1> bytes{};
  std::size_t size = 0;

  SecretText() = default;
  ~SecretText() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
};

[[noreturn]] void refuse_to_read(const std::filesystem::path& file, int reason) {
  throw InvalidArgument(
      reason == ENOENT
          ? fmt::format("[identity] there is no file '{}'; make one with: hearsay identity new {}",
                        file.string(), file.string())
          : fmt::format("[identity] cannot read {}: {}", file.string(), std::strerror(reason)));
}

/// Until the buffer is full.
void read_key_file(const std::filesystem::path& file, SecretText& text) {
  const KeyFile opened(file, O_RDONLY | O_NONBLOCK);  // so that opening a pipe does not wait
  if (!opened.is_open()) refuse_to_read(file, errno);
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) refuse_to_read(file, errno);
  if (!S_ISREG(status.st_mode)) {
    throw InvalidArgument(
        fmt::format("[identity] {} is not a regular file; give the PEM file of a key, as hearsay "
                    "identity new makes it",
                    file.string()));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw InvalidArgument(fmt::format(
        "[identity] {} has mode {:04o}, so others than its owner may read or change it; if only "
        "its owner has seen it: chmod 600 {}, else make a new key",
        file.string(), status.st_mode & 07777u, file.string()));
  }
  while (text.size < text.bytes.size()) {
    const ssize_t read =
        ::read(opened.get(), text.bytes.data() + text.size, text.bytes.size() - text.size);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) refuse_to_read(file, errno);
    if (read == 0) break;
    text.size += static_cast<std::size_t>(read);
  }
}

/// Asked for the passphrase of an encrypted key: there is none, and the terminal is not asked.
int give_no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

[[noreturn]] void fail_to_write(std::string_view what, const std::filesystem::path& file) {
  throw RunFailed(
      fmt::format("[identity] cannot {} {}: {}", what, file.string(), std::strerror(errno)));
}

void write_key_file(const KeyFile& made, std::string_view text, const std::filesystem::path& file) {
  // Whatever the umask left of the mode.
  if (::fchmod(made.get(), S_IRUSR | S_IWUSR) != 0) fail_to_write("set the permissions of", file);
  while (!text.empty()) {
    const ssize_t written = ::write(made.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write("write", file);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(made.get()) != 0) fail_to_write("sync", file);
  sync_file(file.has_parent_path() ? file.parent_path() : ".");
}

}  // namespace

std::string to_text(const Id& id) {
  std::string text(kIdPrefix);
  unsigned bits = 0, count = 0;
  for (const std::uint8_t byte : id) {
    bits = (bits << 8 | byte) & 0xfff;
    for (count += 8; count >= 5; count -= 5) text += kIdDigits[bits >> (count - 5) & 31];
  }
  text += kIdDigits[bits << (5 - count) & 31];
  return text;
}

Id parse_id(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    throw InvalidArgument(
        fmt::format("[id] '{}' {}; an id is hs1: and 52 of the characters a to z and 2 to 7, as "
                    "hearsay identity show prints it",
                    text, why));
  };
  if (!text.starts_with(kIdPrefix)) refuse("does not begin with hs1:");
  const std::string_view digits = text.substr(kIdPrefix.size());
  if (digits.find_first_not_of(kIdDigits) != std::string_view::npos) {
    refuse("has a character that no id has");
  }
  if (digits.size() != kIdLength) {
    refuse(fmt::format("has {} characters after hs1:", digits.size()));
  }
  Id id{};
  unsigned bits = 0, count = 0;
  std::size_t at = 0;
  for (const char digit : digits) {
    bits = (bits << 5 | static_cast<unsigned>(kIdDigits.find(digit))) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    id[at++] = static_cast<std::uint8_t>(bits >> count);
  }
  if ((bits & ((1u << count) - 1)) != 0) refuse("ends as no id does");
  return id;
}

Identity::Identity(std::shared_ptr<void> key) : key_(std::move(key)) {
  std::array<unsigned char, kPublicKeyBytes> der{};
  unsigned char* end = der.data();
  if (i2d_PUBKEY(as_key(key_.get()), nullptr) != kPublicKeyBytes ||
      i2d_PUBKEY(as_key(key_.get()), &end) != kPublicKeyBytes) {
    fail_in_openssl("write a public key");
  }
  Sha256 hash;
  hash.update(der.data(), der.size());
  id_ = hash.finish();
}

Identity Identity::generate() {
  const ErrorMark mark;
  KeyOwner key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (key == nullptr) fail_in_openssl("make an Ed25519 key");
  return Identity(std::move(key));
}

Identity Identity::read(const std::filesystem::path& file) {
  SecretText text;
  read_key_file(file, text);
  const auto refuse = [&](std::string_view what) {
    throw InvalidArgument(fmt::format(
        "[identity] {} {}; give a key that hearsay identity new has made, an Ed25519 key as "
        "PKCS #8 in PEM",
        file.string(), what));
  };
  if (text.size > kMostKeyFileBytes) refuse("is longer than any key");
  const ErrorMark mark;
  const BioOwner bio(BIO_new_mem_buf(text.bytes.data(), static_cast<int>(text.size)));
  if (bio == nullptr) fail_in_openssl("read a key");
  bool encrypted = false;
  KeyOwner key(PEM_read_bio_PrivateKey(bio.get(), nullptr, give_no_passphrase, &encrypted));
  if (key == nullptr && encrypted) refuse("is encrypted with a passphrase");
  if (key == nullptr) refuse("holds no private key");
  if (EVP_PKEY_is_a(as_key(key.get()), "ED25519") != 1) {
    const char* type = EVP_PKEY_get0_type_name(as_key(key.get()));
    refuse(fmt::format("holds a key of type {}", type == nullptr ? "unknown" : type));
  }
  return Identity(std::move(key));
}

void Identity::write_new(const std::filesystem::path& file) const {
  const ErrorMark mark;
  // OpenSSL wipes the memory of such a BIO.
  const BioOwner bio(BIO_new(BIO_s_secmem()));
  char* text = nullptr;
  if (bio == nullptr || PEM_write_bio_PKCS8PrivateKey(bio.get(), as_key(key_.get()), nullptr,
                                                      nullptr, 0, nullptr, nullptr) != 1) {
    fail_in_openssl("write a key");
  }
  const auto size = static_cast<std::size_t>(BIO_get_mem_data(bio.get(), &text));

  const KeyFile made(file, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (!made.is_open() && errno == EEXIST) {
    throw AlreadyExists(
        fmt::format("[identity] {} exists and is left as it is, as a key is never overwritten; "
                    "give another name",
                    file.string()));
  }
  if (!made.is_open()) fail_to_write("create", file);
  try {
    write_key_file(made, {text, size}, file);
  } catch (const RunFailed&) {
    ::unlink(file.c_str());
    throw;
  }
}

}  // namespace hearsay::net
