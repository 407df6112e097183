#include "worker/serving_child/engine_maker.h"

#include <algorithm>
#include <utility>

#include "engine/gpu/native/instance.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/encoders/gpu/gpu_encoder.h"
#include "engine/llm/gpu/gpu_engine.h"
#include "engine/llm/run_now.h"
#include "worker/inference/paced_engine.h"

namespace weft::worker {

namespace {

// An encoder that computes on a thread of its own.
class EncoderElsewhere final : public llm::Encoder {
 public:
  EncoderElsewhere(std::unique_ptr<llm::Encoder> encoder, CallThread& calls)
      : encoder_(std::move(encoder)), calls_(calls) {}

  const llm::EncoderConfig& config() const override { return encoder_->config(); }
  std::string device() const override { return encoder_->device(); }
  std::size_t rows_together() const override { return encoder_->rows_together(); }
  Async<Result<llm::Vectors>> embed(std::vector<std::vector<llm::Token>> texts) override {
    std::optional<Result<llm::Vectors>> vectors;
    co_await calls_.run([&] { vectors.emplace(llm::run_now(encoder_->embed(std::move(texts)))); });
    co_return std::move(*vectors);
  }

 private:
  const std::unique_ptr<llm::Encoder> encoder_;
  CallThread& calls_;
};

// An encoder that waits for a device: `work` is called at the begin and end of its work.
class PumpedEncoder final : public llm::Encoder {
 public:
  PumpedEncoder(std::unique_ptr<llm::Encoder> encoder, std::function<void(bool begins)> work)
      : encoder_(std::move(encoder)), work_(std::move(work)) {}

  const llm::EncoderConfig& config() const override { return encoder_->config(); }
  std::string device() const override { return encoder_->device(); }
  std::size_t rows_together() const override { return encoder_->rows_together(); }
  Async<Result<llm::Vectors>> embed(std::vector<std::vector<llm::Token>> texts) override {
    work_(true);
    auto vectors = co_await encoder_->embed(std::move(texts));
    work_(false);
    co_return vectors;
  }

 private:
  const std::unique_ptr<llm::Encoder> encoder_;
  const std::function<void(bool begins)> work_;
};

}  // namespace

CallThread& EngineMaker::calls() {
  if (calls_ == nullptr)
    calls_ = std::make_unique<CallThread>(
        [this](std::function<void()> work) { loop_.post(std::move(work)); });
  return *calls_;
}

Async<Result<std::unique_ptr<llm::Encoder>>> EngineMaker::create_encoder(
    const llm::EncoderModel& model, const gguf::Source& source) {
  if (options_.gpu && llm::gpu_encoder_possible(model.config)) {
    work(true);
    if (const auto opened = co_await open_device(); !opened) {
      work(false);
      co_return std::unexpected(opened.error());
    }
    auto made = co_await llm::create_gpu_encoder(*device_, model, source);
    work(false);
    if (!made) co_return std::unexpected(made.error());
    co_return std::make_unique<PumpedEncoder>(std::move(*made),
                                              [this](bool begins) { work(begins); });
  }
  std::optional<Result<std::unique_ptr<llm::Encoder>>> encoder;
  co_await calls().run([&] { encoder.emplace(llm::Encoder::create(model, source)); });
  if (!*encoder) co_return std::unexpected(encoder->error());
  co_return std::make_unique<EncoderElsewhere>(std::move(**encoder), *calls_);
}

// Counts the work in progress. While there is some, the device is polled in alternation with the
// loop's events.
void EngineMaker::work(bool begins) {
  if (instance_ == nullptr) instance_ = gpu::native::create_instance();
  working_ = begins ? working_ + 1 : working_ - 1;
  if (working_ > 0 && !std::exchange(pumping_, true)) pump();
}

void EngineMaker::pump() {
  loop_.next_turn(alive_.guard([this] {
    if (working_ > 0) {
      constexpr auto poll_max = std::chrono::milliseconds(1);
      const Instant begun = now();
      const bool resumed = instance_->poll(poll_max);
      if (working_ > 0) {
        // The work in progress may be on another thread, for which poll() does not wait.
        const bool waited = now() - begun >= poll_max / 2;
        return resumed || waited
                   ? pump()
                   : loop_.after(std::chrono::microseconds(100), alive_.guard([this] { pump(); }));
      }
    }
    pumping_ = false;
  }));
}

Async<Result<>> EngineMaker::open_device() {
  if (device_ != nullptr && !device_->lost().has_value()) co_return Result<>();
  auto made = co_await instance_->create_device({.label = "weft serving", .trusted_shaders = true},
                                                options_.adapter);
  if (!made && !options_.refused_driver.empty())
    made.error().message += " " + options_.refused_driver;
  WEFT_CO_ASSIGN(device_, std::move(made));
  co_return Result<>();
}

Async<Result<std::unique_ptr<llm::Engine>>> EngineMaker::create(const llm::Model& model,
                                                                const gguf::Source& source,
                                                                llm::EngineOptions options) {
  // The most sequences on a CPU: it processes them one by one, so more sequences would only share
  // its time.
  constexpr std::uint32_t sequences_cpu = 4;
  if (!options_.gpu) {
    options.sequences = std::min(options.sequences, sequences_cpu);
    std::optional<Result<std::unique_ptr<llm::Engine>>> engine;
    co_await calls().run([&] { engine.emplace(llm::create_cpu_engine(model, source, options)); });
    if (!*engine) co_return std::unexpected(engine->error());
    co_return make_paced(
        std::move(**engine),
        {.elsewhere = [this](std::function<void()> call) { return calls_->run(std::move(call)); },
         .now = [] { return weft::now(); }});
  }
  work(true);
  if (const auto opened = co_await open_device(); !opened) {
    work(false);
    co_return std::unexpected(opened.error());
  }
  // Maximum number of sequences on a software GPU.
  constexpr std::uint32_t sequences_software = 16;
  if (device_->adapter().kind == gpu::AdapterKind::cpu)
    options.sequences = std::min(options.sequences, sequences_software);
  options.sequences = llm::sequences_that_fit(*device_, model, options);
  auto engine = co_await llm::create_gpu_engine(*device_, model, source, options, {},
                                                llm::CompileKernels::at_load);
  work(false);
  if (!engine) co_return std::unexpected(engine.error());
  co_return make_paced(std::move(*engine), {.work = [this](bool begins) { work(begins); }});
}

}  // namespace weft::worker
