#include "common/records/account.h"

#include <algorithm>

namespace weft {

Result<OwnerId> OwnerId::parse(std::string_view text) {
  WEFT_ASSIGN(const PublicKey key, PublicKey::parse(text));
  return of_first(key);
}

}  // namespace weft

namespace weft::ledger {
namespace {

constexpr std::array<std::string_view, Account::kinds> words = {"mint",
                                                                "owner",
                                                                "escrow",
                                                                "worker",
                                                                "stake",
                                                                "platform",
                                                                "granted",
                                                                "escrow-granted",
                                                                "held",
                                                                "held-granted",
                                                                "verification",
                                                                "verification-granted",
                                                                "platform-granted",
                                                                "settled"};

bool is_escrow(Account::Kind kind) {
  return kind == Account::Kind::escrow || kind == Account::Kind::escrow_granted;
}

Account escrow_of(Account::Kind kind, const JobId& job) {
  Account account{.kind = kind, .id = {}};
  std::ranges::copy(job.bytes, account.id.begin());
  return account;
}

}  // namespace

bool is_granted(Account::Kind kind) {
  switch (kind) {
    case Account::Kind::granted:
    case Account::Kind::escrow_granted:
    case Account::Kind::held_granted:
    case Account::Kind::verification_granted:
    case Account::Kind::platform_granted:
      return true;
    default:
      return false;
  }
}

bool has_owner(Account::Kind kind) {
  switch (kind) {
    case Account::Kind::owner:
    case Account::Kind::granted:
    case Account::Kind::held:
    case Account::Kind::held_granted:
    case Account::Kind::stake:
    case Account::Kind::worker:
    case Account::Kind::settled:
      return true;
    default:
      return false;
  }
}

Account Account::escrow(const JobId& job) { return escrow_of(Kind::escrow, job); }
Account Account::escrow_granted(const JobId& job) { return escrow_of(Kind::escrow_granted, job); }

std::string Account::text() const {
  std::string word(words[static_cast<std::size_t>(kind)]);
  if (has_owner(kind)) return word + ":" + to_base58(id);
  if (is_escrow(kind)) return word + ":" + to_hex(ByteSpan(id).first(JobId::size));
  return word;
}

Result<Account> Account::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view given = text.substr(0, colon);
  const auto word = std::ranges::find(words, given == "client" ? "owner" : given);
  if (word == words.end())
    return fail(
        ErrorCode::invalid_argument,
        "An account begins with mint, owner, granted, held, held-granted, stake, settled, "
        "escrow, escrow-granted, verification, verification-granted, platform or platform-granted; "
        "this is '{}'.",
        text.substr(0, 64));
  Account account{.kind = static_cast<Kind>(word - words.begin()), .id = {}};
  const bool bare = !has_owner(account.kind) && !is_escrow(account.kind);
  if (bare != (colon == std::string_view::npos)) {
    return fail(ErrorCode::invalid_argument, "The account '{}' must be written {}.", *word,
                bare ? "alone" : "with ':' and an id after it");
  }
  if (bare) return account;
  if (is_escrow(account.kind)) {
    WEFT_ASSIGN(const JobId job, JobId::parse(text.substr(colon + 1)));
    return escrow_of(account.kind, job);
  }
  WEFT_ASSIGN(const PublicKey key, PublicKey::parse(text.substr(colon + 1)));
  account.id = key.bytes;
  return account;
}

}  // namespace weft::ledger
