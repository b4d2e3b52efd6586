#include "hearsay/core/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "hearsay/core/error.h"

namespace hearsay {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1) {
    throw RunFailed("[sha256] OpenSSL offers no SHA-256");
  }
}

Sha256::~Sha256() = default;

void Sha256::update(const void* data, std::size_t size) {
  EVP_DigestUpdate(state_->context, data, size);
}

std::array<std::uint8_t, 32> Sha256::finish() {
  std::array<std::uint8_t, 32> digest{};
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  return digest;
}

std::string Sha256::finish_hex() {
  std::string text;
  for (std::uint8_t byte : finish()) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace hearsay
