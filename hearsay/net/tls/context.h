#pragma once

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hearsay/net/identity.h"

namespace hearsay::net {

/// Whether a connection may be with the owner of that key. Must not throw.
using AdmitsKey = std::function<bool(const Id&)>;

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslOwner = std::unique_ptr<SSL, FreeSsl>;

/// How this project does TLS, for one side of connections: 1.3 only, ALPN `hearsay/1`, no tickets,
/// no resumption, no early data. Both sides show a certificate of their Ed25519 key, made in memory
/// and signed by that key; nothing in it but the key is looked at.
class TlsContext {
 public:
  enum class Side { kClient, kServer };

  /// Throws RunFailed if OpenSSL cannot.
  TlsContext(const Identity& identity, Side side);

  /// A connection over that socket, before its handshake, which fails unless the other owns an
  /// Ed25519 key that `admits` likes. `admits` and the socket outlive it.
  SslOwner connection(int socket, const AdmitsKey& admits) const;

 private:
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  Side side_;
};

/// After the handshake: the owner of the other's key; nullopt unless it is an Ed25519 key and both
/// agreed on `hearsay/1`.
std::optional<Id> other_side(const SSL* ssl);

/// What OpenSSL says of its last error on this thread, for people.
std::string last_tls_error();

}  // namespace hearsay::net
