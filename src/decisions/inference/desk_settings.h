// The times, bounds and choices of the desk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/protocol/serving.h"
#include "decisions/inference/plan_backoff.h"
#include "decisions/mesh/partition.h"

namespace weft::inference {

struct DeskSettings {
  Duration pulse = std::chrono::milliseconds(500);
  Duration silent_max = std::chrono::milliseconds(1600);  // Three pulses and a little.
  Duration silent_busy_max =
      std::chrono::seconds(20);  // While it loads: putting weights on a device takes the thread.
  Duration load_max = std::chrono::minutes(10);
  Duration link_max = std::chrono::seconds(10);
  Duration stall_max = std::chrono::seconds(30);  // A chain with requests that draws nothing.
  Duration patience = std::chrono::seconds(60);   // A request for which there is no chain.
  PlanBackoff::Times plan_again{};                // After no chain could be planned.
  // Another chain of a model once a request has waited so long while all are full; one chain less
  // once there was so long no more to do than such a part of what one less could.
  Duration grow_after = std::chrono::seconds(1);
  Duration shrink_after = std::chrono::minutes(1);
  double shrink_share = 0.5;
  std::uint32_t sequences = 4;  // Requests at a time that a model or a part of one is placed for.
  std::uint32_t batch = 256;  // For workers that draw them together: as many of these as the cache
                              // has room for.
  double cache_share = 0.5;   // Share of the memory that such a worker has left for its cache.
  std::uint32_t context_max = 4096;
  std::size_t waiting_max = 1024;   // Requests of one model.
  std::string activations = "f32";  // "f32", "int8" or "auto" (arithmetic.h).
  std::uint32_t resumes_max = 16;
  // Chains are formed of newcomers and others alike; without, of trusted workers for clients, and
  // of newcomers for shadow requests.
  bool newcomers_answer = true;
  std::uint32_t shadow_chains_max = 4;            // Chains of newcomers, for each model.
  Duration audit_max = std::chrono::seconds(60);  // Until an audit has ended.
  std::size_t audits_max = 64;                    // At a time;
  std::size_t audits_waiting_max = 4096;          // with those that wait for their turn.
  // Searches for a guilty stage at a time, and auditors that search one after the other.
  std::size_t traces_max = 4;
  std::size_t trace_auditors = 2;
  Duration trace_step_max = std::chrono::seconds(60);  // For opening, and for each stage.
  // Frames that a search looks at.
  std::uint64_t trace_bytes_max = std::uint64_t{256} << 20;
  std::string wire = "f32";  // Type of hidden states between workers, where a model does not say:
                             // "f32", "f16", "i8".
  mesh::Strategy strategy =
      mesh::Strategy::hybrid;  // How prompts and layers are cut between workers.
  ByteVector secret{};         // Tokens of direct lines are made from it.
  std::function<std::vector<protocol::serving::IceServer>(const PublicKey& worker)>
      ice{};  // For a tab's connections.
  Duration relayed_for = std::chrono::minutes(
      1);  // Two workers that have no line between them are not told to try again before.
  Duration apart_for = std::chrono::minutes(
      10);  // Two workers of which one blamed the other are not placed side by side.
  Duration look_every = std::chrono::seconds(2);  // Whether a chain should be another one,
  std::uint32_t looks_min = 3;                    // which so many looks in a row must find.
  double gain_min = 0.4;                          // By how much a token must come sooner,
  Duration quiet = std::chrono::seconds(30);      // and how long the last change must be ago.
};

}  // namespace weft::inference
