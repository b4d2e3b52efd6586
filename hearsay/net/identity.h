#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace hearsay::net {

/// Who a peer is: the SHA-256 of its public key, as SubjectPublicKeyInfo in DER. Peers know each
/// other by these (pinning); names, addresses and the dates of certificates prove nothing.
using Id = std::array<std::uint8_t, 32>;

/// "hs1:" and 52 letters and digits: base32 of the id (RFC 4648, lower case, no padding).
std::string to_text(const Id& id);

/// Throws InvalidArgument on anything else.
Id parse_id(std::string_view text);

/// A peer's Ed25519 key.
class Identity {
 public:
  /// A new one, from the system's random numbers.
  static Identity generate();

  /// From a PEM file that `write_new` made. Throws InvalidArgument, naming the file: if there is
  /// none, if it is no regular file, if it holds no Ed25519 key or an encrypted one, and if others
  /// than its owner may read or change it.
  static Identity read(const std::filesystem::path& file);

  /// To a file of its own, PKCS #8 in PEM, that only its owner may read (0600), and synced. Throws
  /// AlreadyExists, an InvalidArgument, if there is something of that name, and RunFailed if it
  /// cannot be written; then nothing is left of it.
  void write_new(const std::filesystem::path& file) const;

  const Id& id() const { return id_; }

  /// OpenSSL's key, EVP_PKEY*; valid as long as this.
  void* key() const { return key_.get(); }

 private:
  explicit Identity(std::shared_ptr<void> key);

  std::shared_ptr<void> key_;  ///< shared by copies
  Id id_{};
};

}  // namespace hearsay::net
