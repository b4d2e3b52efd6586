#include <cstddef>
#include <cstdio>
// jpeglib.h uses size_t and FILE without including them.
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>

#include "hearsay/data/image/image_file.h"

namespace hearsay::data {

namespace {

/// libjpeg's state, released by the destructor. libjpeg reports errors by longjmp, so `run` has no
/// locals with a destructor.
struct Decoder {
  Decoder() {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = [](j_common_ptr common) {
      auto* self = static_cast<Decoder*>(common->client_data);
      common->err->format_message(common, self->text);
      std::longjmp(self->back, 1);
    };
    errors.emit_message = [](j_common_ptr common, int level) {
      // Warnings that mean missing data are errors: libjpeg would fill in grey.
      const int code = common->err->msg_code;
      if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) {
        common->err->error_exit(common);
      }
    };
    errors.output_message = [](j_common_ptr) {};
  }
  ~Decoder() {
    if (created) jpeg_destroy_decompress(&info);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Returns false on failure, with the reason in `text`.
  bool run(ByteView bytes, Picture& picture) {
    if (setjmp(back) != 0) return false;
    jpeg_create_decompress(&info);
    created = true;
    jpeg_mem_src(&info, bytes.data(), bytes.size());
    jpeg_read_header(&info, TRUE);
    if (std::size_t{info.image_height} * info.image_width > kMostPixels) {
      std::snprintf(text, sizeof text, "it has %u x %u pixels", info.image_height,
                    info.image_width);
      return false;
    }
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    picture.height = info.output_height;
    picture.width = info.output_width;
    picture.rgb.resize(picture.height * picture.width * 3);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = picture.rgb.data() + std::size_t{info.output_scanline} * picture.width * 3;
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return true;
  }

  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf back{};
  char text[JMSG_LENGTH_MAX] = "";
  bool created = false;
};

}  // namespace

std::string decode_jpeg(ByteView bytes, Picture& picture) {
  Decoder decoder;
  return decoder.run(bytes, picture) ? "" : decoder.text;
}

}  // namespace hearsay::data
