// `weft chain receipt list`: prints the receipts of an owner's devices that are on the chain.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/line.h"
#include "apps/cli/wallet_choice.h"

namespace weft::cli {
namespace {

struct Recorded {
  PublicKey account, device, payer;
  Hash digest, root;
  std::uint64_t recorded_at = 0, closable_at = 0;
  std::uint64_t device_ends_at = 0;  // When the device stops signing for its owner; 0: never.
};

Hash hash_of(const PublicKey& key) {
  Hash out;
  out.bytes = key.bytes;
  return out;
}

// Returns the receipts that the program has for this network, oldest first.
Result<std::vector<Recorded>> recorded_of(const SettlementLine& line, const PublicKey& owner) {
  const std::uint64_t evidence = line.config.number("evidence_seconds");
  std::vector<Recorded> out;
  WEFT_ASSIGN(const auto devices, line.states("device", chain::Confirmation::confirmed, owner));
  for (const solana::ProgramState& device : devices.states) {
    const PublicKey key = device.key("device");
    WEFT_ASSIGN(const auto receipts, line.states("receipt", chain::Confirmation::confirmed,
                                                 line.network.device(owner, key)));
    for (const solana::ProgramState& receipt : receipts.states) {
      const Hash digest = hash_of(receipt.key("digest"));
      out.push_back({.account = line.network.receipt(digest),
                     .device = key,
                     .payer = receipt.key("payer"),
                     .digest = digest,
                     .root = hash_of(receipt.key("root")),
                     .recorded_at = receipt.number("recorded_at"),
                     .closable_at = receipt.number("recorded_at") + evidence,
                     .device_ends_at = device.number("ends_at")});
    }
  }
  std::ranges::sort(out, [](const Recorded& a, const Recorded& b) {
    return std::pair(a.recorded_at, a.account) < std::pair(b.recorded_at, b.account);
  });
  return out;
}

std::string utc_text(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return weft::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                      parts.tm_mday, parts.tm_hour, parts.tm_min);
}

void print_json(const PublicKey& owner, std::span<const Recorded> rows) {
  std::string text;
  for (const Recorded& one : rows)
    text += weft::format(
        R"({}{{"receipt":"{}","device":"{}","digest":"{}","root":"{}","payer":"{}",)"
        R"("recorded_at":{},"closable_at":{},"device_ends_at":{}}})",
        text.empty() ? "" : ",", one.account.text(), one.device.text(), one.digest.text(),
        one.root.text(), one.payer.text(), one.recorded_at, one.closable_at, one.device_ends_at);
  std::printf("%s\n",
              weft::format(R"({{"owner":"{}","receipts":[{}]}})", owner.text(), text).c_str());
}

void print_table(const PublicKey& owner, std::span<const Recorded> rows, std::uint64_t now) {
  if (rows.empty()) {
    std::printf("No receipt of a device of %s is recorded.\n", owner.text().c_str());
    return;
  }
  std::printf("%-44s  %-44s  %-16s  %s\n", "receipt", "device", "recorded, UTC", "its rent");
  for (const Recorded& one : rows)
    std::printf("%-44s  %-44s  %-16s  %s\n", one.account.text().c_str(), one.device.text().c_str(),
                utc_text(one.recorded_at).c_str(),
                now >= one.closable_at ? "can be taken back"
                                       : ("held to " + utc_text(one.closable_at)).c_str());
}

Result<> list(const SettlementOptions& options) {
  WEFT_ASSIGN(const SettlementLine line, settlement_line(options));
  PublicKey owner;
  if (options.owner.empty()) {
    WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
    owner = wallet.public_key();
  } else {
    WEFT_ASSIGN(owner, parse_key(options.owner, "an owner"));
  }
  WEFT_ASSIGN(const auto rows, recorded_of(line, owner));
  WEFT_ASSIGN(const std::uint64_t now, chain_time(*line.rpc));
  if (options.json) {
    print_json(owner, rows);
  } else {
    print_table(owner, rows, now);
  }
  return {};
}

}  // namespace

int chain_receipt_list_command(const SettlementOptions& options) {
  const auto done = list(options);
  return done ? 0 : report("chain receipt list", done.error());
}

}  // namespace weft::cli
