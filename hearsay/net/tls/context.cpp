#include "hearsay/net/tls/context.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"

namespace hearsay::net {

namespace {

/// As ALPN has it: with its length before it.
constexpr std::array<unsigned char, 10> kProtocol{9, 'h', 'e', 'a', 'r', 's', 'a', 'y', '/', '1'};
constexpr char kCipherSuites[] =
    "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384";
constexpr long kMostCertificateBytes = 16 << 10;

struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using CertificateOwner = std::unique_ptr<X509, FreeCertificate>;

void require(bool done, const char* what) {
  if (!done) throw RunFailed(fmt::format("[tls] OpenSSL cannot {}: {}", what, last_tls_error()));
}

/// Valid at all times, for whoever looks.
CertificateOwner make_certificate(EVP_PKEY* key) {
  CertificateOwner made(X509_new());
  require(made != nullptr, "make a certificate");
  X509* certificate = made.get();
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* common_name = reinterpret_cast<const unsigned char*>("hearsay");
  const bool filled =
      X509_set_version(certificate, X509_VERSION_3) == 1 &&
      ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
      X509_set_issuer_name(certificate, name) == 1 &&
      ASN1_TIME_set_string(X509_getm_notBefore(certificate), "19700101000000Z") == 1 &&
      ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z") == 1 &&
      X509_set_pubkey(certificate, key) == 1 && X509_sign(certificate, key, nullptr) > 0;
  require(filled, "make a certificate");
  return made;
}

std::optional<Id> owner_of(const X509* certificate) {
  EVP_PKEY* key = certificate == nullptr ? nullptr : X509_get0_pubkey(certificate);
  if (key == nullptr || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519) return {};
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  if (size <= 0) return {};
  Sha256 hash;
  hash.update(der, static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return hash.finish();
}

/// In place of OpenSSL's verification of chains, names and dates. That the other owns the key, TLS
/// itself proves.
int verify_key(X509_STORE_CTX* store, void*) {
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto& admits = *static_cast<const AdmitsKey*>(SSL_get_app_data(ssl));
  const std::optional<Id> owner = owner_of(X509_STORE_CTX_get0_cert(store));
  const bool admitted = owner && admits(*owner);
  X509_STORE_CTX_set_error(store, admitted ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
  return admitted ? 1 : 0;
}

int select_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int size, void*) {
  unsigned char* chosen = nullptr;
  const int found =
      SSL_select_next_proto(&chosen, out_size, kProtocol.data(), kProtocol.size(), offered, size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

TlsContext::TlsContext(const Identity& identity, Side side)
    : context_(SSL_CTX_new(side == Side::kClient ? TLS_client_method() : TLS_server_method())),
      side_(side) {
  SSL_CTX* context = context_.get();
  require(context != nullptr, "make a context");
  auto* key = static_cast<EVP_PKEY*>(identity.key());
  const CertificateOwner certificate = make_certificate(key);
  require(SSL_CTX_use_certificate(context, certificate.get()) == 1 &&
              SSL_CTX_use_PrivateKey(context, key) == 1,
          "use the key");
  require(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
              SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
              SSL_CTX_set_ciphersuites(context, kCipherSuites) == 1 &&
              SSL_CTX_set1_sigalgs_list(context, "ed25519") == 1,
          "do TLS 1.3 with Ed25519");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  require(SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_max_early_data(context, 0) == 1 &&
              SSL_CTX_set_recv_max_early_data(context, 0) == 1,
          "do without tickets");
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_max_cert_list(context, kMostCertificateBytes);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context, verify_key, nullptr);
  if (side == Side::kServer) {
    SSL_CTX_set_alpn_select_cb(context, select_protocol, nullptr);
  } else {  // this one returns 0 if it could
    require(SSL_CTX_set_alpn_protos(context, kProtocol.data(), kProtocol.size()) == 0, "use ALPN");
  }
}

SslOwner TlsContext::connection(int socket, const AdmitsKey& admits) const {
  SslOwner ssl(SSL_new(context_.get()));
  require(ssl && SSL_set_fd(ssl.get(), socket) == 1, "make a connection");
  SSL_set_app_data(ssl.get(), const_cast<AdmitsKey*>(&admits));
  side_ == Side::kClient ? SSL_set_connect_state(ssl.get()) : SSL_set_accept_state(ssl.get());
  return ssl;
}

std::optional<Id> other_side(const SSL* ssl) {
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &size);
  const std::span chosen(protocol, size);
  if (!std::ranges::equal(chosen, std::span(kProtocol).subspan(1))) return {};
  return owner_of(SSL_get0_peer_certificate(ssl));
}

std::string last_tls_error() {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return reason == nullptr ? "it gives no reason" : reason;
}

}  // namespace hearsay::net
