#include "common/proof/frame_block.h"

#include <string_view>

#include "common/base/byte_reader.h"
#include "common/crypto/sha256.h"

namespace weft::proof {

ByteVector frame_block_digest(const FrameBlock& block) {
  ByteVector bytes;
  append(bytes, as_bytes(std::string_view("weft-frames-1")));
  append_le(bytes, block.chain);
  append_le(bytes, block.epoch);
  append_le(bytes, block.line);
  append_le(bytes, block.first);
  append_le(bytes, block.count);
  append(bytes, block.root.span());
  const Hash digest = crypto::sha256(bytes);
  return {digest.bytes.begin(), digest.bytes.end()};
}

ByteVector encode(const FrameOpening& opening) {
  ByteVector out;
  append_le(out, opening.line);
  append_le(out, opening.number);
  append_le(out, opening.first);
  append_le(out, opening.count);
  out.push_back(static_cast<std::uint8_t>(opening.siblings.size()));
  for (const Hash& sibling : opening.siblings) append(out, sibling.span());
  append(out, opening.frame);
  return out;
}

Result<FrameOpening> decode_frame_opening(ByteSpan bytes) {
  ByteReader in(bytes);
  FrameOpening out{.line = in.integer<std::uint32_t>(),
                   .number = in.integer<std::uint32_t>(),
                   .first = in.integer<std::uint32_t>(),
                   .count = in.integer<std::uint32_t>()};
  const std::size_t siblings = in.integer<std::uint8_t>();
  constexpr std::size_t siblings_max = 5;  // A path in a block of 32 frames has 5 siblings.
  if (!in.whole() || siblings > siblings_max || in.rest_bytes() < siblings * Hash::size ||
      out.count == 0 || out.count > frame_block_max || out.number < out.first ||
      out.number - out.first >= out.count)
    return fail(ErrorCode::invalid_argument, "{} bytes are not a valid opening of a chain's frame.",
                bytes.size());
  for (std::size_t i = 0; i < siblings; ++i) out.siblings.push_back(in.fixed<Hash>());
  const ByteSpan frame = in.take(in.rest_bytes());
  out.frame.assign(frame.begin(), frame.end());
  return out;
}

bool opens(const FrameOpening& opening, const Hash& root) {
  return verify_inclusion_of_root(root, crypto::sha256(opening.frame),
                                  {.index = opening.number - opening.first,
                                   .chunks = opening.count,
                                   .siblings = opening.siblings});
}

}  // namespace weft::proof
