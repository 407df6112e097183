// Which versions of the messages this program speaks, and what a side is told that speaks others.
//
// Hello::versions lists what a worker speaks; the coordinator chooses the highest that both speak
// (Challenge::version). What never changes, so that sides of any two versions understand the
// refusal: "type" and "v" of every message, "versions" and "kind" of a hello, and the whole of an
// error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/coordinator_message.h"
#include "common/protocol/hello.h"

namespace weft::protocol {

// From the first to the last; protocol::version is the last that this program speaks.
struct VersionRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};
inline constexpr VersionRange spoken_versions{.first = 7, .last = version};

// For a hello.
[[nodiscard]] std::vector<std::uint32_t> version_list(const VersionRange& range = spoken_versions);
// The highest version that is offered and spoken here; nothing if there is none.
[[nodiscard]] std::optional<std::uint32_t> common_version(
    std::span<const std::uint32_t> offered, const VersionRange& spoken = spoken_versions);

// What a text frame says of itself, whatever version it is of: nothing where it is no message at
// all.
struct FrameHead {
  std::uint32_t version = 0;
  std::vector<std::uint32_t> offered;  // From a hello; else `version` alone.
  std::optional<WorkerKind> kind;      // From a hello.
};
[[nodiscard]] std::optional<FrameHead> read_head(std::string_view text);

// One sentence for a worker or a page and a coordinator that have no version in common: which of
// them is older, and how that one is updated. `worker` and `coordinator` are what each speaks, in
// any order and not empty.
[[nodiscard]] std::string update_sentence(WorkerKind kind, std::span<const std::uint32_t> worker,
                                          std::span<const std::uint32_t> coordinator);

// An error as a side of `spoken` reads it.
[[nodiscard]] std::string encode_error(const ErrorMessage& error, std::uint32_t spoken);

}  // namespace weft::protocol
