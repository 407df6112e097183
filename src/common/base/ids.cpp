#include "common/base/ids.h"

#include <algorithm>
#include <charconv>

namespace weft {
namespace {

template <class Id>
Result<Id> from_bytes(Result<ByteVector> bytes, std::string_view what) {
  if (!bytes) return pass(std::move(bytes), "while reading a {}", what);
  if (bytes->size() != Id::size)
    return fail(ErrorCode::invalid_argument, "A {} has {} bytes; this one has {}.", what, Id::size,
                bytes->size());
  Id id;
  std::ranges::copy(*bytes, id.bytes.begin());
  return id;
}

}  // namespace

Result<Hash> Hash::parse(std::string_view text) {
  return from_bytes<Hash>(from_hex(text), "SHA-256 hash");
}
Result<JobId> JobId::parse(std::string_view text) {
  return from_bytes<JobId>(from_hex(text), "job id");
}
Result<PublicKey> PublicKey::parse(std::string_view text) {
  return from_bytes<PublicKey>(from_base58(text), "public key");
}
Result<Signature> Signature::parse(std::string_view text) {
  return from_bytes<Signature>(from_base58(text), "signature");
}

Result<TaskId> TaskId::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    return fail(ErrorCode::invalid_argument, "A task id is JOB/INDEX; this one has no '/'.");
  TaskId id;
  WEFT_ASSIGN(id.job, JobId::parse(text.substr(0, slash)));
  const std::string_view index = text.substr(slash + 1);
  const auto [end, status] = std::from_chars(index.data(), index.data() + index.size(), id.index);
  if (status != std::errc() || end != index.data() + index.size() || index.empty()) {
    return fail(ErrorCode::invalid_argument,
                "A task id is JOB/INDEX; its index is not a number below 2^32.");
  }
  return id;
}

}  // namespace weft
