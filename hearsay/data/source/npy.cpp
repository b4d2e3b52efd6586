#include "hearsay/data/source/npy.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hearsay::data {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the header, a Python dict such as
/// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Header {
 public:
  Header(std::string_view text, std::string_view name, const SourceFile& file)
      : text_(text), name_(name), file_(file) {}

  /// The text after `'key':`, without leading blanks.
  std::string_view value(std::string_view key) const {
    const std::string quoted = fmt::format("'{}':", key);
    const std::size_t at = text_.find(quoted);
    if (at == std::string_view::npos) fail(fmt::format("names no {}", key));
    std::string_view rest = text_.substr(at + quoted.size());
    skip_blanks(rest);
    return rest;
  }

  std::vector<std::size_t> shape() const {
    std::string_view rest = value("shape");
    if (!rest.starts_with('(')) fail("has no shape in parentheses");
    rest.remove_prefix(1);
    std::vector<std::size_t> shape;
    for (;;) {
      skip_blanks(rest);
      if (rest.starts_with(')')) return shape;
      std::size_t dimension = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), dimension);
      if (error != std::errc()) fail("has a shape that is no list of whole numbers");
      shape.push_back(dimension);
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      skip_blanks(rest);
      if (rest.starts_with(',')) {
        rest.remove_prefix(1);
      } else if (!rest.starts_with(')')) {
        fail("has a shape that does not end");
      }
    }
  }

  [[noreturn]] void fail(std::string_view what) const {
    file_.corrupt(fmt::format("is damaged: array {} {}", name_, what));
  }

 private:
  static void skip_blanks(std::string_view& text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
  }

  std::string_view text_;
  std::string_view name_;
  const SourceFile& file_;
};

void read_type(const Header& header, Array& array) {
  constexpr std::string_view kKnown[] = {"|b1", "|u1", "<u2", "<u4", "<u8", "|i1",
                                         "<i2", "<i4", "<i8", "<f4", "<f8"};
  const std::string_view descr = header.value("descr");
  for (const std::string_view known : kKnown) {
    if (descr.size() > 4 && descr.substr(1, 3) == known && descr[0] == '\'' && descr[4] == '\'') {
      array.kind = known[1];
      array.width = static_cast<std::size_t>(known[2] - '0');
      return;
    }
  }
  header.fail(fmt::format("has type {}; known are {}", descr.substr(0, descr.find(',')),
                          fmt::join(kKnown, ", ")));
}

template <class T>
double as_double(const Array& array, std::size_t i) {
  return static_cast<double>(entry<T>(array, i));
}

}  // namespace

namespace {

/// What a header says: the array without its bytes.
Array read_header(ByteView bytes, std::string_view name, const SourceFile& file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool known = text.starts_with(kMagic) && text.size() >= 12 && text[6] >= 1 && text[6] <= 3;
  if (!known) Header(text, name, file).fail("does not begin like a .npy file of format 1, 2 or 3");
  // A length of 16 bits in format 1, of 32 bits in later ones.
  const std::size_t start = text[6] == 1 ? 10 : 12;
  std::size_t length = bytes[8] | std::size_t{bytes[9]} << 8;
  if (start == 12) length |= std::size_t{bytes[10]} << 16 | std::size_t{bytes[11]} << 24;
  const Header header(text.substr(start, length), name, file);
  if (length > kMostNpyHeader) header.fail(fmt::format("has a header of {} bytes", length));
  if (text.size() - start < length) header.fail("is cut off in its header");

  Array array;
  read_type(header, array);
  if (!header.value("fortran_order").starts_with("False")) {
    header.fail("is in Fortran order; save numpy.ascontiguousarray of it");
  }
  array.shape = header.shape();
  array.begin = start + length;
  return array;
}

/// The bytes of its entries, or nothing if there are more than memory can hold.
std::optional<std::size_t> entry_bytes(const Array& array) {
  constexpr std::size_t kMost = std::size_t{1} << 48;
  std::size_t bytes = array.width;
  for (const std::size_t dimension : array.shape) {
    if (dimension > 0 && bytes > kMost / dimension) return std::nullopt;
    bytes *= dimension;
  }
  return bytes;
}

/// Throws CorruptData unless a file of `size` bytes has the entries of its shape.
void check_size(const Array& array, std::size_t size, std::string_view name,
                const SourceFile& file) {
  const std::size_t left = size - std::min(size, array.begin);
  if (entry_bytes(array) == left) return;
  Header("", name, file)
      .fail(fmt::format("has {} bytes of entries; its shape ({}) wants another number", left,
                        fmt::join(array.shape, ", ")));
}

}  // namespace

void check_npy(ByteView beginning, std::size_t size, std::string_view name,
               const SourceFile& file) {
  check_size(read_header(beginning, name, file), size, name, file);
}

Array parse_npy(Bytes bytes, std::string_view name, const SourceFile& file) {
  Array array = read_header(bytes, name, file);
  check_size(array, bytes.size(), name, file);
  array.bytes = std::move(bytes);
  return array;
}

double number(const Array& array, std::size_t i) {
  switch (array.kind) {
    case 'f':
      return array.width == 4 ? as_double<float>(array, i) : as_double<double>(array, i);
    case 'i':
      return array.width == 1   ? as_double<std::int8_t>(array, i)
             : array.width == 2 ? as_double<std::int16_t>(array, i)
             : array.width == 4 ? as_double<std::int32_t>(array, i)
                                : as_double<std::int64_t>(array, i);
    default:
      return array.width == 1   ? as_double<std::uint8_t>(array, i)
             : array.width == 2 ? as_double<std::uint16_t>(array, i)
             : array.width == 4 ? as_double<std::uint32_t>(array, i)
                                : as_double<std::uint64_t>(array, i);
  }
}

}  // namespace hearsay::data
