// The names of things, as small types: a job id cannot be passed for a hash. Text forms are what
// the wire, the command line and the store use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft {

// SHA-256 of something: a blob's name, a Merkle root, a manifest's digest. Text: 64 hex digits.
struct Hash : FixedBytes<32> {
  [[nodiscard]] std::string text() const { return to_hex(bytes); }
  [[nodiscard]] static Result<Hash> parse(std::string_view text);
};

// 16 random bytes. Text: 32 hex digits.
struct JobId : FixedBytes<16> {
  [[nodiscard]] std::string text() const { return to_hex(bytes); }
  [[nodiscard]] static Result<JobId> parse(std::string_view text);
};

// A task: its job and its index there. Text: JOB/INDEX.
struct TaskId {
  JobId job;
  std::uint32_t index = 0;

  [[nodiscard]] std::string text() const { return job.text() + "/" + std::to_string(index); }
  [[nodiscard]] static Result<TaskId> parse(std::string_view text);
  friend auto operator<=>(const TaskId&, const TaskId&) = default;
};

// An Ed25519 public key: a worker, a client, a coordinator. Text: base58.
struct PublicKey : FixedBytes<32> {
  [[nodiscard]] std::string text() const { return to_base58(bytes); }
  [[nodiscard]] static Result<PublicKey> parse(std::string_view text);
};

// An Ed25519 signature. Text: base58.
struct Signature : FixedBytes<64> {
  [[nodiscard]] std::string text() const { return to_base58(bytes); }
  [[nodiscard]] static Result<Signature> parse(std::string_view text);
};

// Micro-credits: one credit is 1,000,000 of them. Balances may be negative only for `mint`.
using MicroCredits = std::int64_t;

}  // namespace weft

template <std::size_t n>
struct std::hash<weft::FixedBytes<n>> {
  std::size_t operator()(const weft::FixedBytes<n>& value) const noexcept {
    std::size_t word = 0;
    std::memcpy(&word, value.bytes.data(),
                sizeof word);  // Hashes, keys and random ids: any 8 bytes are well spread.
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
