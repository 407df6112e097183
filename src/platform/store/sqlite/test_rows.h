// Makes rows from numbers for the tests of the stores.
#pragma once

#include "platform/store/store.h"

namespace weft::store {

inline PublicKey key_of(unsigned number) {
  PublicKey key;
  key.bytes[0] = static_cast<std::uint8_t>(number);
  key.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  key.bytes[31] = 5;
  return key;
}
inline Hash hash_of(unsigned number) {
  Hash hash;
  hash.bytes[0] = static_cast<std::uint8_t>(number);
  hash.bytes[31] = 6;
  return hash;
}
inline JobId job_id_of(unsigned number) {
  JobId id;
  for (int i = 0; i < 4; ++i)
    id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (8 * i));
  return id;
}
inline SubmitNonce nonce_of(unsigned number) {
  SubmitNonce nonce{};
  for (int i = 0; i < 4; ++i)
    nonce[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (8 * i));
  return nonce;
}
inline Job job_row(unsigned number) {
  return {.id = job_id_of(number),
          .client = key_of(1000 + number % 7),
          .name = "a job",
          .manifest = R"({"weft": 1, "name": "käse"})",
          .manifest_hash = hash_of(9),
          .tasks = 4,
          .budget = 1'000'000,
          .created = 1'700'000'000'000 + number,
          .reason = "",
          .root = {},
          .outputs = {}};
}
inline Replica replica_row(const Job& job, std::uint32_t index, unsigned worker) {
  return {.task = {job.id, index},
          .worker = key_of(worker),
          .attempt = 2,
          .root = hash_of(3),
          .outputs = {{hash_of(4), 100}, {hash_of(5), std::uint64_t{1} << 40}},
          .receipt = hash_of(worker),
          .gpu_seconds = 0.125,
          .wall_seconds = 0.5,
          .arrived = 1'700'000'000'100 + worker,
          // Every second worker is committed to its steps.
          .steps = worker % 2 == 0 ? std::vector<Hash>() : std::vector{hash_of(6), hash_of(9)}};
}
inline Task task_row(const Job& job, std::uint32_t index) {
  return {.id = {job.id, index},
          .root = hash_of(3),
          .outputs = {{hash_of(4), 100}},
          .worker = key_of(7),
          .agreeing = {key_of(7), key_of(8)},
          .accepted = 1'700'000'000'200};
}
inline Receipt receipt_row(unsigned worker) {
  return {.digest = hash_of(worker),
          .worker = key_of(worker),
          .session_nonce = hash_of(2),
          .signature = {},
          .arrived = 1'700'000'000'100,
          .claims = hash_of(worker + 50)};
}
inline OwnerId owner_of(const PublicKey& key) { return OwnerId::of_first(key); }
inline Checkpoint checkpoint_row(const TaskId& task, unsigned worker, std::uint32_t done) {
  return {.task = task,
          .worker = key_of(worker),
          .blob = hash_of(20 + worker),
          .bytes = std::uint64_t{1} << 33,
          .done = done,
          .of = 100};
}
inline HeldPay held_pay_row(const TaskId& task, unsigned worker, bool lost = false) {
  return {.task = task,
          .worker = key_of(worker),
          .owner = owner_of(key_of(worker + 1)),
          .free = 1 + worker,
          .granted = MicroCredits{1} << 40,
          .lost = lost};
}
inline ApiKey api_key_row(const std::string& id, unsigned secret) {
  return {.id = id,
          .name = "käse",
          .hash = hash_of(secret),
          .owner = key_of(3),
          .created = 1'700'000'000'000,
          .revoked = 1,
          .requests_per_min = 2,
          .tokens_per_min = 3,
          .tokens_max = std::uint64_t{1} << 60,
          .credits_max = 5,
          .requests = 6,
          .tokens = 7,
          .credits = 8};
}
inline Presence presence_row(unsigned worker) {
  Presence presence{.worker = key_of(worker)};
  for (std::size_t i = 0; i < presence.hours.size(); ++i)
    presence.hours[i] = {.present_seconds = 0.1F * static_cast<float>(i),
                         .departures = static_cast<float>(i),
                         .day = static_cast<std::int32_t>(i) - 3};
  return presence;
}
inline Pace pace_row(unsigned worker, UnixMillis time) {
  return {.work = hash_of(4),
          .worker = key_of(worker),
          .seconds = 1.0 / worker,
          .alone = worker == 1,
          .time = time};
}
inline Model model_row(const std::string& name) {
  return {.name = name,
          .file = hash_of(1).text(),
          .chunks = hash_of(2).text(),
          .bytes = std::uint64_t{1} << 39,
          .header_bytes = 2,
          .chunk_bytes = 3,
          .architecture = "llama",
          .layers = 4,
          .embedding = 5,
          .vocabulary = 6,
          .context = 7,
          .layer_bytes = 8,
          .first_bytes = 9,
          .last_bytes = 10,
          .cache_bytes = 11,
          .shards_min = 12,
          .price = 13,
          .wire = "f16",
          .created = 14,
          .owner = key_of(1).text(),
          .weights = WeightWidth::wide};
}
// The batch that the coordinator commits for the job of a new client: the client's credits, the
// escrow, the job and its nonce.
inline Batch submit_batch(const Job& job) {
  Batch batch;
  batch.jobs.push_back(job);
  batch.nonces.push_back({.client = job.client, .nonce = nonce_of(job.id.bytes[0]), .job = job.id});
  batch.transactions.push_back(
      {.transaction = ledger::issue(owner_of(job.client), 2 * job.budget, 1), .time = job.created});
  batch.transactions.push_back(
      {.transaction = ledger::open_escrow(job.id, owner_of(job.client), job.budget, {}),
       .time = job.created});
  return batch;
}

}  // namespace weft::store
