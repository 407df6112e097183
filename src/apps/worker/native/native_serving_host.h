// Serving natively: its WebSocket, blobs and timers on one net::Client, chunks in a folder, engines
// on this machine's GPU (through Dawn, pumped between the client's events) or its processor (on a
// thread of their own).
//
// Threading: made anywhere; everything else on the client's thread. Lifetime: outlived by the
// client.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "apps/worker/native/call_thread.h"
#include "apps/worker/native/chunk_folder.h"
#include "apps/worker/native/native_host.h"
#include "engine/gpu/run.h"
#include "worker/inference/serving_host.h"
#include "worker/tasks/alive.h"

namespace weft::worker {

class NativeServingHost final : public ServingHost {
 public:
  struct Options {
    bool gpu = true;
    std::optional<std::size_t> adapter = {};  // The GPU's number; the best one without.
    std::filesystem::path
        cache;  // This program's folder: chunks in models/, pipelines in pipelines/.
    std::uint64_t models_bytes_max = std::uint64_t{64} << 30;  // On disk; 0: no bound.
  };
  NativeServingHost(net::Client& client, Options options);
  ~NativeServingHost() override;

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

 private:
  void work(bool begins);
  void pump();

  net::Client& client_;
  const Options options_;
  NativeHost host_;
  ChunkFolder chunks_;
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::size_t working_ = 0;
  bool pumping_ = false;
  std::unique_ptr<CallThread> calls_;  // For engines on the processor.
  Alive alive_;
};

}  // namespace weft::worker
