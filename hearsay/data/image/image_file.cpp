#include "hearsay/data/image/image_file.h"

#include <fmt/format.h>

namespace hearsay::data {

Picture read_picture(const SourceFile& file) {
  const Bytes bytes = file.read();
  Picture picture;
  std::string wrong = "it begins like neither a JPEG nor a PNG file";
  if (bytes.size() > 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff) {
    wrong = decode_jpeg(bytes, picture);
  } else if (bytes.size() > 3 && bytes[0] == 0x89 && bytes[1] == 'P' && bytes[2] == 'N') {
    wrong = decode_png(bytes, picture);
  }
  if (!wrong.empty()) file.corrupt(fmt::format("is no picture that can be read: {}", wrong));
  return picture;
}

}  // namespace hearsay::data
