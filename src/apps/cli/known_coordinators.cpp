#include "apps/cli/known_coordinators.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "apps/cli/files.h"
#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/crypto/wallet.h"
#include "common/protocol/signing.h"

namespace weft::cli {
namespace {

constexpr std::size_t bytes_max = std::size_t{1} << 20;
constexpr const char* variable = "WEFT_KNOWN_COORDINATORS";
constexpr const char* named = "WEFT_COORDINATOR_KEY";

struct Entry {
  std::string host;
  PublicKey key;
};

Result<std::vector<Entry>> read(const std::filesystem::path& file) {
  const auto bytes = read_file(file);
  if (!bytes && bytes.error().code == ErrorCode::not_found) return std::vector<Entry>();
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() > bytes_max)
    return fail(ErrorCode::resource_exhausted, "{} has over {} bytes: remove old lines from it.",
                file.string(), bytes_max);
  std::vector<Entry> out;
  std::istringstream lines{std::string(as_text(*bytes))};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string host, key, rest;
    if (!(words >> host) || host.starts_with('#')) continue;
    const auto parsed = words >> key && !(words >> rest)
                            ? PublicKey::parse(key)
                            : fail(ErrorCode::invalid_argument, "no key");
    if (!parsed)
      return fail(ErrorCode::invalid_argument, "Line {} of {} is not \"HOST KEY\".", number,
                  file.string());
    out.push_back({.host = host, .key = *parsed});
  }
  return out;
}

Result<> write(const std::filesystem::path& file, const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) text += weft::format("{} {}\n", entry.host, entry.key.text());
  return write_file(file, as_bytes(text));
}

// Returns the last key to which the rotations lead from `from`, or `wanted` once they reach it.
PublicKey follow(PublicKey from, const PublicKey& wanted,
                 std::span<const protocol::api::KeyRotation> rotations) {
  for (const auto& one : rotations) {
    if (from == wanted) break;
    const auto after = PublicKey::parse(one.after);
    const auto signature = Signature::parse(one.signature);
    if (one.before == from.text() && after && signature &&
        crypto::verify_now(from, protocol::rotation_digest(from, *after), *signature))
      from = *after;
  }
  return from;
}

}  // namespace

Result<std::optional<PublicKey>> KnownCoordinators::named_in_advance() {
  const char* const text = std::getenv(named);
  if (text == nullptr) return std::nullopt;
  const auto key = PublicKey::parse(text);
  if (!key)
    return fail(ErrorCode::invalid_argument, "--coordinator-key ({}): {} weft serve prints it.",
                named, key.error().message);
  return *key;
}

void KnownCoordinators::name_in_advance(const std::string& key) { ::setenv(named, key.c_str(), 1); }

Result<KnownCoordinators::Seen> KnownCoordinators::meet(
    const Contact& contact, std::span<const protocol::api::KeyRotation> rotations) {
  WEFT_ASSIGN(const auto wanted, named_in_advance());
  if (wanted && *wanted != contact.shown)
    return fail(ErrorCode::unauthenticated,
                "The coordinator at {} shows the key {}, and not {}, which was named in advance "
                "(--coordinator-key, {}). Nothing was signed: another coordinator may be answering "
                "in its place.",
                contact.host, contact.shown.text(), wanted->text(), named);
  if (contact.is_loopback && std::getenv(variable) == nullptr) return Seen::known;
  WEFT_ASSIGN(const KnownCoordinators known, of_user());
  if (wanted) WEFT_OK(known.put(contact.host, contact.shown));
  return known.check(contact.host, contact.shown, rotations);
}

Result<> KnownCoordinators::put(const std::string& host, const PublicKey& key) const {
  WEFT_ASSIGN(std::vector<Entry> entries, read(file_));
  const auto known = std::ranges::find(entries, host, &Entry::host);
  if (known != entries.end() && known->key == key) return {};
  if (known == entries.end())
    entries.push_back({.host = host, .key = key});
  else
    known->key = key;
  return write(file_, entries);
}

Result<KnownCoordinators> KnownCoordinators::of_user() {
  if (const char* named = std::getenv(variable)) return KnownCoordinators(named);
  WEFT_ASSIGN(const std::filesystem::path wallet, crypto::default_wallet_path());
  return KnownCoordinators(wallet.parent_path() / "known-coordinators");
}

Result<KnownCoordinators::Seen> KnownCoordinators::check(
    const std::string& host, const PublicKey& shown,
    std::span<const protocol::api::KeyRotation> rotations) const {
  WEFT_ASSIGN(std::vector<Entry> entries, read(file_));
  const auto known = std::ranges::find(entries, host, &Entry::host);
  if (known == entries.end()) {
    entries.push_back({.host = host, .key = shown});
    WEFT_OK(write(file_, entries));
    return Seen::first;
  }
  if (known->key == shown) return Seen::known;
  if (follow(known->key, shown, rotations) != shown)
    return fail(ErrorCode::unauthenticated,
                "The coordinator at {} shows the key {}, and not {} as before ({}). Nothing was "
                "signed: another coordinator may be answering in its place. If its operator says "
                "that the key was replaced, remove its line from that file.",
                host, shown.text(), known->key.text(), file_.string());
  known->key = shown;
  WEFT_OK(write(file_, entries));
  return Seen::rotated;
}

}  // namespace weft::cli
