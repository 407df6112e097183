// The parent of the process that serves models (worker/serving_child). It starts the child,
// restarts it after its end, and gives it the connection to /v1/serve, parts of models, and direct
// links to other members of its chains. The child runs strangers' models: its requests are bounded,
// and it has no access to the wallet or to files, network and other processes of this machine.
//
// Threading: constructed and destroyed on any thread except the client's; begin() and join() on any
// thread; all other functions on the client's thread. Lifetime: the client and the lines outlive
// this object.
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
    std::vector<std::string> words = {"serving-child"};  // First arguments of the child's main().
    bool gpu = true;
    std::optional<std::size_t> adapter = {};  // Number of the GPU; default: the best one.
    bool unsafe = false;           // Serves even if required parts of the confinement are missing.
    std::filesystem::path models;  // Folder of the models' chunks.
    // Maximum bytes of chunks on disk; 0: no bound.
    std::uint64_t models_bytes_max = std::uint64_t{64} << 30;
    ServingSetup setup{};
    // Wait before a restart; doubles up to retry_max.
    Duration retry_min = std::chrono::seconds(1);
    Duration retry_max = std::chrono::seconds(60);
  };
  // `lines` may be null.
  ServingProcess(net::Client& client, PeerLines* lines, Options options);
  ServingProcess(const ServingProcess&) = delete;
  ~ServingProcess();

  // Called when the session has joined: the child serves with this token.
  void join(std::string token);
  // Process id of the running child; 0: none.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  // Runs on a thread of its own, because the kernel ends a child with the thread that started it.
  void run_children(const std::stop_token& stop);
  // Runs one child from its start to its end. Returns true if another one shall be started.
  bool run_child(const std::stop_token& stop);
  void say_errors(int errors);

  // The following functions run on the client's thread.
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
  std::string token_;                  // Token of the session; empty: none yet.
  std::uint64_t child_ = 0;            // Number of the current child, whose frames count.
  int socket_ = -1;                    // Socket to the child.
  std::size_t asked_ = 0;              // The child's requests that wait for the coordinator.
  bool condemned_ = false;             // The child is being ended; its frames no longer count.
  std::vector<std::uint32_t> chains_;  // Chains whose links the child has opened.
  std::uint64_t children_ = 0;         // Children started so far; used by thread_.
  std::string said_;                   // Unfinished last line of the child's log; used by thread_.
  std::size_t lines_said_ = 0;         // Lines logged in the current second.
  Instant said_since_{};               // Begin of the current second of lines_said_.
  std::atomic<pid_t> pid_ = 0;
  std::atomic<std::uint64_t> untaken_bytes_ = 0;  // Bytes of frames posted to the client's thread.
  std::mutex ending_;                          // Guards pid_, so that no reused pid is signalled.
  std::optional<Alive> alive_{std::in_place};  // Reset only on the client's thread.
  std::jthread thread_;
};

}  // namespace weft::worker
