#include "worker/inference/shard.h"

#include <utility>

#include "common/proof/smaller_weights.h"
#include "worker/inference/paced_engine.h"

namespace weft::worker {

namespace wire = protocol::serving;

Async<Result<std::shared_ptr<Shard>>> Shard::load(ServingHost& host, wire::Load order,
                                                  std::string token) {
  const ModelFile file{.hash = order.model, .bytes = order.bytes, .chunk_bytes = order.chunk_bytes};
  std::shared_ptr<Shard> out(new Shard);
  out->order_ = order;
  WEFT_CO_ASSIGN(const auto weights,
                 co_await Weights::open(host, file, order.chunks, std::move(token)));
  WEFT_CO_OK(co_await weights->want({{.first = 0, .bytes = order.header_bytes}}));
  WEFT_CO_ASSIGN(out->source_, host.open_file(file));
  WEFT_CO_ASSIGN(out->file_,
                 gguf::read_file(*out->source_, {.header_bytes_max = order.header_bytes}));
  WEFT_CO_ASSIGN(const std::string_view architecture,
                 out->file_.metadata.string("general.architecture"));
  if (!order.beside.empty() && order.beside != proof::smaller_format)
    co_return fail(ErrorCode::unsupported,
                   "The order asks for weights in \"{}\" beside the model's own; this worker can "
                   "round them to {} alone.",
                   order.beside, proof::smaller_format);
  if (llm::is_encoder(architecture)) {
    WEFT_CO_OK(co_await out->load_encoder(host, *weights));
    co_return out;
  }
  WEFT_CO_ASSIGN(out->model_, llm::read_model(out->file_));
  llm::EngineOptions options{.layers = {.begin = order.first_layer, .end = order.end_layer},
                             .context = order.context,
                             .sequences = order.sequences,
                             .cache_bytes = order.cache_bytes};
  if (!order.activations.empty()) {
    WEFT_CO_ASSIGN(options.activations, llm::activations_from(order.activations));
  }
  WEFT_CO_ASSIGN(options, llm::complete(options, out->model_.config));

  std::vector<FileRange> ranges;
  for (const gguf::Tensor* tensor :
       llm::tensors_of(out->model_, options.layers.begin, options.layers.end)) {
    ranges.push_back({.first = tensor->offset, .bytes = tensor->bytes});
    out->memory_bytes_ += tensor->bytes;
  }
  WEFT_CO_OK(co_await weights->want(std::move(ranges)));
  if (options.layers.begin == 0) {
    WEFT_CO_ASSIGN(out->text_, chat::ModelText::create(out->file_.metadata));
  }
  WEFT_CO_ASSIGN(auto engine, co_await host.create_engine(out->model_, *out->source_, options));
  out->engine_ = out->metered(host, std::move(engine));
  if (!order.beside.empty()) WEFT_CO_OK(co_await out->load_beside(host, options));
  co_return out;
}

std::shared_ptr<llm::Engine> Shard::metered(ServingHost& host,
                                            std::unique_ptr<llm::Engine> engine) const {
  return make_paced(
      std::move(engine),
      {.work = [meter = meter_, &host](bool begins) { meter->work(begins, host.now()); },
       .pass = [meter = meter_, &host](bool begins) { meter->pass(begins, host.now()); }});
}

Async<Result<>> Shard::load_beside(ServingHost& host, llm::EngineOptions options) {
  const std::uint32_t layers = model_.config.layers;
  if (options.layers.begin != 0 || options.layers.end != layers)
    co_return fail(ErrorCode::unsupported,
                   "Answers are weighed with a whole model, not only with its layers {} to {}.",
                   options.layers.begin, options.layers.end);
  if (options.activations != llm::Activations::f32)
    co_return fail(ErrorCode::unsupported,
                   "Answers are weighed with activations in f32, not in another arithmetic.");
  WEFT_CO_ASSIGN(rounded_file_, gguf::rounded_file(file_));
  rounded_source_ = std::make_unique<gguf::RoundedSource>(rounded_file_, *source_);
  WEFT_CO_ASSIGN(rounded_model_, llm::read_model(rounded_file_.file));
  WEFT_CO_ASSIGN(auto engine,
                 co_await host.create_engine(rounded_model_, *rounded_source_, options));
  beside_ = metered(host, std::move(engine));
  for (const gguf::Tensor* tensor : llm::tensors_of(rounded_model_, 0, layers))
    memory_bytes_ += tensor->bytes;
  co_return Result<>();
}

Async<Result<>> Shard::load_encoder(ServingHost& host, Weights& weights) {
  if (!order_.beside.empty())
    co_return fail(ErrorCode::unsupported,
                   "A model that makes vectors is not read with rounded weights.");
  WEFT_CO_ASSIGN(encoder_model_, llm::read_encoder(file_));
  const std::uint32_t layers = encoder_model_.config.layers;
  if (order_.first_layer != 0 || (order_.end_layer != 0 && order_.end_layer != layers))
    co_return fail(ErrorCode::unsupported,
                   "A model that makes vectors must be served whole, not only its layers {} to {}.",
                   order_.first_layer, order_.end_layer);
  std::vector<FileRange> ranges;
  for (const gguf::Tensor* tensor : llm::tensors_of(encoder_model_)) {
    ranges.push_back({.first = tensor->offset, .bytes = tensor->bytes});
    memory_bytes_ += tensor->bytes;
  }
  WEFT_CO_OK(co_await weights.want(std::move(ranges)));
  WEFT_CO_ASSIGN(encoder_, co_await host.create_encoder(encoder_model_, *source_));
  co_return Result<>();
}

bool Shard::serves(const wire::Load& order) const {
  return order_.model == order.model && order_.first_layer == order.first_layer &&
         order_.end_layer == order.end_layer && order_.context == order.context &&
         order_.sequences == order.sequences && order_.cache_bytes == order.cache_bytes &&
         order_.activations == order.activations && order_.beside == order.beside;
}

}  // namespace weft::worker
