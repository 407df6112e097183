// Conversions between records and rows: lists as bytes (little-endian, elements of one fixed size),
// and the columns of each table in the order in which SELECTs name them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/records/records.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Each output takes 40 bytes: hash, u64 size.
[[nodiscard]] ByteVector pack(std::span<const OutputBlob> outputs);
[[nodiscard]] Result<std::vector<OutputBlob>> unpack_outputs(ByteSpan bytes);

// Each key takes 32 bytes.
[[nodiscard]] ByteVector pack(std::span<const PublicKey> keys);
[[nodiscard]] Result<std::vector<PublicKey>> unpack_keys(ByteSpan bytes);

// Each hash takes 32 bytes.
[[nodiscard]] ByteVector pack(std::span<const Hash> hashes);
[[nodiscard]] Result<std::vector<Hash>> unpack_hashes(ByteSpan bytes);

// Each range takes 8 bytes: u32 first, u32 count.
[[nodiscard]] ByteVector pack(std::span<const Check::Range> ranges);
[[nodiscard]] Result<std::vector<Check::Range>> unpack_ranges(ByteSpan bytes);

// Each hour takes 12 bytes: f32 seconds present, f32 departures, i32 day.
[[nodiscard]] ByteVector pack(const std::array<Presence::Hour, 24>& hours);
[[nodiscard]] Result<std::array<Presence::Hour, 24>> unpack_hours(ByteSpan bytes);

// An entry of a transaction in files before schema version 2, 16 bytes: i64 row of the account, i64
// amount.
struct StoredEntry {
  std::int64_t account = 0;
  MicroCredits amount = 0;
};
[[nodiscard]] ByteVector pack(std::span<const StoredEntry> entries);
[[nodiscard]] Result<std::vector<StoredEntry>> unpack_entries(ByteSpan bytes);
// Sums the entries of each account. The order is that of each account's first entry.
[[nodiscard]] std::vector<StoredEntry> net(std::span<const StoredEntry> entries);

// Columns of a job in the order in which every SELECT in this folder names them.
inline constexpr std::string_view job_columns =
    "id, client, name, manifest, manifest_hash, tasks, budget, created, state, accepted, price, "
    "units, pace, reason, root, ended, joined, per_unit, price_quoted, price_max, price_max_named";
[[nodiscard]] Result<Job> job_of(const Statement& row);

// Columns of tasks and replicas, without the job: the query names the job and the caller passes it
// in.
inline constexpr std::string_view task_columns =
    "task, root, outputs, worker, agreeing, accepted, basis";
[[nodiscard]] Result<Task> task_of(const Statement& row, const JobId& job);
inline constexpr std::string_view replica_columns =
    "task, worker, attempt, root, outputs, receipt, gpu_seconds, wall_seconds, arrived, steps";
[[nodiscard]] Result<Replica> replica_of(const Statement& row, const JobId& job);

inline constexpr std::string_view api_key_columns =
    "id, hash, name, owner, created, revoked, requests_per_min, tokens_per_min, tokens_max, "
    "credits_max, requests, tokens, credits";
[[nodiscard]] Result<ApiKey> api_key_of(const Statement& row);
inline constexpr std::string_view model_columns =
    "name, file, chunks, bytes, header_bytes, chunk_bytes, architecture, layers, embedding, "
    "vocabulary, context, layer_bytes, first_bytes, last_bytes, cache_bytes, shards_min, price, "
    "wire, created, owner, weights";
[[nodiscard]] Result<Model> model_of(const Statement& row);
inline constexpr std::string_view checkpoint_columns =
    "task, worker, blob, bytes, parts_done, parts";
[[nodiscard]] Result<Checkpoint> checkpoint_of(const Statement& row, const JobId& job);

// Reads an account from the columns of its kind and key.
[[nodiscard]] Result<ledger::Account> account_of(const Statement& row, int kind_column);

}  // namespace weft::store::sqlite
