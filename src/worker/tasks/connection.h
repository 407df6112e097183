// A worker's line to the coordinator: opens the socket, shows that it holds its key, decodes what
// comes, and comes back after every loss with exponential backoff and jitter. What the messages
// mean is for its owner (work.h).
//
// Whatever is not a message that may come now ends the socket, with an Error said to the other
// side; a coordinator that keeps doing that is asked ever more rarely. Threading and lifetime: the
// session's thread; may be destroyed at any time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/crypto/keys.h"
#include "common/proof/receipt.h"
#include "common/protocol/messages_fwd.h"
#include "common/protocol/result_frame.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/host.h"

namespace weft::worker {

class Connection {
 public:
  struct Options {
    protocol::WorkerKind kind = protocol::WorkerKind::native;
    protocol::Capabilities capabilities;
    std::string software = "weft/0.1.0";
    std::uint32_t slots = 2;
    std::uint64_t slice_memory_bytes = 0;  // Hello's.
    std::uint64_t price_min = 0;           // The same.
    // Host and port of the coordinator's URL, as the connection asks for them.
    std::string host = {};
    // Only a coordinator that proves its key is joined; off in tests alone.
    bool wants_proof = true;
    // Whether a key that the coordinator has proved is the one that it must have; an error ends it
    // permanently. Nothing: any is taken.
    std::function<Result<>(const PublicKey&)> accept = {};
    // The operator's invitation for this coordinator; empty: none.
    std::function<std::string(const protocol::Challenge&)> invite = {};
    Duration join_max = std::chrono::seconds(10);  // From opening to Welcome.
    Duration backoff_first = std::chrono::milliseconds(250);
    Duration backoff_max = std::chrono::seconds(30);
  };
  struct Handlers {
    std::function<void()> connecting;
    std::function<void(const protocol::Welcome&)> ready;
    std::function<void(const protocol::Lease&)> lease;
    std::function<void(const protocol::Verdict&)> verdict;
    std::function<void(const protocol::Cancel&)> cancel;
    std::function<void(const protocol::OpenChunks&)> open;
    std::function<void(const protocol::Yield&)> yield;
    std::function<void(std::string reason, Duration retry)> lost;
    std::function<void(Error error)> refused;  // Final: nothing comes after it.
  };
  enum class State : std::uint8_t { closed, connecting, joining, ready, waiting };

  Connection(Host& host, crypto::Signer& signer, Options options, Handlers handlers);

  void open();
  // Ends it permanently; what was sent before still goes out.
  void close();
  // The machine woke up or the network came back: cuts a backoff short, and tries a connection that
  // may be dead.
  void wake();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool ready() const { return state_ == State::ready; }
  // The one that has proved its key last; while a connection is being made, none.
  [[nodiscard]] const PublicKey& coordinator() const { return place_.coordinator; }

  // Dropped while not ready.
  void send(const protocol::WorkerMessage& message);
  // False where it does not fit into a frame.
  bool send(const protocol::ResultFrame& frame);
  // Signs and sends; `sent` is called when it is out or the socket is lost.
  void send_receipt(std::vector<protocol::ReceiptItem> items, std::function<void()> sent);
  // 0: paused. Said again at every joining.
  void set_slots(std::uint32_t slots);

 private:
  void say_hello();
  void on_text(const std::string& text);
  void on_challenge(const protocol::Challenge& challenge);
  void prove(const protocol::Challenge& challenge);
  void on_welcome(const protocol::Welcome& welcome);
  void on_error(const protocol::ErrorMessage& message);
  // `frames`: the version in which the coordinator reads.
  void other_version(std::uint32_t coordinator, std::uint32_t frames);
  void refuse(Error error);
  void nonsense(const Error& error);
  void lose(std::string reason);
  template <class Function>
  auto while_this_socket(Function function);

  Host& host_;
  crypto::Signer& signer_;
  Options options_;
  Handlers handlers_;
  State state_ = State::closed;
  std::uint64_t epoch_ = 0;  // The socket's number; callbacks of earlier ones are ignored.
  bool challenged_ = false;
  bool spoke_nonsense_ = false;  // Until it sends something of use.
  int failures_ = 0;             // In a row.
  proof::ReceiptPlace place_;    // What this socket's receipts are signed for.
  Alive alive_;
};

}  // namespace weft::worker
