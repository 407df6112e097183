// The sockets of workers that serve models (/v1/serve). A worker's first message must be an offer
// with the token of its connection for tasks; later messages go to the desk.
//
// Threading: the route's handlers run on the server's threads, all else on the thread of inference.
// Lifetime: outlives the server's handlers.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apps/coordinator/http/inference_thread.h"
#include "decisions/inference/desk.h"
#include "decisions/jobs/book.h"
#include "platform/net/server.h"

namespace weft::coordinator {

class ServingSockets {
 public:
  ServingSockets(InferenceThread& thread, jobs::Book& book) : thread_(thread), book_(book) {}

  [[nodiscard]] net::SocketRoute route();

  // Sends a message to a worker; has no effect if its connection is closed. A worker that is told
  // to load a model gets the right to read the model's blobs.
  void send(inference::ServingId session,
            const protocol::serving::ServingCoordinatorMessage& message);
  void send_hop(inference::ServingId session, ByteVector frame);
  void close(inference::ServingId session, const std::string& reason);

 private:
  void on_text(const std::shared_ptr<net::Peer>& peer, const std::string& text);
  void on_binary(const std::shared_ptr<net::Peer>& peer, const std::string& bytes);
  void on_closed(inference::ServingId id);
  // Handles a worker's message on the thread of inference.
  void hear(inference::ServingId id, const protocol::serving::ServingWorkerMessage& message,
            inference::Desk& desk, Instant time);
  void join(inference::ServingId id, const std::optional<PublicKey>& key,
            const protocol::serving::Offer& offer, inference::Desk& desk, Instant time);

  InferenceThread& thread_;
  jobs::Book& book_;
  std::map<inference::ServingId, std::shared_ptr<net::Peer>> peers_;
  std::map<inference::ServingId, PublicKey> joined_;
};

}  // namespace weft::coordinator
