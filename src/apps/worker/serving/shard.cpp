#include "apps/worker/serving/shard.h"

#include <utility>

#include "apps/worker/serving/paced_engine.h"
#include "apps/worker/serving/weights.h"

namespace weft::worker {

namespace wire = protocol::serving;

Async<Result<std::shared_ptr<Shard>>> Shard::load(ServingHost& host, wire::Load order, std::string token) {
  const ModelFile file{.hash = order.model, .bytes = order.bytes, .chunk_bytes = order.chunk_bytes};
  std::shared_ptr<Shard> out(new Shard);
  out->order_ = order;
  WEFT_CO_ASSIGN(const auto weights, co_await Weights::open(host, file, order.chunks, std::move(token)));
  WEFT_CO_OK(co_await weights->want({{.first = 0, .bytes = order.header_bytes}}));
  WEFT_CO_ASSIGN(out->source_, host.open_file(file));
  WEFT_CO_ASSIGN(out->file_, gguf::read_file(*out->source_, {.header_bytes_max = order.header_bytes}));
  WEFT_CO_ASSIGN(out->model_, llm::read_model(out->file_));
  llm::EngineOptions options{.layers = {.begin = order.first_layer, .end = order.end_layer}, .context = order.context, .sequences = order.sequences};
  WEFT_CO_ASSIGN(options, llm::complete(options, out->model_.config));

  std::vector<FileRange> ranges;
  for (const gguf::Tensor* tensor : llm::tensors_of(out->model_, options.layers.begin, options.layers.end)) {
    ranges.push_back({.first = tensor->offset, .bytes = tensor->bytes});
    out->memory_bytes_ += tensor->bytes;
  }
  WEFT_CO_OK(co_await weights->want(std::move(ranges)));
  if (options.layers.begin == 0) {
    WEFT_CO_ASSIGN(out->tokenizer_, tokenizer::Tokenizer::create(out->file_.metadata));
    if (auto chat = chat::ChatTemplate::create(out->file_.metadata, out->tokenizer_->vocabulary())) out->chat_ = std::move(*chat);
  }
  WEFT_CO_ASSIGN(auto engine, co_await host.create_engine(out->model_, *out->source_, options));
  out->engine_ = make_paced(std::move(engine), {.work = [meter = out->meter_, &host](bool begins) { meter->work(begins, host.now()); },
                                                .pass = [meter = out->meter_, &host](bool begins) { meter->pass(begins, host.now()); }});
  co_return out;
}

bool Shard::serves(const wire::Load& order) const {
  return order_.model == order.model && order_.first_layer == order.first_layer && order_.end_layer == order.end_layer &&
         order_.context == order.context && order_.sequences == order.sequences;
}

Result<std::vector<llm::Token>> Shard::prompt(bool chat, std::string_view text, std::int64_t now) const {
  if (tokenizer_ == nullptr) return fail(ErrorCode::internal, "A shard without the first layer is asked.");
  if (!chat) return tokenizer_->encode(text, {.add_special = true, .parse_special = true});
  if (!chat_) return fail(ErrorCode::unsupported, "The model has no chat template; ask /v1/completions.");
  WEFT_ASSIGN(const std::string rendered, chat_->render(text, {.now = now == 0 ? jinja::WallTime::local_now() : jinja::WallTime::of_unix(now)}));
  return chat::encode_prompt(*tokenizer_, rendered);
}

}  // namespace weft::worker
