#include "engine/tokenizer/stream_decoder.h"

#include "engine/unicode/utf8.h"

namespace weft::tokenizer {

std::string StreamDecoder::push(Token token) {
  tokenizer_.append_piece(token, options_, held_);
  return take(held_.size() - unicode::unfinished_bytes(held_));
}

std::string StreamDecoder::finish() { return take(held_.size()); }

std::string StreamDecoder::take(std::size_t bytes) {
  std::string out;
  const std::string_view text = std::string_view(held_).substr(0, bytes);
  if (unicode::is_utf8(text)) {
    out = text;
  } else {
    for (std::size_t at = 0; at < text.size();) {
      const unicode::Decoded decoded = unicode::decode(text, at);
      unicode::append_utf8(out, decoded.code);
      at += decoded.bytes;
    }
  }
  held_.erase(0, bytes);
  return out;
}

}  // namespace weft::tokenizer
