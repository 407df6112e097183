// A worker's connection to the coordinator: opens the socket, proves that the worker holds its key,
// decodes messages, and reconnects after every loss with exponential backoff and jitter. Its owner
// (work.h) handles the messages.
//
// Bytes that are not a message that may come now end the socket, with an Error to the other side;
// if a coordinator keeps sending such bytes, the connection retries less and less often. Threading
// and lifetime: the session's thread; may be destroyed at any time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/crypto/keys.h"
#include "common/proof/receipt.h"
#include "common/protocol/messages_fwd.h"
#include "common/protocol/result_frame.h"
#include "common/protocol/versions.h"
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
    std::uint64_t slice_memory_bytes = 0;  // The field of Hello.
    std::uint64_t price_min = 0;           // The field of Hello.
    // Host and port of the coordinator's URL, in the form that the connection uses.
    std::string host = {};
    // Requires that the coordinator proves its key. Off only in tests.
    bool wants_proof = true;
    // Checks a key that the coordinator has proved; an error ends the connection permanently. Not
    // set: every key is accepted.
    std::function<Result<>(const PublicKey&)> accept = {};
    // The operator's invitation for this coordinator; an empty text if there is none.
    std::function<std::string(const protocol::Challenge&)> invite = {};
    // Time limit from the opening of the socket to Welcome.
    Duration join_max = std::chrono::seconds(10);
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
    std::function<void(const protocol::OpenStates&)> open_states;
    std::function<void(const protocol::Yield&)> yield;
    std::function<void(std::string reason, Duration retry)> lost;
    std::function<void(Error error)> refused;  // The last event: no other one follows.
  };
  enum class State : std::uint8_t { closed, connecting, joining, ready, waiting };

  Connection(Host& host, crypto::Signer& signer, Options options, Handlers handlers);

  void open();
  // Ends the connection permanently; messages that were sent before still go out.
  void close();
  // Called when the machine woke up or the network came back: ends a backoff early, and tests a
  // connection that may be dead.
  void wake();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool ready() const { return state_ == State::ready; }
  // The coordinator that has proved its key last; zeros while a connection is being made.
  [[nodiscard]] const PublicKey& coordinator() const { return place_.coordinator; }

  // Sends a message; drops it while the connection is not ready, and if the coordinator's version
  // does not have it.
  void send(const protocol::WorkerMessage& message);
  // Sends a result, without roots of steps if the coordinator's version does not have them. False
  // if it does not fit into a frame.
  bool send(const protocol::ResultFrame& frame);
  // Signs a receipt and sends it; `sent` is called when the receipt is out or the socket is lost.
  void send_receipt(std::vector<protocol::ReceiptItem> items, std::function<void()> sent);
  // Sets the number of tasks that the worker takes; 0: paused. It is sent again after every
  // reconnect.
  void set_slots(std::uint32_t slots);

 private:
  void say_hello();
  void on_text(const std::string& text);
  void on_challenge(const protocol::Challenge& challenge);
  void prove(const protocol::Challenge& challenge);
  void on_welcome(const protocol::Welcome& welcome);
  void on_error(const protocol::ErrorMessage& message);
  // `frames` is the version of the frames that the coordinator reads.
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
  std::uint64_t epoch_ = 0;  // The socket's number; callbacks of earlier sockets are ignored.
  bool challenged_ = false;
  bool spoke_nonsense_ = false;  // True from an invalid message until the next valid one.
  int failures_ = 0;             // Failures in a row.
  // The protocol version of the frames on this socket: the first spoken one, until the challenge.
  std::uint32_t spoken_ = protocol::spoken_versions.first;
  proof::ReceiptPlace place_;  // The place for which this socket's receipts are signed.
  Alive alive_;
};

}  // namespace weft::worker
