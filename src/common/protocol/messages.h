// Every message between a worker and the coordinator, as structs. codec.h turns them into frames
// and back.
//
//   worker                               coordinator
//   Hello{versions, key, nonce ...}  ->
//                                    <-  Challenge{nonce, coordinator, signature}: proves its key
//   Prove{signature}                 ->  signs hello_digest()
//                                    <-  Welcome{session...}
//   Resume{held tasks}               ->  after a reconnect, once
//                                    <-  Lease{job, tasks...}
//   Result{task, root, outputs}+bytes->
//   Receipt{items, signature}        ->  one signature for a batch of results
//                                    <-  OpenChunks{task, chunks}: an audit asks for Merkle paths
//   Opening{roots, paths}            ->
//                                    <-  OpenStates{task, groups}: a check asks for states
//   States{task, states}             ->  the states between steps, stored by PUT before
//                                    <-  Verdict{task, accepted, paid}
//   Checkpoint{task, blob, done}     ->  the saved state of a long task, stored by PUT before
//                                    <-  Yield{task}: stop at the next checkpoint
//
// Either side may send Error and close. Text frames carry messages; Result travels as a binary
// frame with its bytes.
#pragma once

#include <cstdint>
#include <string>

#include "common/protocol/coordinator_message.h"
#include "common/protocol/hello.h"
#include "common/protocol/leases.h"
#include "common/protocol/messages_fwd.h"
#include "common/protocol/results.h"

namespace weft::protocol {

struct Beat {
  std::uint32_t running = 0;
};
struct Slots {
  std::uint32_t slots = 1;  // 0: paused; the worker finishes the tasks that it holds.
};
struct Bye {
  std::string reason{};  // The worker leaves on purpose; its tasks go to other workers at once.
};

}  // namespace weft::protocol
