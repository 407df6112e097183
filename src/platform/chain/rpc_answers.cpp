#include "platform/chain/rpc_answers.h"

#include <algorithm>

#include "common/json/json.h"

namespace weft::chain {
namespace {

// The maximum number of accounts (owners with a deposit) in one answer; a larger answer is refused.
constexpr std::size_t accounts_max = 100'000;
constexpr json::Limits answer_limits{.bytes_max = std::size_t{32} << 20, .depth_max = 32};

// Finds a member of an object. Further members are ignored, because nodes add members to their
// answers.
Result<std::optional<json::Value>> find(const json::Value& object, std::string_view name) {
  WEFT_ASSIGN(const auto members, object.members());
  for (const auto& [key, value] : members)
    if (key == name) return std::optional(value);
  return std::nullopt;
}
Result<json::Value> get(const json::Value& object, std::string_view name) {
  WEFT_ASSIGN(const auto found, find(object, name));
  if (!found) return fail(ErrorCode::data_loss, "The node's answer has no '{}'.", name);
  return *found;
}
Result<std::uint64_t> whole(const json::Value& value) {
  return value.unsigned_integer(std::numeric_limits<std::int64_t>::max());
}
bool is_null(const json::Value& value) { return value.kind() == json::Kind::null; }

// Reads an error of the cluster: a word, or {"InstructionError": [index, word | {"Custom": number}
// | ...]}.
Result<std::optional<TransactionFailure>> failure_of(const json::Value& error) {
  if (is_null(error)) return std::nullopt;
  TransactionFailure out{.text = std::string(error.text()), .custom = {}, .instruction = {}};
  if (error.kind() != json::Kind::object) return out;
  WEFT_ASSIGN(const auto inner, find(error, "InstructionError"));
  if (!inner || inner->kind() != json::Kind::array) return out;
  WEFT_ASSIGN(const auto parts, inner->array());
  if (parts.size() != 2) return out;
  WEFT_ASSIGN(const std::uint64_t index, whole(parts[0]));
  out.instruction = static_cast<std::uint32_t>(index);
  if (parts[1].kind() != json::Kind::object) return out;
  WEFT_ASSIGN(const auto custom, find(parts[1], "Custom"));
  if (custom) {
    WEFT_ASSIGN(const std::uint64_t number, custom->unsigned_integer(0xffffffff));
    out.custom = static_cast<std::uint32_t>(number);
  }
  return out;
}

Result<AccountData> account_of(const json::Value& value) {
  AccountData out;
  WEFT_ASSIGN(const json::Value lamports, get(value, "lamports"));
  WEFT_ASSIGN(out.lamports, whole(lamports));
  WEFT_ASSIGN(const json::Value owner, get(value, "owner"));
  WEFT_ASSIGN(const std::string owner_text, owner.string());
  WEFT_ASSIGN(out.owner, PublicKey::parse(owner_text));
  WEFT_ASSIGN(const json::Value data, get(value, "data"));
  WEFT_ASSIGN(const auto parts, data.array());
  if (parts.empty())
    return fail(ErrorCode::data_loss, "The node's answer has an account without data.");
  WEFT_ASSIGN(const std::string bytes, parts[0].string({.bytes_max = std::size_t{16} << 20}));
  WEFT_ASSIGN(out.data, from_base64(bytes));
  return out;
}

}  // namespace

Result<std::string> result_of(std::string_view method, std::string_view body) {
  const auto unreadable = [&](const Error& error) {
    return fail(ErrorCode::data_loss, "The node's answer to {} is not JSON-RPC: {}", method,
                error.message);
  };
  const auto root = json::parse(body, answer_limits);
  if (!root) return unreadable(root.error());
  const auto refused = find(*root, "error");
  if (!refused) return unreadable(refused.error());
  if (*refused && !is_null(**refused)) {
    WEFT_ASSIGN(const json::Value message, get(**refused, "message"));
    WEFT_ASSIGN(const std::string text, message.string({.bytes_max = 65536}));
    return fail(ErrorCode::invalid_argument, "The node refuses {}: {}", method, text);
  }
  WEFT_ASSIGN(const json::Value result, get(*root, "result"));
  return std::string(result.text());
}

Result<Hash> read_genesis_hash(std::string_view result) {
  WEFT_ASSIGN(const json::Value value, json::parse(result));
  WEFT_ASSIGN(const std::string word, value.string());
  WEFT_ASSIGN(const PublicKey key, PublicKey::parse(word));
  Hash hash;
  hash.bytes = key.bytes;
  return hash;
}

Result<std::uint64_t> read_number(std::string_view result) {
  WEFT_ASSIGN(const json::Value value, json::parse(result));
  return whole(value);
}

Result<RecentBlockhash> read_blockhash(std::string_view result) {
  WEFT_ASSIGN(const json::Value root, json::parse(result));
  WEFT_ASSIGN(const json::Value value, get(root, "value"));
  WEFT_ASSIGN(const json::Value hash, get(value, "blockhash"));
  WEFT_ASSIGN(const json::Value height, get(value, "lastValidBlockHeight"));
  WEFT_ASSIGN(const std::string word, hash.string());
  WEFT_ASSIGN(const PublicKey key, PublicKey::parse(word));
  RecentBlockhash out;
  out.hash.bytes = key.bytes;
  WEFT_ASSIGN(out.last_valid_height, whole(height));
  return out;
}

Result<std::uint64_t> read_value(std::string_view result) {
  WEFT_ASSIGN(const json::Value root, json::parse(result));
  WEFT_ASSIGN(const json::Value value, get(root, "value"));
  return whole(value);
}

Result<std::optional<AccountData>> read_account(std::string_view result) {
  WEFT_ASSIGN(const json::Value root, json::parse(result, answer_limits));
  WEFT_ASSIGN(const json::Value value, get(root, "value"));
  if (is_null(value)) return std::nullopt;
  WEFT_ASSIGN(AccountData out, account_of(value));
  return out;
}

Result<std::vector<std::optional<AccountData>>> read_accounts(std::string_view result,
                                                              std::size_t asked) {
  WEFT_ASSIGN(const json::Value root, json::parse(result, answer_limits));
  WEFT_ASSIGN(const json::Value value, get(root, "value"));
  std::vector<std::optional<AccountData>> out;
  WEFT_OK(value.for_each({.count_max = asked}, [&](const json::Value& row) -> Result<> {
    out.emplace_back();
    if (is_null(row)) return {};
    WEFT_ASSIGN(out.back(), account_of(row));
    return {};
  }));
  if (out.size() != asked)
    return fail(ErrorCode::data_loss, "The node's answer has {} accounts; {} were asked for.",
                out.size(), asked);
  return out;
}

Result<Rpc::FoundAccounts> read_found_accounts(std::string_view result) {
  WEFT_ASSIGN(const json::Value root, json::parse(result, answer_limits));
  WEFT_ASSIGN(const json::Value context, get(root, "context"));
  WEFT_ASSIGN(const json::Value slot, get(context, "slot"));
  WEFT_ASSIGN(const json::Value rows, get(root, "value"));
  Rpc::FoundAccounts out;
  WEFT_ASSIGN(out.slot, whole(slot));
  WEFT_OK(rows.for_each({.count_max = accounts_max}, [&](const json::Value& row) -> Result<> {
    WEFT_ASSIGN(const json::Value account, get(row, "account"));
    WEFT_ASSIGN(out.accounts.emplace_back(), account_of(account));
    return {};
  }));
  return out;
}

Result<std::uint64_t> read_priority_fee(std::string_view result) {
  WEFT_ASSIGN(const json::Value root, json::parse(result));
  WEFT_ASSIGN(const auto rows, root.array());
  std::vector<std::uint64_t> fees;
  for (const json::Value& row : rows) {
    WEFT_ASSIGN(const json::Value fee, get(row, "prioritizationFee"));
    WEFT_ASSIGN(fees.emplace_back(), whole(fee));
  }
  if (fees.empty()) return 0;
  std::ranges::sort(fees);
  return fees[fees.size() / 2];
}

Result<Simulation> read_simulation(std::string_view result) {
  WEFT_ASSIGN(const json::Value root, json::parse(result, answer_limits));
  WEFT_ASSIGN(const json::Value value, get(root, "value"));
  Simulation out;
  WEFT_ASSIGN(const json::Value error, get(value, "err"));
  WEFT_ASSIGN(out.failure, failure_of(error));
  WEFT_ASSIGN(const auto units, find(value, "unitsConsumed"));
  if (units && !is_null(*units)) {
    WEFT_ASSIGN(out.units, whole(*units));
  }
  WEFT_ASSIGN(const auto logs, find(value, "logs"));
  if (logs && logs->kind() == json::Kind::array) {
    WEFT_ASSIGN(const auto lines, logs->array());
    for (const json::Value& line : lines) {
      WEFT_ASSIGN(out.logs.emplace_back(), line.string({.bytes_max = 65536}));
    }
  }
  return out;
}

Result<std::optional<SignatureStatus>> read_status(std::string_view result) {
  WEFT_ASSIGN(const json::Value root, json::parse(result));
  WEFT_ASSIGN(const json::Value value, get(root, "value"));
  WEFT_ASSIGN(const auto rows, value.array());
  if (rows.size() != 1)
    return fail(ErrorCode::data_loss, "The node's answer has {} statuses; one was asked for.",
                rows.size());
  if (is_null(rows[0])) return std::nullopt;
  SignatureStatus out;
  WEFT_ASSIGN(const json::Value slot, get(rows[0], "slot"));
  WEFT_ASSIGN(out.slot, whole(slot));
  WEFT_ASSIGN(const json::Value level, get(rows[0], "confirmationStatus"));
  WEFT_ASSIGN(const std::string word, level.string());
  WEFT_ASSIGN(out.level, confirmation_from(word));
  WEFT_ASSIGN(const json::Value error, get(rows[0], "err"));
  WEFT_ASSIGN(out.failure, failure_of(error));
  return out;
}

Result<Lamports> read_fee(std::string_view result, const Signature& signature) {
  WEFT_ASSIGN(const json::Value root, json::parse(result, answer_limits));
  if (is_null(root))
    return fail(ErrorCode::unavailable, "The node does not know the transaction {} any more.",
                signature.text());
  WEFT_ASSIGN(const json::Value meta, get(root, "meta"));
  WEFT_ASSIGN(const json::Value fee, get(meta, "fee"));
  return whole(fee);
}

std::string_view to_string(Confirmation level) {
  switch (level) {
    case Confirmation::processed:
      return "processed";
    case Confirmation::confirmed:
      return "confirmed";
    case Confirmation::finalized:
      return "finalized";
  }
  return "";
}

Result<Confirmation> confirmation_from(std::string_view word) {
  for (const auto level :
       {Confirmation::processed, Confirmation::confirmed, Confirmation::finalized})
    if (to_string(level) == word) return level;
  return fail(ErrorCode::invalid_argument,
              "'{}' is not a level of confirmation: processed, confirmed or finalized.", word);
}

}  // namespace weft::chain
