#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "hearsay/core/element_type.h"

namespace hearsay::data {

/// Elements of one type, chosen at run time: the inputs or the targets of samples, one sample after
/// another. The shape of a sample is the same for all parts of a dataset and stands there.
class TypedArray {
 public:
  TypedArray() = default;
  template <class T>
  explicit TypedArray(std::vector<T> elements) : elements_(std::move(elements)) {}

  /// Of an array without elements it has no meaning.
  ElementType type() const {
    return std::visit([]<class T>(const std::vector<T>&) { return kElementTypeOf<T>; }, elements_);
  }
  /// The number of elements.
  std::size_t size() const {
    return std::visit([](const auto& elements) { return elements.size(); }, elements_);
  }
  bool empty() const { return size() == 0; }

  /// The elements as T, which is their type (else throws std::bad_variant_access); an array without
  /// elements becomes one of T.
  template <class T>
  std::vector<T>& as() {
    if (empty() && !std::holds_alternative<std::vector<T>>(elements_)) {
      elements_ = std::vector<T>();
    }
    return std::get<std::vector<T>>(elements_);
  }
  template <class T>
  const std::vector<T>& as() const {
    static const std::vector<T> kNone;
    if (empty()) return kNone;
    return std::get<std::vector<T>>(elements_);
  }

  /// body(elements), a std::vector of their type.
  template <class Body>
  decltype(auto) visit(const Body& body) const {
    return std::visit(body, elements_);
  }

  bool operator==(const TypedArray&) const = default;

 private:
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<float>> elements_;
};

}  // namespace hearsay::data
