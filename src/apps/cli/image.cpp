#include "apps/cli/image.h"

#include <csetjmp>
#include <cstdio>
// Included after cstdio, because it uses FILE.
#include <jpeglib.h>
#include <png.h>

#include "apps/cli/files.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t pixels_max = 64'000'000;

std::unexpected<Error> too_large(std::uint64_t width, std::uint64_t height) {
  return fail(ErrorCode::invalid_argument,
              "The picture has {} x {} pixels; at most {} pixels are read.", width, height,
              pixels_max);
}

Result<onnx::Picture> read_png(ByteSpan bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0)
    return fail(ErrorCode::invalid_argument, "The PNG file cannot be read: {}.", image.message);
  if (std::uint64_t{image.width} * image.height > pixels_max) {
    png_image_free(&image);
    return too_large(image.width, image.height);
  }
  image.format = PNG_FORMAT_RGB;
  onnx::Picture picture{.width = image.width, .height = image.height, .pixels = {}};
  picture.pixels.resize(PNG_IMAGE_SIZE(image));
  const png_color black{};
  if (png_image_finish_read(&image, &black, picture.pixels.data(), 0, nullptr) == 0)
    return fail(ErrorCode::invalid_argument, "The PNG file cannot be read: {}.", image.message);
  return picture;
}

// libjpeg leaves a failed call by longjmp, so no object with a destructor is created between setjmp
// and the call.
struct JpegReader {
  jpeg_decompress_struct state{};
  jpeg_error_mgr errors{};
  std::jmp_buf leave{};
  char message[JMSG_LENGTH_MAX] = {};
};

void fail_jpeg(j_common_ptr state) {
  auto* reader = static_cast<JpegReader*>(state->client_data);
  state->err->format_message(state, reader->message);
  std::longjmp(reader->leave, 1);
}
void ignore_warning(j_common_ptr, int) {}

// Returns true if the header was read.
bool begin_jpeg(JpegReader& reader, ByteSpan bytes) {
  if (setjmp(reader.leave) != 0) return false;
  jpeg_create_decompress(&reader.state);
  jpeg_mem_src(&reader.state, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&reader.state, TRUE);
  return true;
}
bool finish_jpeg(JpegReader& reader, std::uint8_t* pixels) {
  if (setjmp(reader.leave) != 0) return false;
  reader.state.out_color_space = JCS_RGB;
  jpeg_start_decompress(&reader.state);
  const std::size_t row = std::size_t{reader.state.output_width} * 3;
  while (reader.state.output_scanline < reader.state.output_height) {
    JSAMPROW line = pixels + reader.state.output_scanline * row;
    jpeg_read_scanlines(&reader.state, &line, 1);
  }
  jpeg_finish_decompress(&reader.state);
  return true;
}

Result<onnx::Picture> read_jpeg(ByteSpan bytes) {
  JpegReader reader;
  reader.state.err = jpeg_std_error(&reader.errors);
  reader.state.client_data = &reader;
  reader.errors.error_exit = fail_jpeg;
  reader.errors.emit_message = ignore_warning;
  const bool begun = begin_jpeg(reader, bytes);
  const std::uint64_t width = reader.state.image_width, height = reader.state.image_height;
  if (begun && width * height > pixels_max) {
    jpeg_destroy_decompress(&reader.state);
    return too_large(width, height);
  }
  onnx::Picture picture{.width = static_cast<std::int64_t>(width),
                        .height = static_cast<std::int64_t>(height),
                        .pixels = {}};
  bool done = false;
  if (begun) {
    picture.pixels.resize(static_cast<std::size_t>(width * height * 3));
    done = finish_jpeg(reader, picture.pixels.data());
  }
  jpeg_destroy_decompress(&reader.state);
  if (!done)
    return fail(ErrorCode::invalid_argument, "The JPEG file cannot be read: {}.", reader.message);
  return picture;
}

}  // namespace

Result<onnx::Picture> read_image(const std::filesystem::path& path) {
  WEFT_ASSIGN(const ByteVector bytes, read_file(path));
  const std::string_view text = as_text(bytes);
  auto picture =
      text.starts_with("\x89PNG") ? read_png(bytes)
      : text.starts_with("\xFF\xD8\xFF")
          ? read_jpeg(bytes)
          : fail(ErrorCode::invalid_argument, "The file is neither a PNG nor a JPEG picture.");
  if (!picture) return pass(std::move(picture), "while reading {}", path.string());
  if (picture->width < 1 || picture->height < 1)
    return fail(ErrorCode::invalid_argument, "The picture {} has no pixels.", path.string());
  return picture;
}

Result<> write_image(const std::filesystem::path& path, const onnx::Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  ByteVector png;
  png_alloc_size_t size = 0;
  // The first round computes the size, the second one writes the bytes.
  for (int round = 0; round < 2; ++round) {
    png.resize(size);
    if (png_image_write_to_memory(&image, round == 0 ? nullptr : png.data(), &size, 0,
                                  picture.pixels.data(), 0, nullptr) == 0)
      return fail(ErrorCode::internal, "The picture cannot be written: {}.", image.message);
  }
  png.resize(size);
  return write_file(path, png);
}

}  // namespace weft::cli
