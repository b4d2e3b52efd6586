#include "fuzz/decoders.h"

#include <cmath>
#include <stdexcept>

#include "compress/vectors.h"
#include "hearsay/compress/code/message.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/error.h"

namespace hearsay::fuzz {

const std::vector<std::string>& specs() {
  static const std::vector<std::string> all{
      "identity",
      "topk:keep=0.01,scope=model,value=f32",
      "topk:keep=0.1,scope=layer,value=f16",
      "topk:keep=0.3,scope=layer,value=bf16",
      "topk:keep=0.2,scope=layer,value=q8",
      "topk:keep=1,scope=model,value=q8",
      "randk:keep=0.05",
      "qsgd:bits=1",
      "qsgd:bits=5,unbiased=1",
      "int8",
      "sign",
  };
  return all;
}

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = [] {
    std::vector<Layout> made{Layout(0), Layout(1), Layout(17), Layout(1000)};
    Layout mixed;
    for (const std::size_t n : {3u, 0u, 1u, 60u, 8u}) mixed.add("t", {n});
    made.push_back(mixed);
    return made;
  }();
  return all;
}

bool decode_vector(ByteView bytes) {
  if (bytes.size() < 2) return false;
  const auto compressor = compress::make_compressor(specs()[bytes[0] % specs().size()]);
  const Layout& layout = layouts()[bytes[1] % layouts().size()];
  ByteReader reader(bytes.subspan(2), "fuzz");
  compress::Decoded q;
  try {
    compressor->decode(reader, layout, q);
  } catch (const CorruptData&) {
    return false;
  }
  if (!compress::well_formed(q, layout.dim()))
    throw std::logic_error("a vector of the wrong shape");
  return true;
}

bool decode_header(ByteView bytes) {
  ByteReader reader(bytes, "fuzz");
  try {
    const compress::MessageHeader header = compress::read_header(reader);
    if (!(header.weight > 0) || !(header.push_sum > 0)) throw std::logic_error("weights");
    Bytes again;
    compress::append_header(header, again);
    if (!std::equal(again.begin(), again.end(), bytes.begin()))
      throw std::logic_error("not the same");
  } catch (const CorruptData&) {
    return false;
  }
  return true;
}

}  // namespace hearsay::fuzz
