// What happens to the coordinator's core, as plain data. Everything in here has been checked as far as that needs no state:
// signatures fit, bytes have their hashes and roots, manifests keep every rule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/manifest/manifest.h"
#include "common/protocol/messages.h"
#include "service/store/records.h"

namespace weft::coordinator {

// One connection of one worker.
using SessionId = std::uint64_t;

// The time of an event, on both clocks.
struct Moment {
  Instant at;
  UnixMillis unix = 0;
};

// A job that a client signed. Its data are blobs that are stored.
struct Submission {
  PublicKey client;
  store::SubmitNonce nonce{};
  std::shared_ptr<const manifest::Manifest> manifest;
  std::string manifest_text;  // manifest::to_json() of it,
  Hash manifest_hash;         // which is this blob.
};

// A worker has shown that it holds its key.
struct Arrival {
  SessionId session = 0;
  protocol::Hello hello;
  std::string blob_token;
};

// A result whose outputs are stored and have the root that it claims.
struct Delivery {
  SessionId session = 0;
  PublicKey worker;
  protocol::TaskResult result;
};

// A result that was delivered, and whether it agrees with others of its task.
struct Comparison {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  std::vector<std::pair<Hash, bool>> agreements;  // With the results of these roots.
};

// A receipt whose signature fits.
struct CoveringReceipt {
  SessionId session = 0;
  store::Receipt receipt;
  std::vector<protocol::ReceiptItem> items;
  ByteVector statement;  // What was signed is the SHA-256 of this, the receipt's digest.
};

// Answers one request, after everything that it tells of is durable.
template <class T>
using Answer = std::function<void(Result<T>)>;

}  // namespace weft::coordinator
