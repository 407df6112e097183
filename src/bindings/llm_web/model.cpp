#include "bindings/llm_web/model.h"

#include <utility>

#include "bindings/llm_web/answers.h"
#include "bindings/llm_web/imports.h"
#include "bindings/llm_web/patient_engine.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/gpu/gpu_engine.h"

namespace weft::llm_web {
namespace {

Async<> turn() {
  const Pending<bool> come;
  weft_llm_turn(new TurnCallback{[come] { come.set(true); }});
  (void)co_await come;
}

// Most browsers name only the vendor and the architecture of a GPU.
std::string device_name(const gpu::AdapterInfo& adapter) {
  if (!adapter.description.empty()) return adapter.description;
  return adapter.architecture.empty() ? adapter.vendor
                                      : adapter.vendor + " " + adapter.architecture;
}

void answer(std::uint32_t call, const Result<std::string>& result) {
  const std::string_view code = result ? "" : to_string(result.error().code);
  const std::string& text = result ? *result : result.error().message;
  weft_llm_answer(call, code.data(), static_cast<std::uint32_t>(code.size()), text.data(),
                  static_cast<std::uint32_t>(text.size()));
}

}  // namespace

Async<Result<std::unique_ptr<Model>>> Model::load(std::unique_ptr<gguf::Source> source,
                                                  std::unique_ptr<gpu::Instance> instance,
                                                  LoadRequest request) {
  std::unique_ptr<Model> out(new Model);
  out->source_ = std::move(source);
  out->instance_ = std::move(instance);
  WEFT_CO_ASSIGN(out->file_, gguf::read_file(*out->source_));
  WEFT_CO_ASSIGN(out->model_, llm::read_model(out->file_));
  WEFT_CO_ASSIGN(out->tokenizer_, tokenizer::Tokenizer::create(out->file_.metadata));
  out->chat_ = chat::ChatTemplate::create(out->file_.metadata, out->tokenizer_->vocabulary());
  WEFT_CO_OK(co_await out->open_engine(std::move(request)));
  // A call can be cancelled only between two parts of its prompt. The parts are larger on a GPU,
  // because a GPU reads hundreds of tokens in the time of one.
  const std::uint32_t append_max = out->device_ ? 512 : 16;
  out->generator_ = std::make_unique<llm::Generator>(
      *out->engine_, *out->tokenizer_, llm::Generator::Options{.append_max = append_max});
  co_return out;
}

Async<Result<>> Model::open_engine(LoadRequest request) {
  if (request.device == DeviceChoice::cpu) co_return open_processor(request.engine);
  auto opened = co_await open_gpu(request.engine);
  // The processor is used only if no GPU is available. A GPU that cannot hold the model is an
  // error, because the processor would be about a hundred times slower.
  if (opened || request.device == DeviceChoice::gpu || device_ ||
      opened.error().code != ErrorCode::unavailable)
    co_return opened;
  no_gpu_ = std::move(opened.error().message);
  co_return open_processor(request.engine);
}

Async<Result<>> Model::open_gpu(llm::EngineOptions options) {
  WEFT_CO_ASSIGN(device_,
                 co_await instance_->create_device({.label = "weft llm", .trusted_shaders = true}));
  WEFT_CO_ASSIGN(auto engine, co_await llm::create_gpu_engine(*device_, model_, *source_, options));
  // The result of idle() is ignored, because an error of the device also fails the next part.
  engine_ = make_patient(std::move(engine), {.between_parts = [this] { return idle(); }});
  co_return Result<>();
}

Async<> Model::idle() { (void)co_await device_->idle(); }

Result<> Model::open_processor(const llm::EngineOptions& options) {
  // WebAssembly's memory ends at 4 GiB, and the cache and other data need the rest of it.
  constexpr std::uint64_t processor_bytes_max = std::uint64_t{3584} << 20;
  if (const std::uint64_t bytes = weight_bytes(); bytes > processor_bytes_max)
    return fail(ErrorCode::out_of_memory,
                "The model's weights take {} bytes; on the processor at most {} are possible. A "
                "GPU has no such bound.",
                bytes, processor_bytes_max);
  WEFT_ASSIGN(auto engine, llm::create_cpu_engine(model_, *source_, options));
  engine_ = make_patient(std::move(engine), {.before_draw = turn, .between_parts = turn});
  return {};
}

std::uint64_t Model::weight_bytes() const {
  std::uint64_t bytes = 0;
  for (const gguf::Tensor& tensor : file_.tensors) bytes += tensor.bytes;
  return bytes;
}

std::string Model::info() const {
  std::uint64_t parameters = 0;
  for (const gguf::Tensor& tensor : file_.tensors) parameters += tensor.elements();
  ModelInfo info{.engine = *engine_,
                 .gpu = device_ != nullptr,
                 .device = device_ ? device_name(device_->adapter()) : engine_->device(),
                 .no_gpu = no_gpu_,
                 .chat_template = {},
                 .file_bytes = source_->bytes(),
                 .weight_bytes = weight_bytes(),
                 .parameters = parameters};
  if (chat_) info.chat_template = to_string(chat_->origin());
  return info_json(info);
}

Result<std::string> Model::render(std::string_view input) const {
  if (!chat_) return std::unexpected(chat_.error());
  return chat_->render(input, {.now = jinja::WallTime::local_now()});
}

Result<std::vector<llm::Token>> Model::chat_prompt(std::string_view input) const {
  WEFT_ASSIGN(const std::string text, render(input));
  return chat::encode_prompt(*tokenizer_, text);
}

Result<std::vector<llm::Token>> Model::text_prompt(std::string_view text) const {
  return tokenizer_->encode(text, {.add_special = true, .parse_special = true});
}

void Model::generate(std::uint32_t call, llm::Request request) {
  calls_[call] = true;
  request.wanted = [this, call] { return calls_.at(call); };
  request.on_token = [call](const llm::GeneratedToken& token, std::string_view text) {
    const std::string json = piece_json(token, text);
    weft_llm_piece(call, json.data(), static_cast<std::uint32_t>(json.size()));
  };
  const auto done = [this, call](Result<llm::Generation> generation) {
    calls_.erase(call);
    answer(call, generation.transform(done_json));
  };
  if (auto added = generator_->add(std::move(request), {}, done); !added) {
    calls_.erase(call);
    return answer(call, std::unexpected(added.error()));
  }
  if (!running_) run();
}

void Model::run() {
  running_ = true;
  // The result of run() is ignored, because the generator reports a failure to every call.
  start<Result<>>(generator_->run(), [this](const Result<>&) { running_ = false; });
}

void Model::cancel(std::uint32_t call) {
  if (const auto found = calls_.find(call); found != calls_.end()) found->second = false;
}

void Model::release() {
  if (device_) device_->destroy();
}

}  // namespace weft::llm_web
