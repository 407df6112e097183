// The client's view of the on-chain settlement program: the parameters of its instructions, the
// contents of its accounts, and the meaning of its refusals. The tables are generated from
// chain/layout.mjs, as the program's own layout is; chain/LAYOUT.md explains the fields.
//
//   ProgramCall call = ProgramCall::named("unstake").value();
//   call.key("owner", wallet).key("config", config).key("stake", stake);
//   call.number("amount", 5'000'000);
//   WEFT_ASSIGN(Instruction instruction, call.build(program));
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
  std::uint32_t count;  // The number of elements of an array.
};
struct CallAccount {
  std::string_view name;
  std::string_view kind;  // The name in chain/layout.mjs.
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
  std::string_view attack;  // The attack that would succeed without the check.
};
struct ParameterBounds {
  std::string_view name;
  std::uint64_t least, most;
};
[[nodiscard]] std::span<const CallLayout> call_layouts();
[[nodiscard]] std::span<const StateLayout> state_layouts();
[[nodiscard]] std::span<const CheckText> check_texts();
[[nodiscard]] std::span<const ParameterBounds> parameter_bounds();

[[nodiscard]] const StateLayout& state_layout(std::string_view name);  // The layout must exist.

// The number of epochs that the config remembers (each at its number modulo this), and of owners on
// a page.
inline constexpr std::uint64_t epochs_remembered = 16;
inline constexpr std::uint32_t owners_of_page = 1280;
enum class EpochState : std::uint8_t { none, pending, final, voided };

// The text of a refusal, such as "charge_funds: a charge above the deposit"; "error 17" for a
// number that the program does not use.
[[nodiscard]] std::string refusal_text(std::uint32_t number);

// One instruction of the program, whose fields are set by name. An unknown name is a bug.
class ProgramCall {
 public:
  [[nodiscard]] static Result<ProgramCall> named(std::string_view name);

  ProgramCall& key(std::string_view account, const PublicKey& key);
  ProgramCall& number(std::string_view field, std::uint64_t value, std::size_t index = 0);
  ProgramCall& data_key(std::string_view field, const PublicKey& key, std::size_t index = 0);
  ProgramCall& tail(ByteSpan bytes);          // Adds bytes after the fields, such as siblings.
  ProgramCall& signer(const PublicKey& key);  // Adds an account that signs.

  // Builds the instruction and fills in the system, token and instructions accounts. Fails with
  // invalid_argument if an account is missing.
  [[nodiscard]] Result<Instruction> build(const PublicKey& program) const;
  [[nodiscard]] const CallLayout& layout() const { return *layout_; }

 private:
  explicit ProgramCall(const CallLayout& layout);
  const CallLayout* layout_;
  std::map<std::string_view, PublicKey> keys_;
  std::vector<PublicKey> signers_;
  ByteVector data_;
};

// An account of the program, whose fields are read by name.
class ProgramState {
 public:
  // Fails with data_loss if the bytes are not an account of this kind.
  [[nodiscard]] static Result<ProgramState> read(std::string_view name, ByteVector bytes);
  [[nodiscard]] std::uint64_t number(std::string_view field) const;
  [[nodiscard]] PublicKey key(std::string_view field, std::size_t index = 0) const;

 private:
  ProgramState(const StateLayout& layout, ByteVector bytes)
      : layout_(&layout), bytes_(std::move(bytes)) {}
  const StateLayout* layout_;
  ByteVector bytes_;
};

// A network: its program, and the addresses of the program's accounts.
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
  // The address for a leaf that `payer` shows; each payer has its own.
  [[nodiscard]] PublicKey shown_leaf(const PublicKey& root, std::uint64_t position,
                                     const PublicKey& payer) const;
  [[nodiscard]] PublicKey demand(std::uint64_t post, const PublicKey& owner) const;
};

}  // namespace weft::solana
