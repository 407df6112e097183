#include "service/ledger/account.h"

#include <algorithm>

namespace weft::ledger {
namespace {

constexpr std::array<std::string_view, 6> words = {"mint", "client", "escrow", "worker", "stake", "platform"};

bool has_key(Account::Kind kind) { return kind == Account::Kind::client || kind == Account::Kind::worker || kind == Account::Kind::stake; }

}  // namespace

Account Account::escrow(const JobId& job) {
  Account account{.kind = Kind::escrow, .id = {}};
  std::ranges::copy(job.bytes, account.id.begin());
  return account;
}

std::string Account::text() const {
  const std::string word(words[static_cast<std::size_t>(kind)]);
  if (has_key(kind)) return word + ":" + to_base58(id);
  if (kind == Kind::escrow) return word + ":" + to_hex(ByteSpan(id).first(JobId::size));
  return word;
}

Result<Account> Account::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto word = std::ranges::find(words, text.substr(0, colon));
  if (word == words.end())
    return fail(ErrorCode::invalid_argument, "An account begins with mint, client, escrow, worker, stake or platform; this is '{}'.",
                text.substr(0, 64));
  Account account{.kind = static_cast<Kind>(word - words.begin()), .id = {}};
  const bool bare = account.kind == Kind::mint || account.kind == Kind::platform;
  if (bare != (colon == std::string_view::npos)) {
    return fail(ErrorCode::invalid_argument, "The account '{}' is written {}.", *word, bare ? "alone" : "with ':' and an id behind it");
  }
  if (bare) return account;
  if (account.kind == Kind::escrow) {
    WEFT_ASSIGN(const JobId job, JobId::parse(text.substr(colon + 1)));
    return escrow(job);
  }
  WEFT_ASSIGN(const PublicKey key, PublicKey::parse(text.substr(colon + 1)));
  account.id = key.bytes;
  return account;
}

}  // namespace weft::ledger
