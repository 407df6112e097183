#include "apps/cli/commands/served_models.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/large_upload.h"
#include "apps/cli/progress.h"
#include "apps/cli/served_onnx.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "decisions/inference/modality.h"
#include "decisions/inference/model_card.h"
#include "engine/gguf/mapped_file.h"
#include "engine/gguf/rounded_weights.h"
#include "engine/llm/encoders/encoder_model.h"
#include "engine/llm/models/model.h"

namespace weft::cli {
namespace {

constexpr std::uint32_t chunk_bytes = 1 << 20;
constexpr auto unplaced_max = std::chrono::seconds(4);

// Returns the concatenated SHA-256 digests of all chunks.
ByteVector digests_of(ByteSpan file) {
  ByteVector out;
  Progress progress("hashing");
  for (std::size_t at = 0; at < file.size(); at += chunk_bytes) {
    append(out,
           crypto::sha256(file.subspan(at, std::min<std::size_t>(chunk_bytes, file.size() - at)))
               .span());
    progress.show(at >> 20, file.size() >> 20, "MiB");
  }
  return out;
}

std::uint64_t bytes_of(const std::vector<llm::Weight>& tensors) {
  std::uint64_t out = 0;
  for (const llm::Weight tensor : tensors) out += tensor->bytes;
  return out;
}

// The price in micro-credits for 1,000 tokens: each token takes two operations for every weight,
// and a unit is 10^12 operations (docs/pricing.md).
MicroCredits price_of(double weights) {
  return std::max<MicroCredits>(1, std::llround(weights * 2 * 1000 / 1e12 * 1e6));
}

// The width of the format in which most of the weights are stored.
store::WeightWidth width_of(const std::vector<llm::Weight>& tensors) {
  std::uint64_t wide = 0, all = 0;
  for (const llm::Weight tensor : tensors) {
    all += tensor->elements();
    if (gguf::is_rounded_to_q8_0(*tensor)) wide += tensor->elements();
  }
  return wide > all / 2 ? store::WeightWidth::wide : store::WeightWidth::narrow;
}

inference::ModelCard file_card(const gguf::File& file) {
  inference::ModelCard card;
  card.bytes = file.file_bytes;
  card.header_bytes = file.data_offset;
  card.chunk_bytes = chunk_bytes;
  return card;
}

inference::ModelCard card_of(const gguf::File& file, const llm::EncoderModel& model) {
  const llm::EncoderConfig& config = model.config;
  inference::ModelCard card = file_card(file);
  card.architecture = config.architecture;
  card.layers = config.layers;
  card.embedding = config.embedding;
  card.vocabulary = config.vocabulary;
  card.context = config.context;
  card.first_bytes = model.token_embedding->bytes;
  // The weights of the token table do not count, because a lookup in a table is hardly any work.
  double weights = -static_cast<double>(model.token_embedding->elements());
  std::uint64_t all = 0;
  for (const llm::Weight tensor : llm::tensors_of(model)) {
    all += tensor->bytes;
    weights += static_cast<double>(tensor->elements());
  }
  card.layer_bytes =
      std::max<std::uint64_t>(1, (all - card.first_bytes + config.layers - 1) / config.layers);
  card.price = price_of(weights);
  return card;
}

inference::ModelCard card_of(const gguf::File& file, const llm::Model& model) {
  const llm::Config& config = model.config;
  inference::ModelCard card = file_card(file);
  card.architecture = config.architecture;
  card.layers = config.layers;
  card.embedding = config.embedding;
  card.vocabulary = config.vocabulary;
  card.context = config.context;
  // The bytes of a layer are those of the largest layer in the middle of the model, or the mean of
  // all layers if it is larger. The first and last layers come with further tensors, which do not
  // count.
  const std::uint64_t all = bytes_of(llm::tensors_of(model, 0, config.layers));
  card.first_bytes = model.token_embedding->bytes;
  card.last_bytes = model.output->bytes + model.output_norm->bytes;
  std::uint64_t largest = 1;
  for (std::uint32_t i = 1; i + 1 < config.layers; ++i)
    largest = std::max(largest, bytes_of(llm::tensors_of(model, i, i + 1)));
  card.layer_bytes = std::max(largest, (all - card.first_bytes - card.last_bytes) / config.layers);
  double weights = 0;
  for (const llm::Weight tensor : llm::tensors_of(model, 0, config.layers))
    weights += static_cast<double>(tensor->elements());
  card.price = price_of(weights);
  card.weights = width_of(llm::tensors_of(model, 0, config.layers));
  // Keys and values are stored as f16.
  card.cache_bytes = std::uint64_t{2} * 2 * config.attention.kv_rows();
  return card;
}

Result<inference::ModelCard> card_of(const gguf::File& file) {
  WEFT_ASSIGN(const std::string_view architecture, file.metadata.string("general.architecture"));
  if (llm::is_encoder(architecture)) {
    WEFT_ASSIGN(const llm::EncoderModel model, llm::read_encoder(file));
    return card_of(file, model);
  }
  WEFT_ASSIGN(const llm::Model model, llm::read_model(file));
  return card_of(file, model);
}

// The state of each model: ready or not. (/v1/models may require an API key.)
Result<std::map<std::string, std::string>> states_of(ApiClient& client) {
  WEFT_ASSIGN(const net::Response answer, client.requests().read(net::get("/v1/serving")));
  WEFT_ASSIGN(const json::Value root,
              json::parse(answer.body, {.bytes_max = answer.body.size() + 1}));
  WEFT_ASSIGN(const auto members, root.members());
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : members) {
    if (key != "models") continue;
    WEFT_OK(value.for_each({}, [&](const json::Value& model) -> Result<> {
      WEFT_ASSIGN(const auto fields, model.members());
      std::string name, state;
      for (const auto& [word, field] : fields) {
        if (word != "model" && word != "state") continue;
        WEFT_ASSIGN((word == "model" ? name : state), field.string());
      }
      out[name] = state;
      return {};
    }));
  }
  return out;
}

// The state of one model; an error if the coordinator does not have it.
Result<std::string> state_of(ApiClient& client, const std::string& name) {
  WEFT_ASSIGN(const auto states, states_of(client));
  const auto found = states.find(name);
  if (found == states.end())
    return fail(ErrorCode::not_found, "The model {} does not exist at the coordinator.", name);
  return found->second;
}

std::string name_of(const ServedModelOptions& options) {
  return options.name.empty() ? std::filesystem::path(options.file).stem().string() : options.name;
}

// Uploads the model's file in parts, with progress, and then the card, which refers to the file.
Result<net::Response> upload_model(ApiClient& client, ByteSpan bytes, inference::ModelCard& card,
                                   const crypto::KeyPair& wallet) {
  const Hash whole = crypto::sha256(bytes);
  {
    Progress progress("uploading");
    WEFT_OK(upload_large(client, bytes, whole, wallet, [&](std::uint64_t done) {
      progress.show(done >> 20, bytes.size() >> 20, "MiB");
    }));
  }
  card.file = whole.text();
  return client.requests().post("/v1/models", inference::to_json(card), wallet);
}

Result<> add_onnx(const ServedModelOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_or_new(options.wallet));
  if (options.price || !options.wire.empty() || options.shards != 1)
    return fail(ErrorCode::invalid_argument,
                "--price, --wire and --shards are for language models; a request to an ONNX model "
                "is a job.");
  WEFT_ASSIGN(const ByteVector bytes, read_file(options.file));
  auto interface = onnx_interface(bytes, options.sizes);
  if (!interface) return pass(std::move(interface), "while reading {}", options.file);
  inference::ModelCard card = inference::onnx_card();
  card.name = name_of(options);
  card.bytes = bytes.size();
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const Hash document,
              client->requests().put_blob(as_bytes(inference::to_json(*interface)), wallet));
  card.chunks = document.text();
  WEFT_ASSIGN(const net::Response answer, upload_model(*client, bytes, card, wallet));
  if (options.json) {
    std::printf("%s\n", answer.body.c_str());
    return {};
  }
  std::string shapes;
  for (const inference::TensorSpec& input : interface->inputs)
    shapes += weft::format("{}{} {}", shapes.empty() ? "" : ", ", input.name,
                           inference::to_string(input));
  std::printf("%s is added: %.1f MiB, input %s. Ask it at\n  %s/v2/models/%s/infer\n",
              card.name.c_str(), static_cast<double>(card.bytes) / (1 << 20), shapes.c_str(),
              options.coordinator.c_str(), net::percent_encoded(card.name).c_str());
  return {};
}

Result<> add(const ServedModelOptions& options) {
  if (is_onnx_file(options.file)) return add_onnx(options);
  if (!options.sizes.empty())
    return fail(ErrorCode::invalid_argument,
                "--size is for ONNX models, whose file ends in .onnx.");
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_or_new(options.wallet));
  WEFT_ASSIGN(const auto source, gguf::MappedFile::open(options.file));
  auto file = gguf::read_file(*source);
  if (!file) return pass(std::move(file), "while reading {}", options.file);
  auto read = card_of(*file);
  if (!read) return pass(std::move(read), "while reading {}", options.file);
  const ByteSpan bytes = source->view(0, source->bytes()).value();

  inference::ModelCard card = std::move(*read);
  card.name = name_of(options);
  card.shards_min = options.shards;
  if (options.price) {
    if (!(*options.price <= 1e6))
      return fail(ErrorCode::invalid_argument, "--price {} is over a million credits.",
                  *options.price);
    card.price = std::llround(*options.price * 1e6);
  }
  card.wire = options.wire;
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const Hash chunks, client->requests().put_blob(digests_of(bytes), wallet));
  card.chunks = chunks.text();
  WEFT_ASSIGN(const net::Response answer, upload_model(*client, bytes, card, wallet));
  if (options.wait) {
    Progress progress("loading " + card.name);
    const Instant begun = now();
    bool told = false;
    for (std::uint64_t turn = 0;; ++turn) {
      WEFT_ASSIGN(const std::string state, state_of(*client, card.name));
      if (state == "ready") break;
      if (state != "loading" && now() - begun > unplaced_max && !std::exchange(told, true)) {
        say_beside_progress(
            weft::format("No worker has room for {} yet: start one with weft work --coordinator "
                         "{}, and with enough --model-memory-mb.",
                         card.name, options.coordinator));
      }
      progress.show(turn % 10, 10, state);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }
  // Reads the model's document as it is now. If only an API key may read it, the earlier answer is
  // printed with the current state.
  const auto document =
      client->requests().read(net::get("/v1/models/" + net::percent_encoded(card.name)));
  if (!document && document.error().code != ErrorCode::unauthenticated)
    return std::unexpected(document.error());
  if (options.json) {
    std::string text = document ? document->body : answer.body;
    if (!document && options.wait) {
      constexpr std::string_view before = "\"state\":\"";
      if (const auto at = text.find(before); at != std::string::npos) {
        const auto value = at + before.size();
        text.replace(value, text.find('"', value) - value, "ready");
      }
    }
    std::printf("%s\n", text.c_str());
  } else {
    const bool vectors = inference::makes_vectors(card);
    std::printf(
        "%s is %s: %u layers, %.1f MiB. Ask it with\n  curl %s/v1/%s -H "
        "'content-type: application/json' %s-d '{\"model\":\"%s\",%s}'\n",
        card.name.c_str(),
        options.wait ? "served" : "added; it is served as soon as workers have room for it",
        card.layers, static_cast<double>(card.bytes) / (1 << 20), options.coordinator.c_str(),
        vectors ? "embeddings" : "chat/completions",
        document ? "" : "-H \"Authorization: Bearer KEY\" ", card.name.c_str(),
        vectors ? "\"input\":\"Hello\""
                : "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]");
  }
  return {};
}

Result<> list(const ServedModelOptions& options) {
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  if (options.json) {
    WEFT_ASSIGN(const net::Response answer, client->requests().read(net::get("/v1/models")));
    std::printf("%s\n", answer.body.c_str());
    return {};
  }
  WEFT_ASSIGN(const auto models, states_of(*client));
  for (const auto& [name, state] : models) std::printf("%-40s %s\n", name.c_str(), state.c_str());
  if (models.empty())
    std::printf("No models yet; add one with weft model add FILE --coordinator %s\n",
                options.coordinator.c_str());
  return {};
}

Result<> remove(const ServedModelOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_OK(client->requests().remove("/v1/models/" + net::percent_encoded(options.name), wallet));
  return {};
}

int finish(const char* command, const Result<>& result) {
  return result ? 0 : report(command, result.error());
}

}  // namespace

int model_add_command(const ServedModelOptions& options) {
  return finish("model add", add(options));
}
int model_list_command(const ServedModelOptions& options) {
  return finish("model list", list(options));
}
int model_remove_command(const ServedModelOptions& options) {
  return finish("model remove", remove(options));
}

}  // namespace weft::cli
