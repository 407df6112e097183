// The on-chain program of settlement as the client sees it: what its instructions take, what its
// accounts hold, what its refusals mean. The tables are generated from chain/layout.mjs, as the
// program's own layout is; chain/LAYOUT.md explains the fields.
//
//   ProgramCall call = ProgramCall::named("unstake").value();
//   call.key("owner", wallet).key("config", config).key("stake", stake).number("amount",
//   5'000'000); WEFT_ASSIGN(Instruction instruction, call.build(program));
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/solana/transaction.h"

namespace weft::solana {

enum class FieldType : std::uint8_t { u8, u16, u32, u48, u64, key };
[[nodiscard]] std::size_t width_of(FieldType type);
struct Field {
  std::string_view name;
  FieldType type;
  std::uint32_t at;
  std::uint32_t count;  // Elements of an array.
};
struct CallAccount {
  std::string_view name;
  std::string_view kind;  // As chain/layout.mjs names it.
  bool signer, writable;
};
struct CallLayout {
  std::string_view name;
  std::uint8_t tag;
  std::uint32_t bytes;
  std::span<const CallAccount> accounts;
  std::span<const Field> fields;
};
struct StateLayout {
  std::string_view name;
  std::uint8_t kind;  // The first byte of the account.
  std::uint32_t bytes;
  std::span<const Field> fields;
};
struct CheckText {
  std::uint32_t number;
  std::string_view name;
  std::string_view attack;  // What would go through without the check.
};
struct ParameterBounds {
  std::string_view name;
  std::uint64_t least, most;
};
[[nodiscard]] std::span<const CallLayout> call_layouts();
[[nodiscard]] std::span<const StateLayout> state_layouts();
[[nodiscard]] std::span<const CheckText> check_texts();
[[nodiscard]] std::span<const ParameterBounds> parameter_bounds();

[[nodiscard]] const StateLayout& state_layout(std::string_view name);  // One that exists.

// Epochs that the config remembers, each at its number modulo this, and owners of a page.
inline constexpr std::uint64_t epochs_remembered = 16;
inline constexpr std::uint32_t owners_of_page = 1280;
enum class EpochState : std::uint8_t { none, pending, final, voided };

// "charge_funds: a charge above the deposit"; "error 17" for a number that the program does not
// use.
[[nodiscard]] std::string refusal_text(std::uint32_t number);

// One instruction of the program, filled in by name. A name that does not exist is a bug.
class ProgramCall {
 public:
  [[nodiscard]] static Result<ProgramCall> named(std::string_view name);

  ProgramCall& key(std::string_view account, const PublicKey& key);
  ProgramCall& number(std::string_view field, std::uint64_t value, std::size_t index = 0);
  ProgramCall& data_key(std::string_view field, const PublicKey& key, std::size_t index = 0);
  ProgramCall& tail(ByteSpan bytes);          // What follows the fields, such as siblings.
  ProgramCall& signer(const PublicKey& key);  // A further account that signs.

  // invalid_argument if an account is missing. The system, token and instructions accounts are
  // filled in.
  [[nodiscard]] Result<Instruction> build(const PublicKey& program) const;
  [[nodiscard]] const CallLayout& layout() const { return *layout_; }

 private:
  explicit ProgramCall(const CallLayout& layout);
  const CallLayout* layout_;
  std::map<std::string_view, PublicKey> keys_;
  std::vector<PublicKey> signers_;
  ByteVector data_;
};

// An account of the program, read by name.
class ProgramState {
 public:
  // data_loss if the bytes are no such account.
  [[nodiscard]] static Result<ProgramState> read(std::string_view name, ByteVector bytes);
  [[nodiscard]] std::uint64_t number(std::string_view field) const;
  [[nodiscard]] PublicKey key(std::string_view field, std::size_t index = 0) const;

 private:
  ProgramState(const StateLayout& layout, ByteVector bytes)
      : layout_(&layout), bytes_(std::move(bytes)) {}
  const StateLayout* layout_;
  ByteVector bytes_;
};

// Addresses of the program's accounts.
struct Network {
  PublicKey program;
  PublicKey mint;

  [[nodiscard]] PublicKey config() const;
  [[nodiscard]] PublicKey escrow(const PublicKey& owner) const;
  [[nodiscard]] PublicKey stake(const PublicKey& owner) const;
  struct Page {
    PublicKey address;
    std::uint8_t bump = 0;
  };
  [[nodiscard]] Page page(std::uint32_t number) const;
  [[nodiscard]] PublicKey proposal(std::uint64_t number) const;
  [[nodiscard]] PublicKey vote(const PublicKey& proposal, const PublicKey& stake) const;
  [[nodiscard]] PublicKey device(const PublicKey& owner, const PublicKey& device) const;
  [[nodiscard]] PublicKey receipt(const Hash& digest) const;
  // Each payer that shows a leaf has an address of its own for it.
  [[nodiscard]] PublicKey shown_leaf(const PublicKey& root, std::uint64_t position,
                                     const PublicKey& payer) const;
  [[nodiscard]] PublicKey demand(std::uint64_t post, const PublicKey& owner) const;
};

}  // namespace weft::solana
