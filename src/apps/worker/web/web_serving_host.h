// Serving in a browser: a WebSocket and range requests of the Worker, chunks in OPFS, and engines
// on a GPU device of their own or on the CPU.
//
// Threading: the Worker's one thread. Lifetime: outlives the engines and sources that it made.
#pragma once

#include <memory>
#include <string>

#include "apps/worker/web/web_host.h"
#include "engine/gpu/device.h"
#include "worker/inference/serving_host.h"

namespace weft::worker::web {

class WebServingHost final : public ServingHost {
 public:
  WebServingHost(std::string origin, bool gpu) : host_(std::move(origin), "/v1/serve"), gpu_(gpu) {}
  ~WebServingHost() override;

  // Sets the share of the time for the engines that this host made.
  void throttle(double share) { share_ = share; }

  void connect(SocketEvents events) override { host_.connect(std::move(events)); }
  void send_text(std::string text) override { host_.send_text(std::move(text)); }
  void send_binary(ByteVector bytes) override { host_.send_binary(std::move(bytes)); }
  void close() override { host_.close(); }
  void fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token,
                  std::function<void(Result<ByteVector>)> done) override {
    host_.fetch_blob(hash, bytes_max, std::move(token), std::move(done));
  }
  void put_blob(const Hash& hash, ByteVector bytes, std::string token,
                std::function<void(Result<>)> done) override {
    host_.put_blob(hash, std::move(bytes), std::move(token), std::move(done));
  }
  void after(Duration delay, std::function<void()> work) override {
    host_.after(delay, std::move(work));
  }
  [[nodiscard]] Instant now() override { return host_.now(); }
  [[nodiscard]] double random() override { return host_.random(); }

  void fetch_range(const Hash& blob, std::uint64_t first, std::uint64_t count, std::string token,
                   std::function<void(Result<ByteVector>)> done) override;
  void read_chunk(const ModelFile& file, std::uint32_t chunk,
                  std::function<void(std::optional<ByteVector>)> done) override;
  void write_chunk(const ModelFile& file, std::uint32_t chunk, ByteVector bytes,
                   std::function<void(Result<>)> done) override;
  [[nodiscard]] Result<std::unique_ptr<gguf::Source>> open_file(const ModelFile& file) override;
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Engine>>> create_engine(
      const llm::Model& model, const gguf::Source& source, llm::EngineOptions options) override;
  // Makes an encoder that lets the event loop run before each pass on the GPU, or between layers on
  // the CPU.
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Encoder>>> create_encoder(
      const llm::EncoderModel& model, const gguf::Source& source) override;

 private:
  [[nodiscard]] Async<Result<>> open_device();
  // Lets the event loop run, and then rests in proportion to the work since the last call, so that
  // the engine keeps its share of the time.
  [[nodiscard]] Async<> layer_turn();

  WebHost host_;
  const bool gpu_;
  double share_ = 1;
  Instant layer_begun_{};  // Start of an encoder's latest layer or pass.
  std::unique_ptr<gpu::Instance> instance_;
  std::unique_ptr<gpu::Device> device_;
};

}  // namespace weft::worker::web
