// The messages on a line between a camera's tab and a helper, as records of bytes. Everything that
// the other side sends is bounded here, before memory is allocated for it. Numbers are
// little-endian. The same format and bounds as web/src/features/vision/sharing/wire.ts.
//
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/bytes.h"

namespace weft::worker::camera {

// The resources of this machine that a camera may use.
inline constexpr std::size_t record_bytes_max = std::size_t{64} << 10;  // A record with its seal.
inline constexpr std::size_t chunk_bytes_max = record_bytes_max - 16 - 64;
inline constexpr std::uint32_t model_bytes_max = std::uint32_t{64} << 20;
inline constexpr std::uint32_t side_max = 4096;  // A side of a model's input, in pixels.
inline constexpr std::uint32_t frame_bytes_max = std::uint32_t{16} << 20;
inline constexpr std::size_t boxes_max = 1000;
inline constexpr std::size_t label_bytes_max = 40;
inline constexpr std::size_t name_bytes_max = 120;
inline constexpr std::size_t sentence_bytes_max = 400;
// The most memory that a helper uses for its camera: the model's file, its weights twice and
// frames.
inline constexpr std::uint64_t held_bytes_max = std::uint64_t{256} << 20;

// The position and scale of a picture within the model's input: x' = x * scale_x + left.
struct Placement {
  double left = 0;
  double top = 0;
  double scale_x = 1;
  double scale_y = 1;
  friend bool operator==(const Placement&, const Placement&) = default;
};
struct Box {
  std::uint16_t class_id = 0;
  float score = 0;
  std::array<float, 4> sides{};  // Left, top, right, bottom in pixels of the picture.
  std::string label{};
  friend bool operator==(const Box&, const Box&) = default;
};

struct Hello {
  friend bool operator==(const Hello&, const Hello&) = default;
};
struct Model {
  std::uint32_t number = 0;
  std::uint32_t bytes = 0;  // The size of its file, which follows in parts.
  std::string name{};
  friend bool operator==(const Model&, const Model&) = default;
};
struct Frame {
  std::uint32_t number = 0;
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  Placement placement{};
  friend bool operator==(const Frame&, const Frame&) = default;
};
// Bytes of a model or of a frame.
struct Part {
  enum class Of : std::uint8_t { model, frame };
  Of of = Of::model;
  std::uint32_t number = 0;
  std::uint32_t offset = 0;
  ByteVector bytes{};
  friend bool operator==(const Part&, const Part&) = default;
};
struct Ready {
  std::uint32_t number = 0;
  bool gpu = false;
  std::string device{};
  friend bool operator==(const Ready&, const Ready&) = default;
};
struct Answer {
  std::uint32_t number = 0;
  float milliseconds = 0;
  std::vector<Box> boxes{};
  friend bool operator==(const Answer&, const Answer&) = default;
};
struct Refusal {
  std::uint32_t number = 0;
  std::string sentence{};
  friend bool operator==(const Refusal&, const Refusal&) = default;
};
using Record = std::variant<Hello, Model, Part, Frame, Ready, Answer, Refusal>;

// Longer texts and lists are cut to their bounds.
[[nodiscard]] ByteVector encode(const Record& record);
// Returns nullopt for bytes that encode() would not write. Invisible characters of texts are
// replaced by spaces.
[[nodiscard]] std::optional<Record> decode(ByteSpan bytes);

// Assembles bytes that arrive in parts, in order and without gaps, into a buffer whose size was
// announced before.
class Assembly {
 public:
  Assembly(std::uint32_t number, std::size_t bytes) : number_(number), bytes_max_(bytes) {
    bytes_.reserve(bytes);
  }
  enum class Taken : std::uint8_t { more, whole, refused };
  // Refuses a part that is not the next one.
  [[nodiscard]] Taken take(const Part& part);
  // The bytes, after Taken::whole.
  [[nodiscard]] ByteVector whole() { return std::move(bytes_); }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::size_t bytes_all() const { return bytes_max_; }

 private:
  std::uint32_t number_;
  std::size_t bytes_max_;
  ByteVector bytes_;
};

}  // namespace weft::worker::camera
