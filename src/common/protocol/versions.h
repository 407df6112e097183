// The versions of the messages that this program speaks, and the refusal of a side that speaks
// other versions.
//
// Hello::versions lists the versions of a worker; the coordinator chooses the highest that both
// speak (Challenge::version), and from then on both write their frames in it. Before that, each
// side writes in the first version that it speaks, which an older side reads too. Some parts never
// change, so that sides of any two versions understand the refusal: "type" and "v" of every
// message, "versions" and "kind" of a hello, and all of an error.
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

// The versions from `first` to the last; protocol::version is the last that this program speaks.
struct VersionRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};
inline constexpr VersionRange spoken_versions{.first = 7, .last = version};

// "version 8", or "versions 7 to 8".
[[nodiscard]] std::string range_text(const VersionRange& range);

// The list of versions for a hello.
[[nodiscard]] std::vector<std::uint32_t> version_list(const VersionRange& range = spoken_versions);
// The highest version that is both offered and spoken here; no value if there is none.
[[nodiscard]] std::optional<std::uint32_t> common_version(
    std::span<const std::uint32_t> offered, const VersionRange& spoken = spoken_versions);

// The data of a text frame that can be read whatever its version. No value if the frame is not a
// message.
struct FrameHead {
  std::uint32_t version = 0;
  // The versions in a hello; for other messages `version` alone.
  std::vector<std::uint32_t> offered;
  std::optional<WorkerKind> kind;  // Set for a hello.
};
[[nodiscard]] std::optional<FrameHead> read_head(std::string_view text);

// One sentence for a worker, or a page, and a coordinator that have no version in common: it says
// which of them is older, and how to update that one. `worker` and `coordinator` are the versions
// of each, in any order and not empty.
[[nodiscard]] std::string update_sentence(WorkerKind kind, std::span<const std::uint32_t> worker,
                                          std::span<const std::uint32_t> coordinator);

// An error in the form that a side of version `spoken` reads.
[[nodiscard]] std::string encode_error(const ErrorMessage& error, std::uint32_t spoken);

}  // namespace weft::protocol
