#include "engine/llm/encoders/encoder_model.h"

#include <algorithm>
#include <array>

#include "engine/llm/encoders/bert.h"
#include "engine/llm/encoders/nomic_bert.h"

namespace weft::llm {
namespace {

struct EncoderArchitecture {
  std::string_view name;
  Result<EncoderModel> (*read)(const gguf::File& file);
};
// A new architecture is a new pair of files and a row of this table.
constexpr std::array encoder_architectures = {EncoderArchitecture{"bert", read_bert},
                                              EncoderArchitecture{"nomic-bert", read_nomic_bert}};

Result<Pooling> read_pooling(const ModelReader& reader) {
  WEFT_ASSIGN(const std::uint64_t number,
              reader.file().metadata.unsigned_integer_or(reader.key("pooling_type"), 1));
  if (number < 1 || number > 3)
    return fail(ErrorCode::unsupported,
                "{} is {}; Weft knows 1 (the mean), 2 (the first position) and 3 (the last).",
                reader.key("pooling_type"), number);
  return static_cast<Pooling>(number);
}

}  // namespace

bool is_encoder(std::string_view architecture) {
  return std::ranges::contains(encoder_architectures, architecture, &EncoderArchitecture::name);
}

Result<EncoderModel> read_encoder(const gguf::File& file) {
  WEFT_ASSIGN(const std::string_view name, file.metadata.string("general.architecture"));
  for (const EncoderArchitecture& architecture : encoder_architectures) {
    if (architecture.name == name) return architecture.read(file);
  }
  return fail(ErrorCode::unsupported,
              "The architecture '{}' embeds no texts; bert and nomic-bert do.", name);
}

std::vector<Weight> tensors_of(const EncoderModel& model) {
  std::vector<Weight> out{model.token_embedding, model.token_types, model.position_embedding};
  const auto add = [&out](const Affine& affine) {
    out.push_back(affine.weight);
    out.push_back(affine.bias);
  };
  add(model.embedding_norm);
  for (const EncoderLayer& layer : model.layers) {
    for (const Affine* affine : {&layer.qkv, &layer.q, &layer.k, &layer.v, &layer.output,
                                 &layer.output_norm, &layer.up, &layer.down, &layer.layer_norm})
      add(*affine);
    out.push_back(layer.gate);
  }
  std::erase(out, nullptr);
  return out;
}

Result<EncoderModel> begin_encoder(const ModelReader& reader) {
  EncoderModel model;
  EncoderConfig& config = model.config;
  const gguf::File& file = reader.file();
  config.architecture = reader.architecture();
  WEFT_ASSIGN(const std::string_view name, file.metadata.string_or("general.name", ""));
  config.name = name;
  WEFT_ASSIGN(config.layers, reader.count("block_count", ModelReader::layers_max));
  WEFT_ASSIGN(config.embedding, reader.count("embedding_length", ModelReader::width_max));
  WEFT_ASSIGN(config.feed_forward, reader.count("feed_forward_length", ModelReader::width_max));
  WEFT_ASSIGN(config.heads, reader.count("attention.head_count", ModelReader::heads_max));
  WEFT_ASSIGN(config.context, reader.count("context_length", 1u << 20));
  if (config.embedding % config.heads != 0 || config.head_dim() % 2 != 0)
    return fail(ErrorCode::invalid_argument, "The width {} does not make {} heads of an even size.",
                config.embedding, config.heads);
  const std::string epsilon_key = reader.key("attention.layer_norm_epsilon");
  WEFT_ASSIGN(const double epsilon, file.metadata.number(epsilon_key));
  if (!(epsilon > 0 && epsilon < 1))
    return fail(ErrorCode::invalid_argument, "{} is {}; it must lie between 0 and 1.", epsilon_key,
                epsilon);
  config.norm_epsilon = static_cast<float>(epsilon);
  WEFT_ASSIGN(const bool causal, file.metadata.boolean_or(reader.key("attention.causal"), false));
  if (causal)
    return fail(ErrorCode::unsupported, "A {} model with causal attention is not supported.",
                reader.architecture());
  WEFT_ASSIGN(config.pooling, read_pooling(reader));

  const gguf::Tensor* embedding = file.find_tensor("token_embd.weight");
  constexpr std::uint64_t vocabulary_max = 1u << 24;
  if (embedding == nullptr || embedding->rows() == 0 || embedding->rows() > vocabulary_max)
    return fail(ErrorCode::invalid_argument,
                "The file has no tensor 'token_embd.weight' of 1 to {} rows, which {} needs.",
                vocabulary_max, reader.architecture());
  config.vocabulary = static_cast<std::uint32_t>(embedding->rows());
  WEFT_ASSIGN(model.token_embedding,
              reader.tensor("token_embd.weight", {config.embedding, config.vocabulary}));
  if (const gguf::Tensor* types = file.find_tensor("token_types.weight")) {
    WEFT_ASSIGN(model.token_types,
                reader.tensor("token_types.weight",
                              {config.embedding, std::max<std::uint64_t>(1, types->rows())}));
  }
  WEFT_ASSIGN(model.embedding_norm, read_norm(reader, "token_embd_norm", config.embedding));
  return model;
}

Result<Affine> read_affine(const ModelReader& reader, const std::string& name, std::uint64_t rows,
                           std::uint64_t columns) {
  Affine out;
  WEFT_ASSIGN(out.weight, reader.tensor(name + ".weight", {columns, rows}));
  if (reader.file().find_tensor(name + ".bias") != nullptr) {
    WEFT_ASSIGN(out.bias, reader.tensor(name + ".bias", {rows}));
  }
  return out;
}

Result<Affine> read_norm(const ModelReader& reader, const std::string& name, std::uint64_t size) {
  Affine out;
  WEFT_ASSIGN(out.weight, reader.tensor(name + ".weight", {size}));
  WEFT_ASSIGN(out.bias, reader.tensor(name + ".bias", {size}));
  return out;
}

}  // namespace weft::llm
