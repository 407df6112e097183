#include "bindings/llm_web/answers.h"

#include <algorithm>
#include <vector>

#include <glaze/glaze.hpp>

namespace weft::llm_web {

// The documents that are written as JSON; their field names are the keys. They are not in the
// unnamed namespace, because glaze reads the names of their members.
struct CandidateDocument {
  llm::Token token = 0;
  float logprob = 0;
};
struct PieceDocument {
  std::string_view text;
  llm::Token token = 0;
  float logprob = 0;
  std::vector<CandidateDocument> top;
};
struct DoneDocument {
  std::string_view text;
  std::string_view stop;
  std::uint64_t promptTokens = 0;
  std::uint64_t reusedTokens = 0;
  std::uint64_t tokens = 0;
  double prefillMs = 0;
  double decodeMs = 0;
};
struct DeviceDocument {
  std::string_view kind;
  std::string name;
  std::string_view reason;
};
struct InfoDocument {
  std::string_view architecture;
  std::string_view name;
  std::uint32_t layers = 0;
  std::uint32_t embedding = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t trainedContext = 0;
  std::uint32_t context = 0;
  std::uint32_t sequences = 0;
  std::string_view kv;
  std::string_view activations;
  std::uint64_t parameters = 0;
  std::uint64_t fileBytes = 0;
  std::uint64_t weightBytes = 0;
  std::optional<std::string_view> chatTemplate;
  DeviceDocument device;
};

namespace {

struct WriteOptions : glz::opts {
  bool escape_control_characters = true;
};

// JSON has no infinities, so the logprob of an impossible token (minus infinity) becomes -1e30.
float finite(float logprob) { return std::max(logprob, -1e30f); }

template <class Document>
std::string write(const Document& document) {
  std::string json;
  // Writing cannot fail, because the document holds only strings and numbers.
  (void)glz::write<WriteOptions{{glz::opts{.skip_null_members = false}}}>(document, json);
  return json;
}

}  // namespace

std::string piece_json(const llm::GeneratedToken& token, std::string_view text) {
  PieceDocument document{
      .text = text, .token = token.id, .logprob = finite(token.logprob), .top = {}};
  for (const llm::Drawn& drawn : token.top)
    document.top.push_back({drawn.token, finite(drawn.logprob)});
  return write(document);
}

std::string done_json(const llm::Generation& generation) {
  return write(DoneDocument{
      .text = generation.text,
      .stop = to_string(generation.stop),
      .promptTokens = std::uint64_t{generation.reused_tokens} + generation.prefill_tokens,
      .reusedTokens = generation.reused_tokens,
      .tokens = generation.tokens.size(),
      .prefillMs = generation.prefill_s * 1000,
      .decodeMs = generation.decode_s * 1000});
}

std::string tokens_json(std::span<const llm::Token> tokens) { return write(tokens); }

std::string info_json(const ModelInfo& info) {
  const llm::Config& config = info.engine.config();
  const llm::EngineOptions& options = info.engine.options();
  return write(InfoDocument{
      .architecture = config.architecture,
      .name = config.name,
      .layers = config.layers,
      .embedding = config.embedding,
      .vocabulary = config.vocabulary,
      .trainedContext = config.context,
      .context = options.context,
      .sequences = options.sequences,
      .kv = to_string(options.kv),
      .activations = to_string(options.activations),
      .parameters = info.parameters,
      .fileBytes = info.file_bytes,
      .weightBytes = info.weight_bytes,
      .chatTemplate = info.chat_template,
      .device = {.kind = info.gpu ? "gpu" : "cpu", .name = info.device, .reason = info.no_gpu}});
}

}  // namespace weft::llm_web
