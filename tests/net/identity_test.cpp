#include "hearsay/net/identity.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "support/scratch.h"

namespace hearsay::net {
namespace {

namespace fs = std::filesystem;

// The key of RFC 8410, section 10.3, and its id by
//   openssl pkey -in FILE -pubout -outform DER | openssl dgst -sha256 -binary | base32
constexpr std::string_view kKnownKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kKnownId = "hs1:uhurkycu4bh2zcm25hzhkezm3qd2lw6e5iwcvu5b77dobustnapq";

// The key of RFC 8032, section 7.1, test 1, likewise.
constexpr std::string_view kOtherKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kOtherId = "hs1:a3r73d62fg5wbk2zkv66mhw3blwnwiyrgs7dbz23ivpy4g3zf6uq";

constexpr std::string_view kWhatAnIdIs =
    "; an id is hs1: and 52 of the characters a to z and 2 to 7, as hearsay identity show prints "
    "it";
constexpr std::string_view kWhatAKeyIs =
    "; give a key that hearsay identity new has made, an Ed25519 key as PKCS #8 in PEM";

template <class Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

class IdentityFile : public ::testing::Test {
 protected:
  /// A file that only its owner may read.
  fs::path file_with(std::string_view text) {
    const fs::path file = scratch_ / "a.pem";
    support::write_text(file, text);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    return file;
  }
  static std::string refusal(const fs::path& file) {
    return message_of<InvalidArgument>([&] { Identity::read(file); });
  }

  support::Scratch scratch_;
};

TEST(Id, IsPrefixAndBase32) {
  Id id{};
  EXPECT_EQ(to_text(id), "hs1:" + std::string(52, 'a'));
  id.fill(0xff);
  EXPECT_EQ(to_text(id), "hs1:" + std::string(51, '7') + "q");
  // RFC 4648, section 10: "foobar" is MZXW6YTBOI.
  id = {'f', 'o', 'o', 'b', 'a', 'r'};
  EXPECT_EQ(to_text(id), "hs1:mzxw6ytboi" + std::string(42, 'a'));
}

TEST(Id, IsReadBack) {
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Id id{};
    id[bit / 8] = static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_EQ(parse_id(to_text(id)), id);
    for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(~byte);
    EXPECT_EQ(parse_id(to_text(id)), id);
  }
}

TEST(Id, HasOneTextOnly) {
  const std::string known(kKnownId);
  const auto refusal = [](const std::string& text) {
    return message_of<InvalidArgument>([&] { parse_id(text); });
  };
  const std::string after(kWhatAnIdIs);
  EXPECT_EQ(refusal(""), "[id] '' does not begin with hs1:" + after);
  EXPECT_EQ(refusal("HS1" + known.substr(3)),
            "[id] 'HS1" + known.substr(3) + "' does not begin with hs1:" + after);
  EXPECT_EQ(refusal(known.substr(4)),
            "[id] '" + known.substr(4) + "' does not begin with hs1:" + after);
  EXPECT_EQ(refusal("hs1:"), "[id] 'hs1:' has 0 characters after hs1:" + after);
  EXPECT_EQ(refusal(known.substr(0, 55)),
            "[id] '" + known.substr(0, 55) + "' has 51 characters after hs1:" + after);
  EXPECT_EQ(refusal(known + "a"), "[id] '" + known + "a' has 53 characters after hs1:" + after);
  for (const char* bad : {"0", "1", "8", "9", "A", "=", " ", "-", "\xc3", "\n"}) {
    const std::string text = known.substr(0, 30) + bad + known.substr(31);
    EXPECT_EQ(refusal(text), "[id] '" + text + "' has a character that no id has" + after);
  }
  EXPECT_THROW(parse_id(known.substr(0, 55) + '\0'), InvalidArgument);
  // The last digit carries one bit: only a and q are left.
  int accepted = 0;
  for (const char last : std::string_view("abcdefghijklmnopqrstuvwxyz234567")) {
    const std::string text = known.substr(0, 55) + last;
    if (last == 'a' || last == 'q') {
      accepted += to_text(parse_id(text)) == text;
    } else {
      EXPECT_EQ(refusal(text), "[id] '" + text + "' ends as no id does" + after);
    }
  }
  EXPECT_EQ(accepted, 2);
}

TEST_F(IdentityFile, OfAKnownKeyHasTheIdThatOpensslComputes) {
  EXPECT_EQ(to_text(Identity::read(file_with(kKnownKey)).id()), kKnownId);
  EXPECT_EQ(to_text(Identity::read(file_with(kOtherKey)).id()), kOtherId);
}

TEST_F(IdentityFile, IsReadBackAndHoldsTheSameKey) {
  const Identity made = Identity::generate();
  made.write_new(scratch_ / "new.pem");
  const Identity read = Identity::read(scratch_ / "new.pem");
  EXPECT_EQ(read.id(), made.id());
  EXPECT_EQ(EVP_PKEY_eq(static_cast<EVP_PKEY*>(read.key()), static_cast<EVP_PKEY*>(made.key())), 1);
  read.write_new(scratch_ / "again.pem");
  EXPECT_EQ(support::read_text(scratch_ / "again.pem"), support::read_text(scratch_ / "new.pem"));
}

TEST_F(IdentityFile, OfAKnownKeyIsWrittenByteForByte) {
  Identity::read(file_with(kKnownKey)).write_new(scratch_ / "copy.pem");
  EXPECT_EQ(support::read_text(scratch_ / "copy.pem"), kKnownKey);
}

TEST_F(IdentityFile, SignsAsTheStandardSays) {
  // RFC 8032, section 7.1, test 1: the signature of the empty message.
  const Identity identity = Identity::read(file_with(kOtherKey));
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  std::array<unsigned char, 64> signature{};
  std::size_t size = signature.size();
  EXPECT_EQ(EVP_DigestSignInit(context, nullptr, nullptr, nullptr,
                               static_cast<EVP_PKEY*>(identity.key())),
            1);
  EXPECT_EQ(EVP_DigestSign(context, signature.data(), &size, nullptr, 0), 1);
  EVP_MD_CTX_free(context);
  EXPECT_EQ(size, 64u);
  EXPECT_EQ(std::vector<int>(signature.begin(), signature.begin() + 8),
            (std::vector<int>{0xe5, 0x56, 0x43, 0x00, 0xc3, 0x60, 0xac, 0x72}));
}

TEST_F(IdentityFile, MayOnlyBeReadByItsOwnerWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{0777}}) {
    const fs::path file = scratch_ / ("mask" + std::to_string(mask));
    const mode_t before = ::umask(mask);
    EXPECT_NO_THROW(Identity::generate().write_new(file));
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777u, 0600u);
    EXPECT_NO_THROW(Identity::read(file));
  }
}

TEST_F(IdentityFile, IsNeverOverwritten) {
  const fs::path file = file_with(kKnownKey), link = scratch_ / "link.pem";
  fs::create_symlink("nowhere.pem", link);
  fs::create_directory(scratch_ / "folder");
  const auto before = support::contents(scratch_.path());
  const Identity other = Identity::generate();
  for (const fs::path& taken : {file, link, scratch_ / "folder"}) {
    EXPECT_EQ(message_of<AlreadyExists>([&] { other.write_new(taken); }),
              "[identity] " + taken.string() +
                  " exists and is left as it is, as a key is never overwritten; give another name");
  }
  EXPECT_EQ(support::contents(scratch_.path()), before);
  EXPECT_FALSE(fs::exists(scratch_ / "nowhere.pem"));
}

TEST_F(IdentityFile, ThatCannotBeWrittenIsSaidAndRemoved) {
  const fs::path nowhere = scratch_ / "none" / "a.pem", full = scratch_ / "full.pem";
  const Identity identity = Identity::generate();
  EXPECT_EQ(message_of<RunFailed>([&] { identity.write_new(nowhere); }),
            "[identity] cannot create " + nowhere.string() + ": No such file or directory");
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit small { 50, before.rlim_max };
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string said = message_of<RunFailed>([&] { identity.write_new(full); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(said, "[identity] cannot write " + full.string() + ": File too large");
  EXPECT_FALSE(fs::exists(full));
}

TEST_F(IdentityFile, ThatOthersMayReadOrChangeIsRefused) {
  const fs::path file = file_with(kKnownKey);
  const std::pair<mode_t, const char*> modes[] = {
      {0644, "0644"}, {0640, "0640"}, {0604, "0604"}, {0620, "0620"}, {0601, "0601"}};
  for (const auto& [mode, text] : modes) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_EQ(refusal(file),
              "[identity] " + file.string() + " has mode " + text +
                  ", so others than its owner may read or change it; if only its owner has seen "
                  "it: chmod 600 " +
                  file.string() + ", else make a new key");
  }
  for (const mode_t mode : {mode_t{0600}, mode_t{0400}}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_NO_THROW(Identity::read(file));
  }
}

TEST_F(IdentityFile, ThatIsNotThereIsSaid) {
  const std::string file = (scratch_ / "none.pem").string();
  EXPECT_EQ(refusal(file), "[identity] there is no file '" + file +
                               "'; make one with: hearsay identity new " + file);
}

TEST_F(IdentityFile, ThatIsNoFileIsRefusedWithoutWaiting) {
  const fs::path pipe = scratch_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& odd : {pipe, scratch_.path(), fs::path("/dev/null")}) {
    EXPECT_EQ(refusal(odd), "[identity] " + odd.string() +
                                " is not a regular file; give the PEM file of a key, as hearsay "
                                "identity new makes it");
  }
}

/// Keys of other kinds, made by the openssl command line.
constexpr std::string_view kEncryptedKey =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhsg0LvcY6hiwICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEP+YyZYrCH/L5+Zd1yjEEwsEQH6c\n"
    "LSM6i1TaJKxzyx1Thc2R+SZEmPtOKxxrlKoIp7jHq5u2jhpXjoNInUlVgjSwNbTp\n"
    "fq+ND5LO840+9bt1tNA=\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";
constexpr std::string_view kCurveKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFcqJCN2m5PvzQH68\n"
    "t+flGTQcltwu/HOimywG0X1qKeahRANCAAQCuwhm8qP3dFHDLittyPshRp9Be54V\n"
    "SBKfbGR+bJeNsw5Wp2K+YT/oQ2vryOTkrxEHhovbKJaTjWz8XIzCgOya\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kX25519Key =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VuBCIEIJho00x/YGcgfYzzdHN6wSwiPz4akIlyCJ+uGnBz+jxD\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
    "-----END PUBLIC KEY-----\n";

TEST_F(IdentityFile, WithoutAnEd25519KeyIsRefused) {
  const std::pair<std::string, const char*> all[] = {
      {"", "holds no private key"},
      {"nonsense", "holds no private key"},
      {std::string(kKnownKey).replace(40, 1, "!"), "holds no private key"},
      {std::string(kKnownKey.substr(0, 80)), "holds no private key"},
      {std::string(kPublicKey), "holds no private key"},
      {std::string(kCurveKey), "holds a key of type EC"},
      {std::string(kX25519Key), "holds a key of type X25519"},
      {std::string(kEncryptedKey), "is encrypted with a passphrase"},
      {std::string(1 << 20, '\n') + std::string(kKnownKey), "is longer than any key"},
  };
  for (const auto& [text, why] : all) {
    const fs::path file = file_with(text);
    EXPECT_EQ(refusal(file), "[identity] " + file.string() + " " + why + std::string(kWhatAKeyIs));
  }
}

TEST_F(IdentityFile, LeavesNothingInOpensslsQueueOfErrors) {
  ERR_clear_error();
  for (const std::string_view text : {kKnownKey, kCurveKey, kEncryptedKey, kPublicKey}) {
    const fs::path file = file_with(text);
    try {
      Identity::read(file);
    } catch (const InvalidArgument&) {
    }
    EXPECT_EQ(ERR_peek_error(), 0u);
  }
  Identity::generate().write_new(scratch_ / "new.pem");
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST(Identity, IsNewEachTime) {
  std::set<Id> ids;
  for (int i = 0; i < 100; ++i) ids.insert(Identity::generate().id());
  EXPECT_EQ(ids.size(), 100u);
}

TEST(Identity, CopiesShareTheKey) {
  std::optional<Identity> first = Identity::generate();
  const Identity copy = *first;
  EXPECT_EQ(copy.id(), first->id());
  EXPECT_EQ(copy.key(), first->key());
  first.reset();
  EXPECT_EQ(EVP_PKEY_is_a(static_cast<EVP_PKEY*>(copy.key()), "ED25519"), 1);
}

}  // namespace
}  // namespace hearsay::net
