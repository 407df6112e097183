#include "engine/gguf/rounded_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/base/check.h"
#include "engine/gguf/dequantize.h"
#include "engine/gguf/half.h"

namespace weft::gguf {
namespace {

constexpr std::size_t block_elements = 32, block_bytes = 34;
// Blocks that are rounded at a time: 256 KiB of F32 weights.
constexpr std::uint64_t blocks_max = 2048;

}  // namespace

bool is_rounded_to_q8_0(const Tensor& tensor) {
  if (tensor.type != TensorType::f32 && tensor.type != TensorType::f16 &&
      tensor.type != TensorType::bf16)
    return false;
  if (tensor.dimension_count < 2 || tensor.dimensions[0] % block_elements != 0) return false;
  constexpr std::array<std::string_view, 5> kept = {"_norm.weight", "ffn_gate_inp.weight",
                                                    "ssm_conv1d.weight", "position_embd.weight",
                                                    "token_types.weight"};
  return tensor.name.ends_with("weight") && std::ranges::none_of(kept, [&](std::string_view name) {
           return tensor.name.ends_with(name);
         });
}

void round_to_q8_0(std::span<const float> values, std::span<std::uint8_t> out) {
  check(values.size() % block_elements == 0 &&
            out.size() == values.size() / block_elements * block_bytes,
        "whole blocks are rounded");
  for (std::size_t block = 0; block < values.size() / block_elements; ++block) {
    const auto of = values.subspan(block * block_elements, block_elements);
    float largest = 0;
    for (const float value : of) largest = std::max(largest, std::abs(value));
    const float scale = largest / 127;
    const float inverse = scale != 0 ? 1 / scale : 0;
    std::uint8_t* const to = out.data() + block * block_bytes;
    const std::uint16_t half = float_to_half(scale);
    to[0] = static_cast<std::uint8_t>(half);
    to[1] = static_cast<std::uint8_t>(half >> 8);
    for (std::size_t i = 0; i < block_elements; ++i) {
      // A number that is not finite has no quant; the file's own engine refuses its states.
      const float quant = std::round(of[i] * inverse);
      const float bounded = std::isfinite(quant) ? std::clamp(quant, -127.0F, 127.0F) : 0;
      to[2 + i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(bounded));
    }
  }
}

Result<RoundedFile> rounded_file(const File& file) {
  RoundedFile out{.file = file, .originals = {}};
  std::uint64_t offset = file.data_offset;
  bool rounds = false;
  for (Tensor& tensor : out.file.tensors) {
    const Tensor original = tensor;
    if (is_rounded_to_q8_0(tensor)) {
      rounds = true;
      tensor.type = TensorType::q8_0;
      tensor.bytes = tensor.rows() * tensor.row_bytes();
    }
    offset = (offset + file.alignment - 1) / file.alignment * file.alignment;
    tensor.offset = offset;
    if (tensor.bytes > 0) out.originals.emplace(offset, original);
    offset += tensor.bytes;
  }
  if (!rounds)
    return fail(ErrorCode::unsupported,
                "No matrix of the file is wider than Q8_0, so it cannot be rounded to Q8_0.");
  out.file.file_bytes = offset;
  return out;
}

// A range within one tensor.
struct RoundedSource::Place {
  const Tensor& original;
  std::uint64_t first = 0;  // The range's first byte, counted from the tensor's.
};

std::optional<RoundedSource::Place> RoundedSource::place(std::uint64_t offset,
                                                         std::uint64_t bytes) const {
  const auto after = rounded_.originals.upper_bound(offset);
  if (after == rounded_.originals.begin()) return std::nullopt;
  const auto& [begin, original] = *std::prev(after);
  const std::uint64_t size = is_rounded_to_q8_0(original)
                                 ? original.elements() / block_elements * block_bytes
                                 : original.bytes;
  const std::uint64_t first = offset - begin;
  if (first > size || bytes > size - first) return std::nullopt;
  return Place{.original = original, .first = first};
}

std::optional<ByteSpan> RoundedSource::view(std::uint64_t offset, std::uint64_t bytes) const {
  const auto found = place(offset, bytes);
  if (!found || is_rounded_to_q8_0(found->original)) return std::nullopt;
  return original_.view(found->original.offset + found->first, bytes);
}

Result<> RoundedSource::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  const auto found = place(offset, out.size());
  if (!found)
    return fail(ErrorCode::invalid_argument,
                "The range of {} bytes at {} does not lie within one tensor of the rounded file.",
                out.size(), offset);
  const Tensor& tensor = found->original;
  if (!is_rounded_to_q8_0(tensor)) return original_.read(tensor.offset + found->first, out);
  const std::uint64_t wide_bytes = block_elements * info(tensor.type).block_bytes;
  ByteVector wide, rounded;
  std::vector<float> values;
  std::uint64_t done = 0;
  while (done < out.size()) {
    const std::uint64_t at = found->first + done, block = at / block_bytes;
    const std::uint64_t blocks =
        std::min(blocks_max, (found->first + out.size() + block_bytes - 1) / block_bytes - block);
    wide.resize(blocks * wide_bytes);
    values.resize(blocks * block_elements);
    rounded.resize(blocks * block_bytes);
    WEFT_OK(original_.read(tensor.offset + block * wide_bytes, wide));
    WEFT_OK(dequantize(tensor.type, wide, values));
    round_to_q8_0(values, rounded);
    const std::uint64_t skipped = at - block * block_bytes;
    const std::uint64_t count =
        std::min<std::uint64_t>(rounded.size() - skipped, out.size() - done);
    std::memcpy(out.data() + done, rounded.data() + skipped, count);
    done += count;
  }
  return {};
}

}  // namespace weft::gguf
