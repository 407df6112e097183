#include "platform/store/sqlite/old_settings.h"

#include <limits>
#include <string>
#include <vector>

#include "common/base/byte_reader.h"
#include "common/base/log.h"
#include "common/json/json.h"
#include "platform/store/sqlite/rows.h"

namespace weft::store::sqlite {
namespace old_settings {

struct Row {
  std::string name;
  ByteVector value;
};

template <class Integer>
Result<> read_number(const json::Object& object, std::string_view name, Integer& out) {
  WEFT_ASSIGN(const json::Value value, object.get(name));
  WEFT_ASSIGN(
      const std::uint64_t number,
      value.unsigned_integer(static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())));
  out = static_cast<Integer>(number);
  return {};
}

Result<ApiKey> read_key(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object object,
              root.object({"hash", "id", "name", "owner", "created", "revoked", "requests_per_min",
                           "tokens_per_min", "tokens_max", "credits_max", "requests", "tokens",
                           "credits"}));
  ApiKey key;
  const auto text_of = [&](std::string_view name) -> Result<std::string> {
    WEFT_ASSIGN(const json::Value value, object.get(name));
    return value.string();
  };
  WEFT_ASSIGN(const std::string hash, text_of("hash"));
  WEFT_ASSIGN(key.hash, Hash::parse(hash));
  WEFT_ASSIGN(key.id, text_of("id"));
  WEFT_ASSIGN(key.name, text_of("name"));
  WEFT_ASSIGN(const std::string owner, text_of("owner"));
  WEFT_ASSIGN(key.owner, PublicKey::parse(owner));
  WEFT_OK(read_number(object, "created", key.created));
  WEFT_OK(read_number(object, "revoked", key.revoked));
  WEFT_OK(read_number(object, "requests_per_min", key.requests_per_min));
  WEFT_OK(read_number(object, "tokens_per_min", key.tokens_per_min));
  WEFT_OK(read_number(object, "tokens_max", key.tokens_max));
  WEFT_OK(read_number(object, "credits_max", key.credits_max));
  WEFT_OK(read_number(object, "requests", key.requests));
  WEFT_OK(read_number(object, "tokens", key.tokens));
  WEFT_OK(read_number(object, "credits", key.credits));
  return key;
}

// Writes the rows of each kind with one function. `rest` is the name after its prefix. A function
// returns false if the row is not of its kind.
class Mover {
 public:
  static Result<Mover> create(Connection& connection) {
    Mover mover;
    WEFT_ASSIGN(mover.secret_, connection.prepare("INSERT INTO secrets VALUES (?, ?)"));
    WEFT_ASSIGN(mover.standing_,
                connection.prepare("INSERT INTO standings VALUES (?, ?, ?, ?, ?)"));
    WEFT_ASSIGN(mover.presence_, connection.prepare("INSERT INTO presences VALUES (?, ?)"));
    WEFT_ASSIGN(mover.weight_, connection.prepare("INSERT INTO client_weights VALUES (?, ?, ?)"));
    WEFT_ASSIGN(mover.key_, connection.prepare("INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, "
                                               "?, ?, ?, ?, ?, ?)"));
    WEFT_ASSIGN(mover.find_job_, connection.prepare("SELECT seq FROM jobs WHERE id = ?"));
    WEFT_ASSIGN(mover.checkpoint_,
                connection.prepare("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)"));
    return mover;
  }

  Result<bool> move(const Row& row) {
    if (row.name == "trust-secret") return secret(row);
    const std::size_t colon = row.name.find(':');
    if (colon == std::string::npos) return false;
    const auto kind = std::string_view(row.name).substr(0, colon);
    const auto rest = std::string_view(row.name).substr(colon + 1);
    if (kind == "standing") return standing(rest, row.value);
    if (kind == "presence") return presence(rest, row.value);
    if (kind == "weight") return weight(rest, row);
    if (kind == "apikey") return key(row);
    if (kind == "checkpoint") return checkpoint(rest, row.value);
    return false;
  }

 private:
  Result<bool> secret(const Row& row) {
    if (row.value.size() != FixedBytes<32>::size)
      return fail(ErrorCode::data_loss, "The stored secret has {} bytes.", row.value.size());
    WEFT_OK(secret_.run(row.name, row.value));
    return true;
  }
  Result<bool> standing(std::string_view worker, ByteSpan value) {
    const auto key = PublicKey::parse(worker);
    ByteReader reader(value);
    const auto verified = reader.real<double>();
    const auto updated = reader.integer<std::uint64_t>();
    const auto suspended_until = reader.integer<std::uint64_t>();
    const auto wrong = reader.integer<std::uint32_t>();
    if (!key || !reader.at_end()) return false;
    WEFT_OK(standing_.run(*key, verified, updated, wrong, suspended_until));
    return true;
  }
  Result<bool> presence(std::string_view worker, ByteSpan value) {
    const auto key = PublicKey::parse(worker);
    if (!key || !unpack_hours(value)) return false;
    WEFT_OK(presence_.run(*key, value));  // The form of the value is unchanged.
    return true;
  }
  Result<bool> weight(std::string_view client, const Row& row) {
    const auto key = PublicKey::parse(client);
    ByteReader reader(row.value);
    const auto given = reader.real<double>();
    const auto at = reader.integer<std::uint64_t>();
    if (!key || !reader.at_end())
      return fail(ErrorCode::data_loss, "The stored setting {} is not a client's weight.",
                  row.name);
    WEFT_OK(weight_.run(*key, given, at));
    return true;
  }
  Result<bool> key(const Row& row) {
    auto read = read_key(as_text(row.value));
    if (!read)
      return fail(ErrorCode::data_loss, "The stored API key {} cannot be read: {}", row.name,
                  read.error().message);
    const ApiKey& each = *read;
    WEFT_OK(key_.run(each.id, each.hash, each.name, each.owner, each.created, each.revoked,
                     each.requests_per_min, each.tokens_per_min, each.tokens_max, each.credits_max,
                     each.requests, each.tokens, each.credits));
    return true;
  }
  // Reads a row checkpoint:JOB/INDEX/WORKER.
  Result<bool> checkpoint(std::string_view rest, ByteSpan value) {
    const std::size_t slash = rest.rfind('/');
    if (slash == std::string_view::npos) return false;
    const auto task = TaskId::parse(rest.substr(0, slash));
    const auto worker = PublicKey::parse(rest.substr(slash + 1));
    ByteReader reader(value);
    const auto blob = reader.fixed<Hash>();
    const auto bytes = reader.integer<std::uint64_t>();
    const auto done = reader.integer<std::uint32_t>();
    const auto parts = reader.integer<std::uint32_t>();
    if (!task || !worker || !reader.at_end()) return false;
    find_job_.start(task->job);
    WEFT_ASSIGN(const bool found, find_job_.next());
    const std::int64_t job = found ? find_job_.integer(0) : 0;
    find_job_.finish();
    if (!found) return false;
    WEFT_OK(checkpoint_.run(job, task->index, *worker, blob, bytes, done, parts));
    return true;
  }

  Statement secret_, standing_, presence_, weight_, key_, find_job_, checkpoint_;
};

}  // namespace old_settings

Result<> move_settings(Connection& connection) {
  std::vector<old_settings::Row> all;
  WEFT_ASSIGN(Statement settings, connection.prepare("SELECT name, value FROM settings"));
  settings.start();
  for (;;) {
    WEFT_ASSIGN(const bool row, settings.next());
    if (!row) break;
    const ByteSpan value = settings.blob(1);
    all.push_back({.name = settings.text(0), .value = {value.begin(), value.end()}});
  }
  settings.finish();
  WEFT_ASSIGN(auto mover, old_settings::Mover::create(connection));
  for (const auto& row : all) {
    WEFT_ASSIGN(const bool moved, mover.move(row));
    if (!moved) log_warning("The stored setting {} cannot be read and is left out.", row.name);
  }
  return {};
}

}  // namespace weft::store::sqlite
