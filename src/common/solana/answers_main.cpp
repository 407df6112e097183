// Answers the cases of chain/tests/client.test.mjs, one line each, so that they can be compared
// with the answers of another library:
//
//   curve KEY                               -> yes | no
//   address PROGRAM SEED...                 -> ADDRESS BUMP
//   token_account WALLET MINT               -> ADDRESS
//   message legacy|v0 PAYER BLOCKHASH WORD...  -> HEX | refused
//   decode HEX                              -> HEX | refused
//   tree POSITION OWNER:INDEX:AMOUNT:UNITS...  -> ROOT SUM SIBLING:SUM...
//
// Seeds are in hex, with - for an empty one. The words of a message are: i PROGRAM DATA, a KEY
// FLAGS (s, w or -), t TABLE, k KEY. `decode` decodes a transaction and encodes it again.
#include <charconv>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/solana/address.h"
#include "common/solana/sum_tree.h"
#include "common/solana/transaction.h"

namespace {

using namespace weft;

PublicKey key(const std::string& text) {
  auto parsed = PublicKey::parse(text);
  check(parsed.has_value(), "a case has a key");
  return *parsed;
}
ByteVector bytes(const std::string& text) {
  if (text == "-") return {};
  auto parsed = from_hex(text);
  check(parsed.has_value(), "a case has bytes in hex");
  return *parsed;
}
std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  check(read.ec == std::errc() && read.ptr == text.data() + text.size(), "a case has a number");
  return value;
}

std::string address(std::istream& words) {
  std::string program;
  words >> program;
  std::vector<ByteVector> seeds;
  for (std::string seed; words >> seed;) seeds.push_back(bytes(seed));
  const std::vector<ByteSpan> spans(seeds.begin(), seeds.end());
  const auto found = solana::find_program_address(spans, key(program));
  return found ? found->address.text() + " " + std::to_string(found->bump) : "refused";
}

std::string message(std::istream& words) {
  std::string version, payer, blockhash;
  words >> version >> payer >> blockhash;
  std::vector<solana::Instruction> instructions;
  std::vector<solana::LookupTable> tables;
  for (std::string word, first, second; words >> word >> first;) {
    if (word == "i") {
      words >> second;
      instructions.push_back({.program = key(first), .accounts = {}, .data = bytes(second)});
    } else if (word == "a") {
      words >> second;
      instructions.back().accounts.push_back(
          {.key = key(first), .signer = second.contains('s'), .writable = second.contains('w')});
    } else if (word == "t") {
      tables.push_back({.address = key(first), .keys = {}});
    } else {
      tables.back().keys.push_back(key(first));
    }
  }
  Hash recent;
  recent.bytes = key(blockhash).bytes;
  const auto compiled = solana::compile(
      {.payer = key(payer),
       .instructions = instructions,
       .blockhash = recent,
       .version = version == "v0" ? solana::MessageVersion::v0 : solana::MessageVersion::legacy,
       .tables = tables});
  if (!compiled) return "refused";
  const auto again = solana::decode_message(solana::encode(*compiled));
  check(!again || *again == *compiled, "a message is decoded as it was encoded");
  return to_hex(solana::encode(*compiled));
}

std::string tree(std::istream& words) {
  std::string position;
  words >> position;
  std::vector<solana::Earned> owners;
  for (std::string word; words >> word;) {
    std::istringstream parts(word);
    std::string owner, index, amount, units;
    std::getline(parts, owner, ':');
    std::getline(parts, index, ':');
    std::getline(parts, amount, ':');
    std::getline(parts, units, ':');
    owners.push_back({.owner = key(owner),
                      .index = static_cast<std::uint32_t>(number(index)),
                      .amount = number(amount),
                      .units = number(units)});
  }
  const auto made = solana::SumTree::create(std::move(owners));
  if (!made) return "refused";
  std::string out = made->root().hash.text() + " " + std::to_string(made->root().sum);
  for (const auto& one : made->path(static_cast<std::uint32_t>(number(position))).siblings)
    out += " " + one.hash.text() + ":" + std::to_string(one.sum);
  return out;
}

std::string answer(const std::string& line) {
  std::istringstream words(line);
  std::string what, first, second;
  words >> what;
  if (what == "address") return address(words);
  if (what == "message") return message(words);
  if (what == "tree") return tree(words);
  words >> first;
  if (what == "curve") return solana::is_on_curve(key(first)) ? "yes" : "no";
  if (what == "token_account") {
    words >> second;
    return solana::associated_token_account(key(first), key(second)).text();
  }
  check(what == "decode", "a case has a known word");
  const auto decoded = solana::decode_transaction(bytes(first));
  return decoded ? to_hex(solana::encode(*decoded)) : "refused";
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << '\n';
  return 0;
}
