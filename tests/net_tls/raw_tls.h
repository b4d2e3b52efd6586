#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hearsay/core/bytes.h"
#include "hearsay/net/hello.h"
#include "hearsay/net/identity.h"

/// The other side of a connection, written without the library, so that it can break every rule.
namespace hearsay::net {

struct FreeWithOpenssl {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeWithOpenssl>;
using Key = std::shared_ptr<EVP_PKEY>;

Key key_of(const Identity& identity);
Key make_ed25519();
Key make_ed448();
Key make_rsa();
Key make_p256();
/// It has the public key of one, and signs with the private key of the other.
Key make_mixed(const Key& of_public, const Key& of_private);

/// How it introduces itself.
struct RawTls {
  Key key{};                                  ///< null: no certificate
  std::string name = "hearsay";               ///< in the certificate
  std::string not_after = "99991231235959Z";  ///< the certificate's last second
  Key chained{};                              ///< its certificate is sent as that of an issuer
  std::optional<std::string> protocol = "hearsay/1";  ///< by ALPN
  int version = TLS1_3_VERSION;                       ///< the only one
};

/// A connected TCP socket. Reads and writes block, for a minute at most.
class RawSocket {
 public:
  explicit RawSocket(int socket);
  /// To that port of this machine, from an address of its own.
  static RawSocket connected(std::uint16_t port, const std::string& from = "127.0.0.1");
  ~RawSocket();
  RawSocket(RawSocket&& other) noexcept;
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  RawSocket& operator=(RawSocket&&) = delete;

  int get() const { return socket_; }
  /// False if the other has closed it.
  bool write(ByteView bytes) const;
  /// What the other sends until it closes.
  Bytes read_all() const;
  /// Whether the other has closed it by now.
  bool is_closed() const;
  /// Whether the other closes it in time.
  bool wait_closed() const;

 private:
  int socket_;
};

/// Listens on a port of its own.
class RawListener {
 public:
  RawListener();
  ~RawListener();
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;

  std::uint16_t port() const { return port_; }
  RawSocket accept() const;

 private:
  int socket_;
  std::uint16_t port_ = 0;
};

class RawPeer {
 public:
  enum class Side { kClient, kServer };
  /// The handshake is made at once. Servers ask for a certificate and take any.
  RawPeer(RawSocket socket, Side side, const RawTls& tls, SSL_SESSION* resumed = nullptr);

  bool shaken() const { return shaken_; }
  bool resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
  /// Its protocol and key, for SSL_set_session of another connection.
  Owned<SSL_SESSION> session() const { return Owned<SSL_SESSION>(SSL_get1_session(ssl_.get())); }
  const RawSocket& socket() const { return socket_; }

  /// False if the connection is gone.
  bool write(ByteView bytes);
  /// So many bytes, or fewer if the other closes before.
  Bytes read(std::size_t bytes);
  /// What the other sends until it closes.
  Bytes read_all() { return read(~std::size_t{0}); }
  /// OpenSSL's reason for the first call that failed.
  const std::string& error() const { return error_; }

 private:
  bool done(int result);

  RawSocket socket_;
  Owned<SSL_CTX> context_;
  Owned<SSL> ssl_;
  bool shaken_ = false;
  std::string error_;
};

/// A HELLO that the other would accept of that slot.
Hello raw_hello(std::uint32_t slot);

}  // namespace hearsay::net
