// Results whose larger outputs are being uploaded, until their roots may be signed
// (signing_memory.h).
//
// An upload that fails for a temporary reason is tried again, for as long as there is no
// connection. Threading and lifetime: the session's thread; may be destroyed at any time; the
// outcomes of uploads are then dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/manifest/split.h"
#include "common/protocol/result_frame.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/connection.h"
#include "worker/tasks/host.h"
#include "worker/tasks/leased_task.h"
#include "worker/tasks/signing_memory.h"

namespace weft::worker {

struct Delivered {
  protocol::ResultFrame frame;
  // The part of the task that the result is for. If it is empty, the result is for the whole task,
  // and a second, different result would be evidence against this device. Parts (audits, polls) are
  // leased under the same attempt as other parts of the task, and their claims are signed with a
  // different word.
  manifest::Range part{};
  std::optional<Error> error;  // The reason why the result cannot be handed on.
};

class Deliveries {
 public:
  using Done = std::function<void(const TaskKey& key, Delivered delivered)>;

  // `signing` is null if no roots are remembered; results are then signed without a check. `done`
  // is called once for each result that is not taken back.
  Deliveries(Host& host, const Connection& connection, const WorkSession& session,
             SigningMemory* signing, Done done);

  // Starts the delivery of a result. The frame holds all of the result but its outputs; outputs
  // that fit are put into the frame.
  void start(const TaskKey& key, Delivered result, std::vector<ByteVector> outputs);
  // False if there is no such result.
  bool take_back(const TaskKey& key) { return deliveries_.erase(key) > 0; }
  // Takes back all results, and returns their keys.
  [[nodiscard]] std::vector<TaskKey> take_back_all();

  [[nodiscard]] bool contains(const TaskKey& key) const { return deliveries_.contains(key); }
  [[nodiscard]] std::vector<TaskKey> keys() const;
  [[nodiscard]] std::size_t size() const { return deliveries_.size(); }

 private:
  struct Delivery {
    std::uint64_t serial = 0;
    Delivered result;
    std::size_t uploads = 0;
  };
  struct Upload {
    TaskKey key;
    std::uint64_t delivery = 0;  // The serial number of the delivery that the upload belongs to.
    Hash hash;
    std::shared_ptr<const ByteVector> bytes;
    int attempt = 1;
  };
  void upload(Upload upload);
  void uploaded(const TaskKey& key, Result<> result);
  // Once the outputs are uploaded: asks whether the root may be signed, then hands the result on.
  void admit(const TaskKey& key);
  void deliver(const TaskKey& key);
  [[nodiscard]] bool is_wanted(const Upload& upload) const;

  Host& host_;
  const Connection& connection_;
  const WorkSession& session_;
  SigningMemory* const signing_;
  Done done_;
  std::map<TaskKey, Delivery> deliveries_;
  std::uint64_t serial_ = 0;
  Alive alive_;
};

}  // namespace weft::worker
