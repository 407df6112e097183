// A worker's place in a chain with an embedding model. It serves alone, and processes waiting
// requests together, up to the bound on a pass through the layers.
//
// Threading: the host's thread. Lifetime: end() lets running calls finish; no messages follow.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>

#include "common/protocol/serving.h"
#include "worker/inference/serving_host.h"
#include "worker/inference/shard.h"

namespace weft::worker {

class Embedder : public std::enable_shared_from_this<Embedder> {
 public:
  using Tell = std::function<void(const protocol::serving::ServingWorkerMessage& message)>;

  Embedder(ServingHost& host, std::uint32_t epoch, std::shared_ptr<Shard> shard, Tell tell)
      : host_(host), epoch_(epoch), shard_(std::move(shard)), tell_(std::move(tell)) {}

  // Answers with one Answered. For an audit, a message with the vector's fingerprint precedes it.
  void ask(const protocol::serving::Ask& ask);
  void drop(std::uint32_t request);
  [[nodiscard]] std::size_t running() const { return waiting_.size() + under_way_.size(); }
  // `done` is called when the encoder is free again, possibly at once.
  void end(std::function<void()> done);

 private:
  [[nodiscard]] Async<> run();
  void fail_one(std::uint32_t request, const Error& error);
  void tell_one(const protocol::serving::Ask& ask, const std::vector<float>& vector);

  ServingHost& host_;
  const std::uint32_t epoch_;
  const std::shared_ptr<Shard> shard_;
  const Tell tell_;
  std::deque<protocol::serving::Ask> waiting_;
  std::set<std::uint32_t> under_way_;  // Requests in the current pass, without dropped ones.
  bool running_ = false, ended_ = false;
  std::function<void()> on_end_;
};

}  // namespace weft::worker
