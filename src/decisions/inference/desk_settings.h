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
  Duration silent_max = std::chrono::milliseconds(1600);  // The time of three pulses and a margin.
  // The limit of silence for a worker that loads, because putting weights on a device blocks its
  // thread.
  Duration silent_busy_max = std::chrono::seconds(20);
  Duration load_max = std::chrono::minutes(10);
  Duration link_max = std::chrono::seconds(10);
  // A chain with requests is dissolved after this without a token.
  Duration stall_max = std::chrono::seconds(30);
  // How long a request waits for a chain before it fails.
  Duration patience = std::chrono::seconds(60);
  PlanBackoff::Times plan_again{};  // The times between failed plans.
  // A model gets another chain once a request has waited for grow_after while all chains are full.
  // It loses a chain if, for shrink_after, it had fewer requests than shrink_share of the capacity
  // that would remain.
  Duration grow_after = std::chrono::seconds(1);
  Duration shrink_after = std::chrono::minutes(1);
  double shrink_share = 0.5;
  // The number of requests at a time for which a placed model, or a part of one, gets memory.
  std::uint32_t sequences = 4;
  // The most requests at a time for a worker that draws them together, if its cache has room.
  std::uint32_t batch = 256;
  // The cache's share of the remaining memory of a worker that draws requests together.
  double cache_share = 0.5;
  std::uint32_t context_max = 4096;
  std::size_t waiting_max = 1024;   // Most waiting requests of one model.
  std::string activations = "f32";  // "f32", "int8" or "auto" (arithmetic.h).
  std::uint32_t resumes_max = 16;
  // True: chains are formed of newcomers and trusted workers alike. False: clients get chains of
  // trusted workers, and shadow requests get chains of newcomers.
  bool newcomers_answer = true;
  std::uint32_t shadow_chains_max = 4;            // Most chains of newcomers for one model.
  Duration audit_max = std::chrono::seconds(60);  // The time limit of an audit.
  std::size_t audits_max = 64;                    // The most audits that run at a time.
  std::size_t audits_waiting_max = 4096;          // The most audits that run or wait.
  // The most searches for a guilty stage at a time, and the number of auditors that search one
  // after the other.
  std::size_t traces_max = 4;
  std::size_t trace_auditors = 2;
  // The time limit for opening the frames, and for each stage that is run again.
  Duration trace_step_max = std::chrono::seconds(60);
  // The most bytes of frames that one search opens.
  std::uint64_t trace_bytes_max = std::uint64_t{256} << 20;
  // Type of hidden states between workers, unless the model says one: "f32", "f16" or "i8".
  std::string wire = "f32";
  mesh::Strategy strategy =
      mesh::Strategy::hybrid;  // How prompts and layers are cut between workers.
  ByteVector secret{};         // The secret from which the tokens of direct lines are made.
  std::function<std::vector<protocol::serving::IceServer>(const PublicKey& worker)>
      ice{};  // ICE servers for browsers' connections.
  Duration relayed_for = std::chrono::minutes(
      1);  // The time after which two workers that have no direct line try again.
  Duration apart_for = std::chrono::minutes(
      10);  // The time for which two workers are not made neighbours because one blamed the other.
  // The interval at which each chain is compared with other possible chains.
  Duration look_every = std::chrono::seconds(2);
  std::uint32_t looks_min = 3;                // The looks in a row that must find a better chain.
  double gain_min = 0.4;                      // The least relative gain of a token's time.
  Duration quiet = std::chrono::seconds(30);  // The least time since the chain's last change.
};

}  // namespace weft::inference
