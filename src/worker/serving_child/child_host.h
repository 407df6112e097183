// The Host of serving in the confined process. The socket, blobs and chunks belong to the parent,
// which is asked for them; timers and engines are in this process.
//
// Threading: the loop's thread. Lifetime: the loop and the engine maker outlive this object.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>

#include "worker/inference/serving_host.h"
#include "worker/serving_child/child_loop.h"
#include "worker/serving_child/engine_maker.h"

namespace weft::worker {

class ChildHost final : public ServingHost {
 public:
  ChildHost(ChildLoop& loop, EngineMaker& engines) : loop_(loop), engines_(engines) {}

  // Handles a frame of the socket or a reply. Returns false for any other frame.
  bool take(const Frame& frame);

  void connect(SocketEvents events) override;
  void send_text(std::string text) override;
  void send_binary(ByteVector bytes) override;
  void close() override;
  void fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token,
                  std::function<void(Result<ByteVector>)> done) override;
  // Fails with unsupported, because serving stores no blobs.
  void put_blob(const Hash& hash, ByteVector bytes, std::string token,
                std::function<void(Result<>)> done) override;
  void after(Duration delay, std::function<void()> work) override {
    loop_.after(delay, std::move(work));
  }
  [[nodiscard]] Instant now() override { return weft::now(); }
  [[nodiscard]] double random() override {
    return std::uniform_real_distribution<double>(0, 1)(random_);
  }

  void fetch_range(const Hash& blob, std::uint64_t first, std::uint64_t count, std::string token,
                   std::function<void(Result<ByteVector>)> done) override;
  void read_chunk(const ModelFile& file, std::uint32_t chunk,
                  std::function<void(std::optional<ByteVector>)> done) override;
  void write_chunk(const ModelFile& file, std::uint32_t chunk, ByteVector bytes,
                   std::function<void(Result<>)> done) override;
  // Blocks until the parent answers, which it does at once.
  [[nodiscard]] Result<std::unique_ptr<gguf::Source>> open_file(const ModelFile& file) override;
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Engine>>> create_engine(
      const llm::Model& model, const gguf::Source& source, llm::EngineOptions options) override {
    return engines_.create(model, source, options);
  }
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Encoder>>> create_encoder(
      const llm::EncoderModel& model, const gguf::Source& source) override {
    return engines_.create_encoder(model, source);
  }

 private:
  using Done = std::function<void(Result<ByteVector>)>;
  // Sends a request to the parent; `fill` writes the fields after the request's number.
  void ask(ServingFrame kind, const std::function<void(Packer&)>& fill, Done done);

  ChildLoop& loop_;
  EngineMaker& engines_;
  SocketEvents events_;  // The callbacks of the newest connection.
  std::uint64_t connection_ = 0;
  std::uint64_t asks_ = 0;
  std::map<std::uint64_t, Done> waiting_;  // The waiting callbacks, keyed by the request's number.
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace weft::worker
