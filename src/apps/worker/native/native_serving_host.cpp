#include "apps/worker/native/native_serving_host.h"

#include <algorithm>
#include <utility>

#include "engine/gpu/native/instance.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/gpu/gpu_engine.h"
#include "worker/inference/paced_engine.h"

namespace weft::worker {

NativeServingHost::NativeServingHost(net::Client& client, Options options)
    : client_(client),
      options_(std::move(options)),
      host_(client, "/v1/serve"),
      chunks_(options_.cache / "models", options_.models_bytes_max) {}

NativeServingHost::~NativeServingHost() = default;

void NativeServingHost::fetch_range(const Hash& blob, std::uint64_t first, std::uint64_t count,
                                    std::string token,
                                    std::function<void(Result<ByteVector>)> done) {
  net::Request request =
      net::with_bearer(net::get_range("/v1/blobs/" + blob.text(), first, count), token);
  request.timeout = std::chrono::minutes(5);
  client_.send(std::move(request), [count, done = std::move(done)](Result<net::Response> answer) {
    if (!answer) return done(std::unexpected(std::move(answer).error()));
    if (!answer->ok()) return done(std::unexpected(net::error_of(*answer)));
    if (answer->body.size() != count)
      return done(fail(ErrorCode::data_loss, "{} bytes of a blob come where {} were asked for.",
                       answer->body.size(), count));
    const ByteSpan bytes = as_bytes(std::string_view(answer->body));
    done(ByteVector(bytes.begin(), bytes.end()));
  });
}

void NativeServingHost::read_chunk(const ModelFile& file, std::uint32_t chunk,
                                   std::function<void(std::optional<ByteVector>)> done) {
  host_.after(Duration::zero(), [bytes = chunks_.read(file, chunk),
                                 done = std::move(done)]() mutable { done(std::move(bytes)); });
}

void NativeServingHost::write_chunk(const ModelFile& file, std::uint32_t chunk, ByteVector bytes,
                                    std::function<void(Result<>)> done) {
  host_.after(Duration::zero(), [result = chunks_.write(file, chunk, bytes),
                                 done = std::move(done)] { done(result); });
}

Result<std::unique_ptr<gguf::Source>> NativeServingHost::open_file(const ModelFile& file) {
  return chunks_.open(file);
}

// The device's waits go on while anything is under way, in turns with the client's events.
void NativeServingHost::work(bool begins) {
  working_ = begins ? working_ + 1 : working_ - 1;
  if (working_ > 0 && !std::exchange(pumping_, true)) pump();
}

void NativeServingHost::pump() {
  client_.next_turn(alive_.guard([this] {
    if (working_ > 0) {
      constexpr auto poll_max = std::chrono::milliseconds(1);
      const Instant begun = host_.now();
      const bool resumed = instance_->poll(poll_max);
      if (working_ > 0) {
        // What is under way may be on another thread, which no poll waits for.
        const bool waited = host_.now() - begun >= poll_max / 2;
        return resumed || waited
                   ? pump()
                   : host_.after(std::chrono::microseconds(100), alive_.guard([this] { pump(); }));
      }
    }
    pumping_ = false;
  }));
}

Async<Result<std::unique_ptr<llm::Engine>>> NativeServingHost::create_engine(
    const llm::Model& model, const gguf::Source& source, llm::EngineOptions options) {
  // A processor takes sequences one after the other: more of them at a time only share its time.
  constexpr std::uint32_t sequences_cpu = 4;
  if (!options_.gpu) {
    options.sequences = std::min(options.sequences, sequences_cpu);
    if (calls_ == nullptr)
      calls_ = std::make_unique<CallThread>(
          [this](std::function<void()> work) { client_.post(std::move(work)); });
    std::optional<Result<std::unique_ptr<llm::Engine>>> engine;
    co_await calls_->run([&] { engine.emplace(llm::create_cpu_engine(model, source, options)); });
    if (!*engine) co_return std::unexpected(engine->error());
    co_return make_paced(
        std::move(**engine),
        {.elsewhere = [this](std::function<void()> call) { return calls_->run(std::move(call)); },
         .now = [this] { return host_.now(); }});
  }
  if (instance_ == nullptr) instance_ = gpu::native::create_instance();
  work(true);
  if (device_ == nullptr || device_->lost().has_value()) {
    auto device = co_await instance_->create_device(
        {.label = "weft serving",
         .trusted_shaders = true,
         .cache_directory = options_.cache.empty() ? "" : (options_.cache / "pipelines").string()},
        options_.adapter);
    if (!device) {
      work(false);
      co_return std::unexpected(device.error());
    }
    device_ = std::move(*device);
  }
  // What a processor that draws like a GPU has room for.
  constexpr std::uint32_t sequences_software = 16;
  if (device_->adapter().kind == gpu::AdapterKind::cpu)
    options.sequences = std::min(options.sequences, sequences_software);
  auto engine = co_await llm::create_gpu_engine(*device_, model, source, options);
  work(false);
  if (!engine) co_return std::unexpected(engine.error());
  co_return make_paced(std::move(*engine), {.work = [this](bool begins) { work(begins); }});
}

}  // namespace weft::worker
