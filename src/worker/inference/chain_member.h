// This worker's place in one chain, for one epoch. The first member generates: it takes requests,
// draws tokens of many requests together, and reports tokens a few at a time. If the chain has
// several members, the other members are the stages after the first. A member whose shard weighs
// answers reads each answer of an audit twice, and takes no other requests.
//
// Threading: the host's thread. Lifetime: end() lets running calls finish; no messages follow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/crypto/keys.h"
#include "common/protocol/hops.h"
#include "common/protocol/serving.h"
#include "engine/llm/chain/chain_engine.h"
#include "engine/llm/chain/chain_stage.h"
#include "engine/llm/generator.h"
#include "worker/inference/embedder.h"
#include "worker/inference/frame_logs.h"
#include "worker/inference/serving_host.h"
#include "worker/inference/shard.h"

namespace weft::worker {

class ChainMember : public std::enable_shared_from_this<ChainMember> {
 public:
  struct Lines {
    // Sends a message to another member of the chain.
    std::function<void(std::uint16_t to, ByteVector message)> send;
    std::function<void(const protocol::serving::ServingWorkerMessage& message)>
        tell;  // Sends a message to the coordinator.
    // Used if the link tells members to commit to their frames. Both outlive the member.
    FrameLogs* frames = nullptr;
    crypto::Signer* signer = nullptr;
  };
  [[nodiscard]] static std::shared_ptr<ChainMember> create(ServingHost& host,
                                                           protocol::serving::Link link,
                                                           std::shared_ptr<Shard> shard,
                                                           Lines lines);

  [[nodiscard]] const protocol::serving::Link& link() const { return link_; }
  [[nodiscard]] bool is_first() const { return link_.index == 0; }
  [[nodiscard]] std::size_t running() const {
    return requests_.size() + (embedder_ ? embedder_->running() : 0);
  }

  // Handles a frame of another member. An invalid frame is reported as Broken.
  void receive(const protocol::serving::HopFrame& frame);
  void ask(const protocol::serving::Ask& ask);
  void drop(std::uint32_t request);
  // `done` is called when the shard's engine is free again, possibly at once.
  void end(std::function<void()> done);

 private:
  struct Request {
    bool wanted = true;
    std::uint32_t told = 0;  // Tokens of the answer reported so far, also by other chains.
    std::vector<protocol::serving::Token> tokens;
    std::vector<protocol::serving::Print> prints, beside;
    std::uint32_t prompt_tokens = 0;
    bool telling = false;                 // A report is scheduled.
    std::uint32_t redrawn = 0;            // Tokens that an audit drew again.
    std::vector<std::uint32_t> doubtful;  // Tokens that the settings would not give.
  };

  ChainMember(ServingHost& host, protocol::serving::Link link, std::shared_ptr<Shard> shard,
              Lines lines);
  void begin();
  // Runs a generator unless it runs already. `running` is its flag, a member of this object.
  void run(llm::Generator& generator, bool& running);
  void check_ended();
  void on_token(std::uint32_t number, const llm::GeneratedToken& token);
  // The final state of a position in the reading with the model's own weights, or with those of
  // Shard::beside().
  enum class Weights : std::uint8_t { own, beside };
  void on_hidden(std::uint32_t number, Weights weights, std::uint32_t tokens,
                 std::span<const float> hidden);
  // Reads the answer of an audit with the weights of Shard::beside(). `read` is the result of the
  // first reading.
  void read_beside(const protocol::serving::Ask& ask, llm::Generation read);
  void tell_tokens(std::uint32_t number);
  void on_done(std::uint32_t number, std::uint32_t prompt_tokens,
               Result<llm::Generation> generation);
  // Logs a frame of the line `line`, the number of the member that sends on it.
  void log(std::uint32_t line, ByteSpan message);
  void tell_block(const proof::FrameBlock& block);
  void broken(std::uint32_t member, std::string message);

  ServingHost& host_;
  const protocol::serving::Link link_;
  const std::shared_ptr<Shard> shard_;
  const Lines lines_;
  protocol::serving::HopJoiner joiner_;
  std::unique_ptr<llm::ChainEngine> chain_;  // Set in a first member of several.
  std::unique_ptr<llm::Generator> generator_;
  std::unique_ptr<llm::Generator> beside_;  // Set if the shard weighs answers.
  std::shared_ptr<llm::ChainStage> stage_;
  std::shared_ptr<Embedder> embedder_;  // Set for an embedding model; does all of its work.
  std::map<std::uint32_t, Request> requests_;
  bool running_ = false;
  bool running_beside_ = false;
  bool ended_ = false;
  std::function<void()> on_end_;
};

}  // namespace weft::worker
