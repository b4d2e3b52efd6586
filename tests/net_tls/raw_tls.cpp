#include "net_tls/raw_tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace hearsay::net {

namespace {

void must(bool done, const char* what) {
  if (!done) throw std::runtime_error(what);
}

Key owned_key(EVP_PKEY* key) {
  must(key != nullptr, "no key");
  return {key, FreeWithOpenssl{}};
}

sockaddr_in loopback(const std::string& address, std::uint16_t port) {
  sockaddr_in end{};
  end.sin_family = AF_INET;
  end.sin_port = htons(port);
  must(inet_pton(AF_INET, address.c_str(), &end.sin_addr) == 1, "no address");
  return end;
}

int open_socket(const std::string& address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  must(socket >= 0, "no socket");
  const sockaddr_in end = loopback(address, 0);
  must(bind(socket, reinterpret_cast<const sockaddr*>(&end), sizeof(end)) == 0, "cannot bind");
  return socket;
}

void set_timeout(int socket) {
  const timeval minute{.tv_sec = 60, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof(minute));
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof(minute));
}

Owned<X509> certificate_of(const RawTls& tls, EVP_PKEY* key) {
  Owned<X509> made(X509_new());
  X509_NAME* name = X509_get_subject_name(made.get());
  const auto* text = reinterpret_cast<const unsigned char*>(tls.name.c_str());
  const EVP_MD* digest =
      EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA || EVP_PKEY_get_base_id(key) == EVP_PKEY_EC
          ? EVP_sha256()
          : nullptr;
  must(X509_set_version(made.get(), X509_VERSION_3) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
           X509_set_issuer_name(made.get(), name) == 1 &&
           ASN1_TIME_set_string(X509_getm_notBefore(made.get()), "19700101000000Z") == 1 &&
           ASN1_TIME_set_string(X509_getm_notAfter(made.get()), tls.not_after.c_str()) == 1 &&
           X509_set_pubkey(made.get(), key) == 1 && X509_sign(made.get(), key, digest) > 0,
       "no certificate");
  return made;
}

/// While it lives, this thread survives writing to a closed connection, which OpenSSL does without
/// MSG_NOSIGNAL. Others do not, so that the library's own protection is tested.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

int take_any(X509_STORE_CTX*, void*) { return 1; }

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char*,
                    unsigned int, void* chosen) {
  const auto& protocol = *static_cast<const std::string*>(chosen);
  *out = reinterpret_cast<const unsigned char*>(protocol.data());
  *size = static_cast<unsigned char>(protocol.size());
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Key key_of(const Identity& identity) {
  auto* key = static_cast<EVP_PKEY*>(identity.key());
  EVP_PKEY_up_ref(key);
  return owned_key(key);
}

Key make_ed25519() { return owned_key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }
Key make_ed448() { return owned_key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED448")); }
Key make_rsa() { return owned_key(EVP_RSA_gen(2048)); }
Key make_p256() { return owned_key(EVP_EC_gen("P-256")); }

Key make_mixed(const Key& of_public, const Key& of_private) {
  std::array<unsigned char, 32> open{}, secret{};
  std::size_t open_size = open.size(), secret_size = secret.size();
  must(EVP_PKEY_get_raw_public_key(of_public.get(), open.data(), &open_size) == 1 &&
           EVP_PKEY_get_raw_private_key(of_private.get(), secret.data(), &secret_size) == 1,
       "no raw keys");
  std::array<OSSL_PARAM, 3> parameters{
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, open.data(), open.size()),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_end()};
  EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, "ED25519", nullptr);
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context);
  EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters.data());
  EVP_PKEY_CTX_free(context);
  return owned_key(key);
}

// ---- Sockets ----

RawSocket::RawSocket(int socket) : socket_(socket) {
  must(socket >= 0, "nobody dials");
  set_timeout(socket);
  const int at_once = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
}

RawSocket RawSocket::connected(std::uint16_t port, const std::string& from) {
  RawSocket made(open_socket(from));
  const sockaddr_in end = loopback("127.0.0.1", port);
  must(connect(made.socket_, reinterpret_cast<const sockaddr*>(&end), sizeof(end)) == 0,
       "cannot connect");
  return made;
}

RawSocket::RawSocket(RawSocket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

RawSocket::~RawSocket() {
  if (socket_ >= 0) close(socket_);
}

bool RawSocket::write(ByteView bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

Bytes RawSocket::read_all() const {
  Bytes all;
  std::array<std::uint8_t, 4096> piece;
  for (;;) {
    const ssize_t got = recv(socket_, piece.data(), piece.size(), 0);
    if (got <= 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + got);
  }
}

bool RawSocket::is_closed() const {
  std::uint8_t byte = 0;
  const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

bool RawSocket::wait_closed() const {
  read_all();
  return is_closed();
}

RawListener::RawListener() : socket_(open_socket("127.0.0.1")) {
  must(listen(socket_, 16) == 0, "cannot listen");
  sockaddr_in end{};
  socklen_t size = sizeof(end);
  must(getsockname(socket_, reinterpret_cast<sockaddr*>(&end), &size) == 0, "no port");
  port_ = ntohs(end.sin_port);
  set_timeout(socket_);
}

RawListener::~RawListener() { close(socket_); }

RawSocket RawListener::accept() const {
  return RawSocket(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
}

// ---- TLS ----

RawPeer::RawPeer(RawSocket socket, Side side, const RawTls& tls, SSL_SESSION* resumed)
    : socket_(std::move(socket)),
      context_(SSL_CTX_new(side == Side::kClient ? TLS_client_method() : TLS_server_method())) {
  const NoPipeSignal quiet;
  SSL_CTX* context = context_.get();
  SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_min_proto_version(context, tls.version);
  SSL_CTX_set_max_proto_version(context, tls.version);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, take_any, nullptr);
  if (tls.key) {
    const Owned<X509> certificate = certificate_of(tls, tls.key.get());
    must(SSL_CTX_use_certificate(context, certificate.get()) == 1 &&
             SSL_CTX_use_PrivateKey(context, tls.key.get()) == 1,
         "cannot use the key");
  }
  if (tls.chained) {
    const Owned<X509> issuer = certificate_of(tls, tls.chained.get());
    must(SSL_CTX_add1_chain_cert(context, issuer.get()) == 1, "cannot chain");
  }
  std::string protocol = tls.protocol.value_or("");
  if (tls.protocol && side == Side::kServer) {
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, &protocol);
  } else if (tls.protocol) {
    const std::string offer = static_cast<char>(protocol.size()) + protocol;
    must(SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(offer.data()),
                                 static_cast<unsigned>(offer.size())) == 0,
         "cannot offer");
  }
  ssl_.reset(SSL_new(context));
  must(ssl_ && SSL_set_fd(ssl_.get(), socket_.get()) == 1, "no connection");
  if (resumed != nullptr) SSL_set_session(ssl_.get(), resumed);
  ERR_clear_error();
  shaken_ = done(side == Side::kClient ? SSL_connect(ssl_.get()) : SSL_accept(ssl_.get()));
}

bool RawPeer::done(int result) {
  if (result > 0) return true;
  const unsigned long error = ERR_peek_last_error();
  const char* reason = error == 0 ? "closed" : ERR_reason_error_string(error);
  if (error_.empty()) error_ = reason == nullptr ? "unknown" : reason;
  ERR_clear_error();
  return false;
}

bool RawPeer::write(ByteView bytes) {
  const NoPipeSignal quiet;
  return done(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())));
}

Bytes RawPeer::read(std::size_t bytes) {
  const NoPipeSignal quiet;
  Bytes all;
  std::array<std::uint8_t, 4096> piece;
  while (all.size() < bytes) {
    const std::size_t most = std::min(piece.size(), bytes - all.size());
    const int got = SSL_read(ssl_.get(), piece.data(), static_cast<int>(most));
    if (!done(got)) break;
    all.insert(all.end(), piece.begin(), piece.begin() + got);
  }
  return all;
}

Hello raw_hello(std::uint32_t slot) {
  Hello hello;
  hello.incarnation = 1;
  hello.slot = slot;
  return hello;
}

}  // namespace hearsay::net
