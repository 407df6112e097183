// Fuzzes GGUF files: any bytes either are read as a file or give an error of one sentence. The
// tensors of a file that is read lie inside the file. The file's tokenizer, if it has one, decodes
// the tokens of a text to the same text.
#include <algorithm>

#include "common/base/check.h"
#include "engine/gguf/dequantize.h"
#include "engine/gguf/file.h"
#include "engine/tokenizer/tokenizer.h"

namespace {

using namespace weft;

void tensors_can_be_read(const gguf::Source& source, const gguf::File& file) {
  for (const gguf::Tensor& tensor : file.tensors) {
    const auto bytes = source.view(tensor.offset, tensor.bytes);
    check(bytes.has_value(), "a tensor lies inside the file");
    if (!gguf::can_dequantize(tensor.type)) continue;
    const gguf::TensorTypeInfo& about = gguf::info(tensor.type);
    const std::size_t blocks = std::min<std::size_t>(bytes->size() / about.block_bytes, 4);
    std::vector<float> values(blocks * about.block_elements);
    check(
        gguf::dequantize(tensor.type, bytes->first(blocks * about.block_bytes), values).has_value(),
        "whole blocks become values");
  }
}

void texts_come_back(const tokenizer::Tokenizer& tokenizer) {
  for (const std::string_view text : {std::string_view("ab  c\n1234 \xC3\xA9\xFF"),
                                      std::string_view("<s></s> Hello, world's 99")}) {
    const auto tokens = tokenizer.encode(text, {.add_special = true, .parse_special = true});
    check(tokens.has_value(), "a short text has tokens");
    check(tokenizer.decode(*tokens, {}).has_value(), "tokens that were made can be read");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const gguf::MemorySource source(ByteSpan(data, size));
  const auto file = gguf::read_file(source);
  if (!file) {
    check(file.error().code == ErrorCode::invalid_argument && file.error().message.ends_with('.'),
          "a refusal is a sentence");
    return 0;
  }
  tensors_can_be_read(source, *file);
  if (const auto tokenizer = tokenizer::Tokenizer::create(file->metadata))
    texts_come_back(**tokenizer);
  return 0;
}
