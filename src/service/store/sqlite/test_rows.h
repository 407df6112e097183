// Rows by number for the tests of the stores.
#pragma once

#include "service/store/store.h"

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
  for (int i = 0; i < 4; ++i) id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (8 * i));
  return id;
}
inline SubmitNonce nonce_of(unsigned number) {
  SubmitNonce nonce{};
  for (int i = 0; i < 4; ++i) nonce[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (8 * i));
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
          .arrived = 1'700'000'000'100 + worker};
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
  return {.digest = hash_of(worker), .worker = key_of(worker), .session_nonce = hash_of(2), .signature = {}, .arrived = 1'700'000'000'100};
}
// What the coordinator commits for a new client's job: the grant, the escrow, the job and its nonce.
inline Batch submit_batch(const Job& job) {
  Batch batch;
  batch.jobs.push_back(job);
  batch.nonces.push_back({.client = job.client, .nonce = nonce_of(job.id.bytes[0]), .job = job.id});
  batch.transactions.push_back({.transaction = ledger::grant(job.client, 2 * job.budget), .time = job.created});
  batch.transactions.push_back({.transaction = ledger::open_escrow(job.id, job.client, job.budget), .time = job.created});
  return batch;
}

}  // namespace weft::store
