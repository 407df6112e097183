// The process that serves models (worker/serving_child), seen from its parent: starts it, gives it
// the connection to /v1/serve, parts of models and lines to other members, starts it again after
// its end. It runs strangers' models: what it asks is bounded, and it has neither the wallet nor
// files, network or other processes of this machine.
//
// Threading: made and destroyed anywhere except on the client's thread; begin() and join() from
// anywhere; the rest is on the client's thread. Lifetime: the client and the lines outlive it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/worker/native/chunk_folder.h"
#include "apps/worker/native/native_host.h"
#include "platform/net/client.h"
#include "worker/sandbox/spawn.h"
#include "worker/serving_child/messages.h"
#include "worker/tasks/alive.h"

namespace weft::worker {

class ServingProcess {
 public:
  struct Options {
    std::filesystem::path program = "/proc/self/exe";
    std::vector<std::string> words = {"serving-child"};  // Before those that its main() reads.
    bool gpu = true;
    std::optional<std::size_t> adapter = {};  // The GPU's number; the best one without.
    bool unsafe = false;           // Serves although required parts of the confinement miss.
    std::filesystem::path models;  // Folder of chunks.
    std::uint64_t models_bytes_max = std::uint64_t{64} << 30;  // On disk; 0: no bound.
    ServingSetup setup{};
    Duration retry_min = std::chrono::seconds(1);  // Before it starts again; doubles up to
    Duration retry_max = std::chrono::seconds(60);
  };
  // `lines` may be null.
  ServingProcess(net::Client& client, PeerLines* lines, Options options);
  ServingProcess(const ServingProcess&) = delete;
  ~ServingProcess();

  // The session is there: the child serves with this token.
  void join(std::string token);
  // That of the child that runs; 0: none.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  // On a thread of its own, since the kernel ends a child with the thread that started it.
  void run_children(const std::stop_token& stop);
  // One child from its start to its end; whether another is to be started.
  bool run_child(const std::stop_token& stop);
  void say_errors(int errors);

  // On the client's thread.
  void begun(std::uint64_t child, int socket);
  void ended(std::uint64_t child);
  void take(std::uint64_t child, const Frame& frame);
  Result<> act(const Frame& frame);
  Result<> answer(ServingFrame kind, Unpacker& in);
  void answer_file(ServingFrame kind, std::uint64_t ask, Unpacker& in);
  void connect(std::uint64_t connection);
  void open_lines(const PeerLines::Chain& chain);
  void send(ServingFrame kind, ByteSpan payload);
  void reply(std::uint64_t child, std::uint64_t ask, Result<ByteVector> result);

  net::Client& client_;
  PeerLines* const lines_;
  const Options options_;
  const ChunkFolder chunks_;
  std::unique_ptr<NativeHost> host_;
  std::string token_;                  // The session's; empty: none yet.
  std::uint64_t child_ = 0;            // Which child's frames count.
  int socket_ = -1;                    // To it.
  std::size_t asked_ = 0;              // Questions of it that wait for the coordinator.
  bool condemned_ = false;             // It is being ended: no part of it counts.
  std::vector<std::uint32_t> chains_;  // Those that it opened.
  std::uint64_t children_ = 0;         // Started so far; on the thread below.
  std::string said_;                   // What a child wrote and did not end a line; there, too.
  std::size_t lines_said_ = 0;         // Within a second,
  Instant said_since_{};               // from here.
  std::atomic<pid_t> pid_ = 0;
  std::atomic<std::uint64_t> untaken_bytes_ = 0;  // Frames on their way to the client's thread.
  std::mutex ending_;  // Over pid_: a child that was waited for is not signalled.
  std::optional<Alive> alive_{std::in_place};  // Ends on the client's thread.
  std::jthread thread_;
};

}  // namespace weft::worker
