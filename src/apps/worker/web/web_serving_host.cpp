#include "apps/worker/web/web_serving_host.h"

#include <algorithm>
#include <utility>

#include "apps/worker/web/imports.h"
#include "apps/worker/web/serving_imports.h"
#include "engine/gpu/web/instance.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/encoders/gpu/gpu_encoder.h"
#include "engine/llm/gpu/gpu_engine.h"
#include "worker/inference/paced_engine.h"

namespace weft::worker::web {
namespace {

// The stored chunks as a file that is read synchronously.
class ChunkSource final : public gguf::Source {
 public:
  explicit ChunkSource(const ModelFile& file) : file_(file), name_(file.hash.text()) {}

  [[nodiscard]] std::uint64_t bytes() const override { return file_.bytes; }
  [[nodiscard]] std::optional<ByteSpan> view(std::uint64_t, std::uint64_t) const override {
    return std::nullopt;
  }
  [[nodiscard]] Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (offset > file_.bytes || out.size() > file_.bytes - offset)
      return fail(ErrorCode::invalid_argument,
                  "The range of {} bytes at {} lies past the end of the model ({} bytes).",
                  out.size(), offset, file_.bytes);
    while (!out.empty()) {
      const auto chunk = static_cast<std::uint32_t>(offset / file_.chunk_bytes);
      const std::uint64_t first = offset - file_.chunk_begin(chunk);
      const auto part = out.first(static_cast<std::size_t>(
          std::min<std::uint64_t>(out.size(), file_.chunk_size(chunk) - first)));
      if (weft_chunk_view(name_.data(), static_cast<std::uint32_t>(name_.size()), chunk,
                          static_cast<std::uint32_t>(first), part.data(),
                          static_cast<std::uint32_t>(part.size())) == 0)
        return fail(ErrorCode::data_loss,
                    "Chunk {} of the model is not kept in this browser any more.", chunk);
      out = out.subspan(part.size());
      offset += part.size();
    }
    return {};
  }

 private:
  const ModelFile file_;
  const std::string name_;
};

Async<> turn() {
  const Pending<bool> come;
  weft_turn(new TimerCallback{[come] { come.set(true); }});
  (void)co_await come;
}

Async<> rest(Duration duration) {
  const Pending<bool> come;
  weft_timer(new TimerCallback{[come] { come.set(true); }}, seconds(duration) * 1000);
  (void)co_await come;
}

FetchCallback* callback_of(std::function<void(Result<ByteVector>)> done) {
  return new FetchCallback{[done = std::move(done)](std::string_view code, ByteSpan data) {
    if (!code.empty()) return done(fail(error_code_from(code), "{}", as_text(data)));
    done(ByteVector(data.begin(), data.end()));
  }};
}

}  // namespace

WebServingHost::~WebServingHost() = default;

void WebServingHost::fetch_range(const Hash& blob, std::uint64_t first, std::uint64_t count,
                                 std::string token, std::function<void(Result<ByteVector>)> done) {
  const std::string url = host_.origin() + "/v1/blobs/" + blob.text();
  weft_range_get(callback_of(std::move(done)), url.data(), static_cast<std::uint32_t>(url.size()),
                 token.data(), static_cast<std::uint32_t>(token.size()), static_cast<double>(first),
                 static_cast<double>(count));
}

void WebServingHost::read_chunk(const ModelFile& file, std::uint32_t chunk,
                                std::function<void(std::optional<ByteVector>)> done) {
  const std::string name = file.hash.text();
  const auto take = [done = std::move(done)](Result<ByteVector> bytes) {
    done(bytes ? std::optional(std::move(*bytes)) : std::nullopt);
  };
  weft_chunk_read(callback_of(take), name.data(), static_cast<std::uint32_t>(name.size()), chunk);
}

void WebServingHost::write_chunk(const ModelFile& file, std::uint32_t chunk, ByteVector bytes,
                                 std::function<void(Result<>)> done) {
  const std::string name = file.hash.text();
  const auto take = [done = std::move(done)](const Result<ByteVector>& written) {
    done(written ? Result<>() : Result<>(std::unexpected(written.error())));
  };
  weft_chunk_write(callback_of(take), name.data(), static_cast<std::uint32_t>(name.size()), chunk,
                   bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}

Result<std::unique_ptr<gguf::Source>> WebServingHost::open_file(const ModelFile& file) {
  return std::make_unique<ChunkSource>(file);
}

Async<Result<std::unique_ptr<llm::Engine>>> WebServingHost::create_engine(
    const llm::Model& model, const gguf::Source& source, llm::EngineOptions options) {
  // The most sequences by device: few on a CPU, which processes them one after the other, and a
  // bounded number on a GPU, which a tab shares with the page.
  constexpr std::uint32_t sequences_cpu = 4, sequences_gpu = 32, sequences_software = 8;
  options.sequences = std::min(options.sequences, gpu_ ? sequences_gpu : sequences_cpu);
  if (!gpu_) {
    WEFT_CO_ASSIGN(auto engine, llm::create_cpu_engine(model, source, options));
    co_return make_paced(std::move(engine), {.before = turn,
                                             .now = [this] { return host_.now(); },
                                             .share = [this] { return share_; },
                                             .rest = rest});
  }
  WEFT_CO_OK(co_await open_device());
  if (device_->adapter().kind == gpu::AdapterKind::cpu)
    options.sequences = std::min(options.sequences, sequences_software);
  options.sequences = llm::sequences_that_fit(*device_, model, options);
  WEFT_CO_ASSIGN(auto engine, co_await llm::create_gpu_engine(*device_, model, source, options, {},
                                                              llm::CompileKernels::at_load));
  co_return make_paced(std::move(engine), {.share = [this] { return share_; }, .rest = rest});
}

Async<Result<>> WebServingHost::open_device() {
  if (instance_ == nullptr) instance_ = gpu::web::create_instance();
  if (device_ != nullptr && !device_->lost().has_value()) co_return Result<>();
  WEFT_CO_ASSIGN(device_, co_await instance_->create_device(
                              {.label = "weft serving", .trusted_shaders = true}));
  co_return Result<>();
}

Async<Result<std::unique_ptr<llm::Encoder>>> WebServingHost::create_encoder(
    const llm::EncoderModel& model, const gguf::Source& source) {
  if (gpu_ && llm::gpu_encoder_possible(model.config)) {
    WEFT_CO_OK(co_await open_device());
    // A software GPU gets fewer rows, so that a pass does not take long.
    constexpr std::uint32_t rows_gpu = 4096, rows_software = 256;
    const bool software = device_->adapter().kind == gpu::AdapterKind::cpu;
    co_return co_await llm::create_gpu_encoder(
        *device_, model, source,
        {.rows = software ? rows_software : rows_gpu, .between = [this] { return layer_turn(); }});
  }
  co_return llm::Encoder::create(model, source,
                                 {.threads = 1, .between = [this] { return layer_turn(); }});
}

Async<> WebServingHost::layer_turn() {
  // The maximum time that counts as work of one layer.
  constexpr Duration layer_max = std::chrono::seconds(2);
  const Duration worked = std::min(now() - layer_begun_, layer_max);
  co_await turn();
  if (share_ < 1)
    co_await rest(std::chrono::duration_cast<Duration>(worked * ((1 - share_) / share_)));
  layer_begun_ = now();
}

}  // namespace weft::worker::web
