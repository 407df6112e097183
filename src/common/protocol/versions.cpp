#include "common/protocol/versions.h"

#include <algorithm>
#include <limits>

#include "common/base/format.h"
#include "common/json/json.h"
#include "common/protocol/any.h"
#include "common/protocol/fields.h"

namespace weft::protocol {
namespace {

// The most versions that are read from a hello; every side lists fewer.
constexpr std::size_t offered_max = 64;

std::string range_text_of(std::span<const std::uint32_t> versions) {
  const auto [first, last] = std::ranges::minmax(versions);
  return range_text({.first = first, .last = last});
}

}  // namespace

std::string range_text(const VersionRange& range) {
  return range.first == range.last ? weft::format("version {}", range.first)
                                   : weft::format("versions {} to {}", range.first, range.last);
}

std::vector<std::uint32_t> version_list(const VersionRange& range) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t each = range.first; each <= range.last; ++each) list.push_back(each);
  return list;
}

std::optional<std::uint32_t> common_version(std::span<const std::uint32_t> offered,
                                            const VersionRange& spoken) {
  std::optional<std::uint32_t> best;
  for (const std::uint32_t each : offered) {
    if (each >= spoken.first && each <= spoken.last) best = std::max(best.value_or(0), each);
  }
  return best;
}

std::optional<FrameHead> read_head(std::string_view text) {
  const auto root = json::parse(text, {.bytes_max = frame_bytes_max, .depth_max = depth_max + 4});
  if (!root) return std::nullopt;
  const auto members = root->members({.count_max = 256});
  if (!members) return std::nullopt;
  FrameHead head;
  bool typed = false;
  bool versioned = false;
  for (const auto& [key, value] : *members) {
    if (key == "type") typed = value.string({.bytes_max = 64}).has_value();
    if (key == "v") {
      const auto number = value.unsigned_integer(std::numeric_limits<std::uint32_t>::max());
      versioned = number.has_value();
      if (versioned) head.version = static_cast<std::uint32_t>(*number);
    }
    if (key == "kind") {
      const auto word = value.string({.bytes_max = 64});
      if (word) head.kind = *word == "browser" ? WorkerKind::browser : WorkerKind::native;
    }
    if (key == "versions") {
      (void)value.for_each({.count_max = offered_max}, [&](const json::Value& each) -> Result<> {
        WEFT_ASSIGN(const std::uint64_t number,
                    each.unsigned_integer(std::numeric_limits<std::uint32_t>::max()));
        head.offered.push_back(static_cast<std::uint32_t>(number));
        return {};
      });
    }
  }
  if (!typed || !versioned) return std::nullopt;
  if (head.offered.empty()) head.offered.push_back(head.version);
  return head;
}

std::string update_sentence(WorkerKind kind, std::span<const std::uint32_t> worker,
                            std::span<const std::uint32_t> coordinator) {
  const bool is_page = kind == WorkerKind::browser;
  const bool worker_is_older = std::ranges::max(worker) < std::ranges::max(coordinator);
  const std::string fact =
      weft::format("This {} speaks {} of the protocol and the coordinator {}",
                   is_page ? "page" : "worker", range_text_of(worker), range_text_of(coordinator));
  if (!worker_is_older)
    return fact + ": its operator has to update it with `git pull && ./weft serve ...`.";
  return fact + (is_page ? ": reload the page."
                         : ": update the worker with `git pull && ./weft work ...`.");
}

std::string encode_error(const ErrorMessage& error, std::uint32_t spoken) {
  std::string out = weft::format(R"({{"type":"{}","v":{},)", Shape<ErrorMessage>::type, spoken);
  write_fields(out, error);
  return out + '}';
}

}  // namespace weft::protocol
