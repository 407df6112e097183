// Fuzzes models' files, of an encoder or of a mixture of experts: a model runs or gives an error of
// one sentence. Its numbers and the shapes of its tensors never lead outside of its data.
#include <algorithm>
#include <cstdio>
#include <string>

#include "common/base/check.h"
#include "engine/gguf/file.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/encoders/encoder.h"
#include "engine/llm/run_now.h"

namespace {

using namespace weft;

// A mutated number above this bound is neither refused nor run, because a machine would compute for
// too long.
constexpr std::uint64_t quick = std::uint64_t{1} << 20;

bool refused(const Error& error) {
  const bool known = error.code == ErrorCode::invalid_argument ||
                     error.code == ErrorCode::not_found || error.code == ErrorCode::unsupported ||
                     error.code == ErrorCode::resource_exhausted;
  if (!known || !error.message.ends_with('.'))
    std::fprintf(stderr, "%s: %s\n", std::string(to_string(error.code)).c_str(),
                 error.message.c_str());
  check(known && error.message.ends_with('.'), "a refusal is a sentence");
  return true;
}

void embeds(const gguf::File& file, const gguf::Source& source) {
  const auto model = llm::read_encoder(file);
  if (!model && refused(model.error())) return;
  for (const llm::Weight weight : llm::tensors_of(*model))
    check(source.view(weight->offset, weight->bytes).has_value(), "a tensor lies inside the file");
  const auto encoder = llm::Encoder::create(*model, source, {.threads = 1});
  if (!encoder && refused(encoder.error())) return;
  const std::uint32_t vocabulary = model->config.vocabulary;
  std::vector<llm::Token> tokens;
  for (std::uint32_t i = 0; i < std::min(5u, model->config.context); ++i)
    tokens.push_back(static_cast<llm::Token>(i * 7 % vocabulary));
  const auto vectors = llm::run_now((*encoder)->embed({tokens, {0}}));
  check(vectors.has_value() && vectors->size() == 2, "texts that fit have vectors");
  for (const auto& vector : *vectors)
    check(vector.size() == model->config.embedding, "a vector has the model's width");
  check(!llm::run_now((*encoder)->embed({{static_cast<llm::Token>(vocabulary)}})).has_value(),
        "what is no token is refused");
}

void continues(const gguf::File& file, const gguf::Source& source) {
  const auto model = llm::read_model(file);
  if (!model && refused(model.error())) return;
  if (std::uint64_t{model->config.vocabulary} * model->config.embedding > quick) return;
  const auto engine = llm::create_cpu_engine(*model, source, {.context = 8}, 1);
  if (!engine && refused(engine.error())) return;
  const auto sequence = (*engine)->open();
  check(sequence.has_value(), "an engine has a sequence");
  if (!llm::run_now(
          (*engine)->append(*sequence, {0, 1 % static_cast<llm::Token>(model->config.vocabulary)})))
    return;
  const auto logits = llm::run_now((*engine)->logits(*sequence));
  check(logits.has_value() && logits->size() == model->config.vocabulary, "tokens have logits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const gguf::MemorySource source(ByteSpan(data, size));
  const auto file = gguf::read_file(source);
  if (!file) return 0;
  const auto architecture = file->metadata.string("general.architecture");
  if (architecture && llm::is_encoder(*architecture)) {
    embeds(*file, source);
  } else {
    continues(*file, source);
  }
  return 0;
}
