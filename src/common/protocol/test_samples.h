// One message of every kind with all fields filled, for the golden files.
#pragma once

#include "common/protocol/messages.h"

namespace weft::protocol {

template <class Id>
Id sample_id(std::uint8_t first) {
  Id id;
  for (std::size_t i = 0; i < Id::size; ++i) id.bytes[i] = static_cast<std::uint8_t>(first + i);
  return id;
}
inline TaskId sample_task(std::uint32_t index) {
  return {.job = sample_id<JobId>(0xa0), .index = index};
}

inline Capabilities sample_capabilities() {
  return {.device = DeviceKind::gpu,
          .vendor = "mesa",
          .architecture = "llvmpipe",
          .description = "llvmpipe (LLVM 21, 256 bits) \"quoted\"\n\u00e9",
          .backend = "vulkan",
          .features = {"shader-f16", "timestamp-query"},
          .limits = {{"maxBufferSize", 4294967296}, {"maxComputeInvocationsPerWorkgroup", 1024}},
          .memory_bytes = 1073741824,
          .copy_gb_per_s = 5.25,
          .f32_gflop_per_s = 31.5};
}

inline std::vector<WorkerMessage> sample_worker_messages() {
  return {
      Hello{.versions = {version},
            .key = sample_id<PublicKey>(1),
            .nonce = sample_id<Hash>(0x21),
            .kind = WorkerKind::browser,
            .software = "weft/0.1.0",
            .slots = 2,
            .capabilities = sample_capabilities(),
            .slice_memory_bytes = 268435456,
            .price_min = 1500000},
      Prove{.signature = sample_id<Signature>(2), .invite = "weft-0123"},
      Resume{.held = {{.task = sample_task(3), .attempt = 1, .proof = sample_id<Hash>(0x90)},
                      {.task = sample_task(4), .attempt = 2}}},
      Receipt{.items = {{.task = sample_task(3), .attempt = 1, .root = sample_id<Hash>(0x30)},
                        {.task = sample_task(4),
                         .attempt = 1,
                         .root = sample_id<Hash>(0x40),
                         .first = 34,
                         .count = 2}},
              .signature = sample_id<Signature>(4)},
      TaskFailed{.task = sample_task(5),
                 .attempt = 1,
                 .code = "invalid_argument",
                 .message = "3:17: cannot convert value."},
      Beat{.running = 1},
      Checkpoint{.task = sample_task(3),
                 .attempt = 1,
                 .blob = sample_id<Hash>(0x80),
                 .bytes = 4096,
                 .done = 12,
                 .of = 64,
                 .stopped = true},
      Slots{.slots = 0},
      Bye{.reason = "Stopped by its owner."},
      Opening{
          .task = sample_task(3),
          .attempt = 1,
          .roots = {sample_id<Hash>(0x61), sample_id<Hash>(0x71)},
          .paths = {{.output = 1, .chunk = 2, .chunks = 3, .siblings = {sample_id<Hash>(0x72)}}}},
      ErrorMessage{.code = "unsupported", .message = "This side speaks another version."},
      States{
          .task = sample_task(3),
          .attempt = 1,
          .states = {{.group = 3, .blob = sample_id<Hash>(0x82), .bytes = 4096}, {.group = 31}}}};
}

inline std::vector<CoordinatorMessage> sample_coordinator_messages() {
  return {
      Challenge{.version = version,
                .nonce = sample_id<Hash>(5),
                .coordinator = sample_id<PublicKey>(6),
                .genesis = sample_id<Hash>(0x91),
                .program = sample_id<PublicKey>(0x92),
                .invite_file = "/data/invite"},
      Welcome{
          .session = "s-17", .beat_ms = 1000, .blob_token = "token", .balance = 9007199254740993},
      Lease{
          .job = sample_id<JobId>(0xa0),
          .manifest = sample_id<Hash>(0x50),
          .piece_workgroups_max = 16,
          .wall_ms_max = 30000,
          .tasks =
              {{.index = 3, .attempt = 1, .first = 24, .count = 8, .proof = sample_id<Hash>(0x90)},
               {.index = 4, .attempt = 1, .first = 32, .count = 8},
               {.index = 5, .attempt = 1, .first = 40, .count = 8, .step_roots = true}},
          .resume = {{.index = 4, .blob = sample_id<Hash>(0x80), .bytes = 4096, .done = 3}},
          .checkpoint_ms = 250,
          .client = sample_id<PublicKey>(9),
          .weight = 2.5},
      Verdict{.task = sample_task(3),
              .attempt = 1,
              .accepted = false,
              .paid = 0,
              .balance = -5,
              .reason = "The root is not that of the outputs."},
      Cancel{.tasks = {{.task = sample_task(4), .attempt = 1}}, .reason = "The job is done."},
      Yield{.tasks = {{.task = sample_task(4), .attempt = 1}}},
      OpenChunks{.task = sample_task(3), .attempt = 1, .chunks = {{.output = 1, .chunk = 2}}},
      ErrorMessage{.code = "unauthenticated", .message = "The signature does not fit the key."},
      OpenStates{.task = sample_task(3), .attempt = 1, .groups = {3, 31}}};
}

inline TaskResult sample_result() {
  return {.task = sample_task(3),
          .attempt = 1,
          .root = sample_id<Hash>(0x30),
          .outputs = {{.hash = sample_id<Hash>(0x60), .bytes = 5, .in_frame = true},
                      {.hash = sample_id<Hash>(0x70), .bytes = 1048576, .in_frame = false}},
          .gpu_seconds = 0.0125,
          .wall_seconds = 0.5,
          .resumed = 0.25,
          .step_roots = {sample_id<Hash>(0x73), sample_id<Hash>(0x74)}};
}

}  // namespace weft::protocol
