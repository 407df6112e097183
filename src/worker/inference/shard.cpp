#include "worker/inference/shard.h"

#include <utility>

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
  out->engine_ = make_paced(
      std::move(engine),
      {.work = [meter = out->meter_, &host](bool begins) { meter->work(begins, host.now()); },
       .pass = [meter = out->meter_, &host](bool begins) { meter->pass(begins, host.now()); }});
  co_return out;
}

Async<Result<>> Shard::load_encoder(ServingHost& host, Weights& weights) {
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
         order_.activations == order.activations;
}

}  // namespace weft::worker
