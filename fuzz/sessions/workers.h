// A worker of a history. It greets, takes leases, and answers them rightly, wrongly, twice, late or
// never. It also sends every other message of a worker, in every wrong order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/protocol/codec.h"
#include "fuzz/sessions/world.h"

namespace weft::sessions {

class Worker {
 public:
  enum class Conduct : std::uint8_t { honest, any };

  Worker(World& world, std::size_t index) : world_(world), index_(index) {}

  // Does one act. An honest worker connects and answers the leases that it holds.
  void act(Conduct conduct);
  // Reads the messages of the connection, and answers those that cannot wait.
  void pump(Conduct conduct);
  void leave() { line_.reset(); }
  // Forgets everything of the coordinator that ended.
  void forget();

  [[nodiscard]] int file() const { return line_ ? line_->line.file() : -1; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] const crypto::KeyPair& key() const { return world_.workers[index_]; }
  [[nodiscard]] std::uint32_t address() const { return world_.address(20 + index_); }
  std::size_t right_answers = 0;

 private:
  struct Held {
    JobId job;
    protocol::LeasedTask task;
  };
  using Lease = std::pair<TaskId, std::uint32_t>;

  void connect(Conduct conduct);
  void hear(const std::string& text, Conduct conduct);
  void say(const protocol::WorkerMessage& message, Conduct conduct);
  void deliver(const Held& held, Conduct conduct);
  void deliver_held();
  void open(const protocol::OpenChunks& asked, Conduct conduct);
  void show_states(const protocol::OpenStates& asked, Conduct conduct);
  void save_state(const Held& held);
  void say_anything();
  void resume(Conduct conduct);
  [[nodiscard]] Held some_held();
  void put(const ByteVector& bytes);

  World& world_;
  const std::size_t index_;
  std::unique_ptr<WebSocket> line_;
  bool greeted_ = false;
  std::string token_;
  protocol::Hello hello_;
  protocol::Challenge challenge_;
  std::map<Lease, Held> held_;
  std::map<Lease, std::vector<ByteVector>> delivered_;
};

}  // namespace weft::sessions
