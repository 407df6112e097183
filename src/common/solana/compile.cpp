#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "common/solana/key_order.h"
#include "common/solana/transaction.h"

namespace weft::solana {
namespace {

// A key of the message, with the flags of all its uses combined.
struct Used {
  PublicKey key;
  std::string text = {};
  bool payer = false, signer = false, writable = false, program = false;
  std::optional<std::size_t> table = std::nullopt;  // Index into the plan's tables.
  std::uint8_t table_index = 0;

  [[nodiscard]] int rank() const {
    if (payer) return 0;
    return (table ? 5 : 1) + (signer ? 0 : 2) + (writable ? 0 : 1);
  }
};

Used& use_of(std::vector<Used>& all, const PublicKey& key) {
  const auto found = std::ranges::find(all, key, &Used::key);
  if (found != all.end()) return *found;
  return all.emplace_back(Used{.key = key, .text = key.text()});
}

void look_up(std::vector<Used>& all, std::span<const LookupTable> tables) {
  for (Used& used : all) {
    if (used.payer || used.signer || used.program) continue;
    for (std::size_t t = 0; t < tables.size() && !used.table; ++t) {
      const auto found = std::ranges::find(tables[t].keys, used.key);
      if (found == tables[t].keys.end() || found - tables[t].keys.begin() > 255) continue;
      used.table = t;
      used.table_index = static_cast<std::uint8_t>(found - tables[t].keys.begin());
    }
  }
}

}  // namespace

Result<Message> compile(const MessagePlan& plan) {
  if (plan.version == MessageVersion::legacy && !plan.tables.empty())
    return fail(ErrorCode::invalid_argument, "A legacy message cannot use lookup tables.");
  std::vector<Used> all;
  Used& payer = use_of(all, plan.payer);
  payer.payer = payer.signer = payer.writable = true;
  for (const Instruction& instruction : plan.instructions) {
    use_of(all, instruction.program).program = true;
    for (const AccountUse& account : instruction.accounts) {
      Used& used = use_of(all, account.key);
      used.signer = used.signer || account.signer;
      used.writable = used.writable || account.writable;
    }
  }
  for (const Used& used : all)
    if (used.program && used.writable)
      return fail(ErrorCode::invalid_argument,
                  "The program {} is both invoked and writable, which is not allowed.", used.text);
  if (all.size() > keys_max)
    return fail(ErrorCode::invalid_argument, "A message names {} keys; at most {} are allowed.",
                all.size(), keys_max);
  look_up(all, plan.tables);
  std::vector<std::string> table_texts;
  for (const LookupTable& table : plan.tables) table_texts.push_back(table.address.text());
  std::ranges::sort(all, [&](const Used& a, const Used& b) {
    if (a.rank() != b.rank()) return a.rank() < b.rank();
    if (a.table && *a.table != *b.table)
      return text_before(table_texts[*a.table], table_texts[*b.table]);
    return text_before(a.text, b.text);
  });

  Message message{.version = plan.version, .blockhash = plan.blockhash};
  std::map<PublicKey, std::uint8_t> place;
  for (const Used& used : all) {
    place.emplace(used.key, static_cast<std::uint8_t>(place.size()));
    if (used.table) {
      const PublicKey& address = plan.tables[*used.table].address;
      auto table = std::ranges::find(message.tables, address, &TableUse::table);
      if (table == message.tables.end())
        table = message.tables.insert(message.tables.end(), TableUse{.table = address});
      (used.writable ? table->writable : table->read_only).push_back(used.table_index);
      continue;
    }
    message.keys.push_back(used.key);
    message.signers = static_cast<std::uint8_t>(message.signers + (used.signer ? 1 : 0));
    if (!used.writable) {
      auto& count = used.signer ? message.read_only_signers : message.read_only_others;
      count = static_cast<std::uint8_t>(count + 1);
    }
  }
  std::ranges::sort(message.tables, [](const TableUse& a, const TableUse& b) {
    return text_before(a.table.text(), b.table.text());
  });
  for (const Instruction& instruction : plan.instructions) {
    CompiledInstruction& out = message.instructions.emplace_back();
    out.program = place.at(instruction.program);
    for (const AccountUse& account : instruction.accounts)
      out.accounts.push_back(place.at(account.key));
    out.data = instruction.data;
  }
  return message;
}

}  // namespace weft::solana
