#include "common/solana/program.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/solana/address.h"

namespace weft::solana {
namespace {

const Field& field_named(std::span<const Field> fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  check(found != fields.end(), "the layout has this field");
  return *found;
}

// Sets `out` to the key of an account if every network has the same key for this kind of account.
bool fixed_key(std::string_view kind, PublicKey& out) {
  if (kind == "system_program") {
    out = system_program();
  } else if (kind == "token_program") {
    out = token_program();
  } else if (kind == "instructions") {
    out = instructions_sysvar();
  } else {
    return false;
  }
  return true;
}

FoundAddress address_of(const PublicKey& program, std::initializer_list<ByteSpan> seeds) {
  const auto found = find_program_address(std::span(seeds.begin(), seeds.size()), program);
  check(found.has_value(), "an account of the program has an address");
  return *found;
}

}  // namespace

std::size_t width_of(FieldType type) {
  switch (type) {
    case FieldType::u8:
      return 1;
    case FieldType::u16:
      return 2;
    case FieldType::u32:
      return 4;
    case FieldType::u48:
      return 6;
    case FieldType::u64:
      return 8;
    case FieldType::key:
      return 32;
  }
  return 0;
}

std::string refusal_text(std::uint32_t number) {
  const auto found = std::ranges::find(check_texts(), number, &CheckText::number);
  if (found == check_texts().end()) return weft::format("error {}", number);
  return weft::format("{}: {}", found->name, found->attack);
}

ProgramCall::ProgramCall(const CallLayout& layout) : layout_(&layout), data_(layout.bytes) {
  data_[0] = layout.tag;
}

Result<ProgramCall> ProgramCall::named(std::string_view name) {
  const auto found = std::ranges::find(call_layouts(), name, &CallLayout::name);
  if (found == call_layouts().end())
    return fail(ErrorCode::not_found, "The program has no instruction '{}'.", name);
  return ProgramCall(*found);
}

ProgramCall& ProgramCall::key(std::string_view account, const PublicKey& key) {
  const auto found = std::ranges::find(layout_->accounts, account, &CallAccount::name);
  check(found != layout_->accounts.end(), "the instruction takes this account");
  keys_[found->name] = key;
  return *this;
}

ProgramCall& ProgramCall::number(std::string_view field, std::uint64_t value, std::size_t index) {
  const Field& at = field_named(layout_->fields, field);
  const std::size_t width = width_of(at.type);
  check(at.type != FieldType::key && index < at.count && (width == 8 || value >> (8 * width) == 0),
        "the number fits its field");
  for (std::size_t i = 0; i < width; ++i)
    data_[at.at + index * width + i] = static_cast<std::uint8_t>(value >> (8 * i));
  return *this;
}

ProgramCall& ProgramCall::data_key(std::string_view field, const PublicKey& key,
                                   std::size_t index) {
  const Field& at = field_named(layout_->fields, field);
  check(at.type == FieldType::key && index < at.count, "the field has room for this key");
  std::ranges::copy(key.bytes, data_.begin() + static_cast<std::ptrdiff_t>(at.at + 32 * index));
  return *this;
}

ProgramCall& ProgramCall::tail(ByteSpan bytes) {
  append(data_, bytes);
  return *this;
}

ProgramCall& ProgramCall::signer(const PublicKey& key) {
  signers_.push_back(key);
  return *this;
}

Result<Instruction> ProgramCall::build(const PublicKey& program) const {
  Instruction out{.program = program, .accounts = {}, .data = data_};
  for (const CallAccount& account : layout_->accounts) {
    AccountUse use{.key = {}, .signer = account.signer, .writable = account.writable};
    if (const auto found = keys_.find(account.name); found != keys_.end()) {
      use.key = found->second;
    } else if (!fixed_key(account.kind, use.key)) {
      return fail(ErrorCode::invalid_argument, "The instruction {} needs the account {}.",
                  layout_->name, account.name);
    }
    out.accounts.push_back(use);
  }
  for (const PublicKey& one : signers_) out.accounts.push_back({one, true, false});
  return out;
}

const StateLayout& state_layout(std::string_view name) {
  const auto found = std::ranges::find(state_layouts(), name, &StateLayout::name);
  check(found != state_layouts().end(), "the program has this kind of account");
  return *found;
}

Result<ProgramState> ProgramState::read(std::string_view name, ByteVector bytes) {
  const StateLayout& layout = state_layout(name);
  if (bytes.size() != layout.bytes || bytes[0] != layout.kind)
    return fail(
        ErrorCode::data_loss,
        "The account has {} bytes of kind {}; a {} has {} of kind {}. Is this the network's "
        "mint and program?",
        bytes.size(), bytes.empty() ? 0 : bytes[0], name, layout.bytes, layout.kind);
  return ProgramState(layout, std::move(bytes));
}

std::uint64_t ProgramState::number(std::string_view field) const {
  const Field& at = field_named(layout_->fields, field);
  std::uint64_t value = 0;
  for (std::size_t i = width_of(at.type); i-- > 0;) value = value << 8 | bytes_[at.at + i];
  return value;
}

PublicKey ProgramState::key(std::string_view field, std::size_t index) const {
  const Field& at = field_named(layout_->fields, field);
  check(at.type == FieldType::key && index < at.count, "the field is a key");
  PublicKey out;
  std::ranges::copy(ByteSpan(bytes_).subspan(at.at + 32 * index, 32), out.bytes.begin());
  return out;
}

PublicKey Network::config() const {
  return address_of(program, {as_bytes("config"), mint.span()}).address;
}
PublicKey Network::escrow(const PublicKey& owner) const {
  const PublicKey own = config();
  return address_of(program, {as_bytes("escrow"), own.span(), owner.span()}).address;
}
PublicKey Network::stake(const PublicKey& owner) const {
  const PublicKey own = config();
  return address_of(program, {as_bytes("stake"), own.span(), owner.span()}).address;
}
Network::Page Network::page(std::uint32_t number) const {
  const PublicKey own = config();
  ByteVector text;
  append_le(text, number);
  const FoundAddress found = address_of(program, {as_bytes("page"), own.span(), text});
  return {found.address, found.bump};
}
PublicKey Network::proposal(std::uint64_t number) const {
  const PublicKey own = config();
  ByteVector text;
  append_le(text, number);
  return address_of(program, {as_bytes("proposal"), own.span(), text}).address;
}
PublicKey Network::device(const PublicKey& owner, const PublicKey& device) const {
  const PublicKey own = config();
  return address_of(program, {as_bytes("device"), own.span(), owner.span(), device.span()}).address;
}
PublicKey Network::receipt(const Hash& digest) const {
  const PublicKey own = config();
  return address_of(program, {as_bytes("receipt"), own.span(), digest.span()}).address;
}
PublicKey Network::shown_leaf(const PublicKey& root, std::uint64_t position,
                              const PublicKey& payer) const {
  const PublicKey own = config();
  ByteVector text;
  append_le(text, position);
  return address_of(program, {as_bytes("leaf"), own.span(), root.span(), text, payer.span()})
      .address;
}
PublicKey Network::demand(std::uint64_t post, const PublicKey& owner) const {
  const PublicKey own = config();
  ByteVector text;
  append_le(text, post);
  return address_of(program, {as_bytes("demand"), own.span(), text, owner.span()}).address;
}
PublicKey Network::vote(const PublicKey& proposal, const PublicKey& stake) const {
  return address_of(program, {as_bytes("vote"), proposal.span(), stake.span()}).address;
}

}  // namespace weft::solana
