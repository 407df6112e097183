#include "platform/store/sqlite/rows.h"

#include <algorithm>
#include <bit>

#include "common/base/byte_reader.h"

namespace weft::store::sqlite {
namespace {

Result<> whole(ByteSpan bytes, std::size_t each, std::string_view what) {
  if (bytes.size() % each == 0) return {};
  return fail(ErrorCode::data_loss,
              "A list of {} in the database has {} bytes, which is not a multiple of {}.", what,
              bytes.size(), each);
}

template <class Fixed>
Fixed read_fixed(ByteSpan bytes) {
  Fixed value;
  std::memcpy(value.bytes.data(), bytes.data(), Fixed::size);
  return value;
}

}  // namespace

ByteVector pack(std::span<const OutputBlob> outputs) {
  ByteVector bytes;
  for (const OutputBlob& output : outputs) {
    append(bytes, output.hash.bytes);
    append_le(bytes, output.bytes);
  }
  return bytes;
}

Result<std::vector<OutputBlob>> unpack_outputs(ByteSpan bytes) {
  WEFT_OK(whole(bytes, 40, "outputs"));
  std::vector<OutputBlob> outputs;
  for (; !bytes.empty(); bytes = bytes.subspan(40))
    outputs.push_back(
        {.hash = read_fixed<Hash>(bytes), .bytes = read_le<std::uint64_t>(bytes.subspan(32))});
  return outputs;
}

ByteVector pack(std::span<const PublicKey> keys) {
  ByteVector bytes;
  for (const PublicKey& key : keys) append(bytes, key.bytes);
  return bytes;
}

Result<std::vector<PublicKey>> unpack_keys(ByteSpan bytes) {
  WEFT_OK(whole(bytes, 32, "workers"));
  std::vector<PublicKey> keys;
  for (; !bytes.empty(); bytes = bytes.subspan(32)) keys.push_back(read_fixed<PublicKey>(bytes));
  return keys;
}

ByteVector pack(std::span<const Hash> hashes) {
  ByteVector bytes;
  for (const Hash& hash : hashes) append(bytes, hash.bytes);
  return bytes;
}

Result<std::vector<Hash>> unpack_hashes(ByteSpan bytes) {
  WEFT_OK(whole(bytes, Hash::size, "roots"));
  std::vector<Hash> hashes;
  for (; !bytes.empty(); bytes = bytes.subspan(Hash::size))
    hashes.push_back(read_fixed<Hash>(bytes));
  return hashes;
}

ByteVector pack(std::span<const Check::Range> ranges) {
  ByteVector bytes;
  for (const Check::Range& range : ranges) {
    append_le(bytes, range.first);
    append_le(bytes, range.count);
  }
  return bytes;
}

Result<std::vector<Check::Range>> unpack_ranges(ByteSpan bytes) {
  WEFT_OK(whole(bytes, 8, "ranges"));
  std::vector<Check::Range> ranges;
  for (; !bytes.empty(); bytes = bytes.subspan(8))
    ranges.push_back({.first = read_le<std::uint32_t>(bytes),
                      .count = read_le<std::uint32_t>(bytes.subspan(4))});
  return ranges;
}

ByteVector pack(const std::array<Presence::Hour, 24>& hours) {
  ByteVector bytes;
  for (const Presence::Hour& hour : hours) {
    append_le(bytes, std::bit_cast<std::uint32_t>(hour.present_seconds));
    append_le(bytes, std::bit_cast<std::uint32_t>(hour.departures));
    append_le(bytes, static_cast<std::uint32_t>(hour.day));
  }
  return bytes;
}

Result<std::array<Presence::Hour, 24>> unpack_hours(ByteSpan bytes) {
  std::array<Presence::Hour, 24> hours;
  ByteReader reader(bytes);
  for (Presence::Hour& hour : hours) {
    hour.present_seconds = reader.real<float>();
    hour.departures = reader.real<float>();
    hour.day = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
  }
  if (!reader.at_end())
    return fail(ErrorCode::data_loss,
                "The hours of a worker in the database have {} bytes, a wrong number.",
                bytes.size());
  return hours;
}

ByteVector pack(std::span<const StoredEntry> entries) {
  ByteVector bytes;
  for (const StoredEntry& entry : entries) {
    append_le(bytes, static_cast<std::uint64_t>(entry.account));
    append_le(bytes, static_cast<std::uint64_t>(entry.amount));
  }
  return bytes;
}

Result<std::vector<StoredEntry>> unpack_entries(ByteSpan bytes) {
  WEFT_OK(whole(bytes, 16, "entries"));
  std::vector<StoredEntry> entries;
  for (; !bytes.empty(); bytes = bytes.subspan(16)) {
    entries.push_back(
        {.account = static_cast<std::int64_t>(read_le<std::uint64_t>(bytes)),
         .amount = static_cast<MicroCredits>(read_le<std::uint64_t>(bytes.subspan(8)))});
  }
  return entries;
}

std::vector<StoredEntry> net(std::span<const StoredEntry> entries) {
  std::vector<StoredEntry> netted;
  for (const StoredEntry& entry : entries) {
    const auto known = std::ranges::find(netted, entry.account, &StoredEntry::account);
    if (known == netted.end()) {
      netted.push_back(entry);
    } else {
      known->amount += entry.amount;
    }
  }
  return netted;
}

Result<Job> job_of(const Statement& row) {
  Job job;
  WEFT_ASSIGN(job.id, row.fixed<JobId>(0));
  WEFT_ASSIGN(job.client, row.fixed<PublicKey>(1));
  job.name = row.text(2);
  job.manifest = row.text(3);
  WEFT_ASSIGN(job.manifest_hash, row.fixed<Hash>(4));
  job.tasks = static_cast<std::uint32_t>(row.integer(5));
  job.budget = row.integer(6);
  job.created = row.integer(7);
  const std::int64_t state = row.integer(8);
  if (state < 0 || state > static_cast<int>(JobState::corrected))
    return fail(ErrorCode::data_loss, "The job {} has the unknown state {}.", job.id.text(), state);
  job.state = static_cast<JobState>(state);
  job.accepted = static_cast<std::uint32_t>(row.integer(9));
  job.price = row.integer(10);
  job.units = row.real(11);
  job.reference_seconds_per_workgroup = row.real(12);
  job.reason = row.text(13);
  WEFT_ASSIGN(job.root, row.fixed<Hash>(14));
  job.ended = row.integer(15);
  WEFT_ASSIGN(job.outputs, unpack_outputs(row.blob(16)));
  job.per_unit = row.integer(17);
  job.price_quoted = row.integer(18);
  job.price_max = row.integer(19);
  job.price_max_named = row.integer(20) != 0;
  return job;
}

Result<Task> task_of(const Statement& row, const JobId& job) {
  Task task;
  task.id = {.job = job, .index = static_cast<std::uint32_t>(row.integer(0))};
  WEFT_ASSIGN(task.root, row.fixed<Hash>(1));
  WEFT_ASSIGN(task.outputs, unpack_outputs(row.blob(2)));
  WEFT_ASSIGN(task.worker, row.fixed<PublicKey>(3));
  WEFT_ASSIGN(task.agreeing, unpack_keys(row.blob(4)));
  task.accepted = row.integer(5);
  const std::int64_t basis = row.integer(6);
  if (basis < 0 || basis >= static_cast<std::int64_t>(bases))
    return fail(ErrorCode::data_loss, "The accepted task {} has the unknown basis {}.",
                task.id.text(), basis);
  task.basis = static_cast<Basis>(basis);
  return task;
}

Result<Replica> replica_of(const Statement& row, const JobId& job) {
  Replica replica;
  replica.task = {.job = job, .index = static_cast<std::uint32_t>(row.integer(0))};
  WEFT_ASSIGN(replica.worker, row.fixed<PublicKey>(1));
  replica.attempt = static_cast<std::uint32_t>(row.integer(2));
  WEFT_ASSIGN(replica.root, row.fixed<Hash>(3));
  WEFT_ASSIGN(replica.outputs, unpack_outputs(row.blob(4)));
  WEFT_ASSIGN(replica.receipt, row.fixed<Hash>(5));
  replica.gpu_seconds = row.real(6);
  replica.wall_seconds = row.real(7);
  replica.arrived = row.integer(8);
  WEFT_ASSIGN(replica.steps, unpack_hashes(row.blob(9)));
  return replica;
}

Result<ApiKey> api_key_of(const Statement& row) {
  ApiKey key{.id = row.text(0), .name = row.text(2), .hash = {}, .owner = {}};
  WEFT_ASSIGN(key.hash, row.fixed<Hash>(1));
  WEFT_ASSIGN(key.owner, row.fixed<PublicKey>(3));
  key.created = row.integer(4);
  key.revoked = row.integer(5);
  key.requests_per_min = static_cast<std::uint32_t>(row.integer(6));
  key.tokens_per_min = static_cast<std::uint32_t>(row.integer(7));
  key.tokens_max = static_cast<std::uint64_t>(row.integer(8));
  key.credits_max = row.integer(9);
  key.requests = static_cast<std::uint64_t>(row.integer(10));
  key.tokens = static_cast<std::uint64_t>(row.integer(11));
  key.credits = row.integer(12);
  return key;
}

Result<Model> model_of(const Statement& row) {
  const auto small = [&](int column) { return static_cast<std::uint32_t>(row.integer(column)); };
  const auto large = [&](int column) { return static_cast<std::uint64_t>(row.integer(column)); };
  const std::int64_t weights = row.integer(20);
  if (weights < 0 || weights > static_cast<int>(WeightWidth::wide))
    return fail(ErrorCode::data_loss, "The stored model {} has weights of the unknown width {}.",
                row.text(0), weights);
  return Model{.name = row.text(0),
               .file = row.text(1),
               .chunks = row.text(2),
               .bytes = large(3),
               .header_bytes = large(4),
               .chunk_bytes = small(5),
               .architecture = row.text(6),
               .layers = small(7),
               .embedding = small(8),
               .vocabulary = small(9),
               .context = small(10),
               .layer_bytes = large(11),
               .first_bytes = large(12),
               .last_bytes = large(13),
               .cache_bytes = large(14),
               .shards_min = small(15),
               .price = row.integer(16),
               .wire = row.text(17),
               .created = row.integer(18),
               .owner = row.text(19),
               .weights = static_cast<WeightWidth>(weights)};
}

Result<Checkpoint> checkpoint_of(const Statement& row, const JobId& job) {
  Checkpoint checkpoint{.task = {.job = job, .index = static_cast<std::uint32_t>(row.integer(0))},
                        .worker = {},
                        .blob = {},
                        .bytes = static_cast<std::uint64_t>(row.integer(3)),
                        .done = static_cast<std::uint32_t>(row.integer(4)),
                        .of = static_cast<std::uint32_t>(row.integer(5))};
  WEFT_ASSIGN(checkpoint.worker, row.fixed<PublicKey>(1));
  WEFT_ASSIGN(checkpoint.blob, row.fixed<Hash>(2));
  return checkpoint;
}

Result<ledger::Account> account_of(const Statement& row, int kind_column) {
  const std::int64_t kind = row.integer(kind_column);
  if (kind < 0 || kind >= static_cast<int>(ledger::Account::kinds))
    return fail(ErrorCode::data_loss, "An account in the database has the unknown kind {}.", kind);
  WEFT_ASSIGN(const Hash id, row.fixed<Hash>(kind_column + 1));
  return ledger::Account{.kind = static_cast<ledger::Account::Kind>(kind), .id = id.bytes};
}

}  // namespace weft::store::sqlite
