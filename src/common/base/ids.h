// Ids of things as small types: a job id cannot be passed in place of a hash. The wire, the command
// line and the store use their text forms.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft {

// A SHA-256: a blob's name, a Merkle root, or a manifest's digest. Text: 64 hex digits.
struct Hash : FixedBytes<32> {
  [[nodiscard]] std::string text() const { return to_hex(bytes); }
  [[nodiscard]] static Result<Hash> parse(std::string_view text);
};

// The id of a job: 16 random bytes. Text: 32 hex digits.
struct JobId : FixedBytes<16> {
  [[nodiscard]] std::string text() const { return to_hex(bytes); }
  [[nodiscard]] static Result<JobId> parse(std::string_view text);
};

// The id of a task: its job, and its index in the job. Text: JOB/INDEX.
struct TaskId {
  JobId job;
  std::uint32_t index = 0;

  [[nodiscard]] std::string text() const { return job.text() + "/" + std::to_string(index); }
  [[nodiscard]] static Result<TaskId> parse(std::string_view text);
  friend auto operator<=>(const TaskId&, const TaskId&) = default;
};

// An Ed25519 public key of a worker, a client or a coordinator. Text: base58.
struct PublicKey : FixedBytes<32> {
  [[nodiscard]] std::string text() const { return to_base58(bytes); }
  [[nodiscard]] static Result<PublicKey> parse(std::string_view text);
};

// An Ed25519 signature, written as base58.
struct Signature : FixedBytes<64> {
  [[nodiscard]] std::string text() const { return to_base58(bytes); }
  [[nodiscard]] static Result<Signature> parse(std::string_view text);
};

// Micro-credits: 1,000,000 are one credit. Only the balance of `mint` may be negative.
using MicroCredits = std::int64_t;

}  // namespace weft

template <std::size_t n>
struct std::hash<weft::FixedBytes<n>> {
  std::size_t operator()(const weft::FixedBytes<n>& value) const noexcept {
    std::size_t word = 0;
    std::memcpy(&word, value.bytes.data(),
                // Any 8 bytes serve as the hash: hashes, keys and random ids are evenly
                // distributed.
                sizeof word);
    return word;
  }
};
template <>
struct std::hash<weft::Hash> : std::hash<weft::FixedBytes<32>> {};
template <>
struct std::hash<weft::PublicKey> : std::hash<weft::FixedBytes<32>> {};
template <>
struct std::hash<weft::JobId> : std::hash<weft::FixedBytes<16>> {};
template <>
struct std::hash<weft::TaskId> {
  std::size_t operator()(const weft::TaskId& task) const noexcept {
    return std::hash<weft::JobId>()(task.job) ^
           (static_cast<std::size_t>(task.index) * static_cast<std::size_t>(0x9e3779b97f4a7c15ULL));
  }
};
