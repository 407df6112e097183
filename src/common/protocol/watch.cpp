#include "common/protocol/watch.h"

#include <algorithm>

#include <glaze/glaze.hpp>
#include <glaze/json/schema.hpp>

#include "common/base/bytes.h"
#include "common/base/format.h"
#include "common/json/json.h"

namespace weft::protocol::watch {
namespace {

// Texts that are read need not be null-terminated.
constexpr glz::opts lenient{.null_terminated = false, .error_on_unknown_keys = false};

// Control characters in a name are escaped, or the output would not be JSON.
struct Escaping : glz::opts {
  bool escape_control_characters = true;
};

template <class Message>
std::string write(const Message& message) {
  std::string text;
  (void)glz::write<Escaping{}>(message,
                               text);  // Writing plain structs of numbers and strings cannot fail.
  return text;
}

template <class Message>
Result<Message> read(std::string_view text, std::string_view type) {
  Message message;
  message.type.clear();
  if (const auto error = glz::read<lenient>(message, text)) {
    return fail(ErrorCode::invalid_argument, "The message is not a {}: {}", type,
                glz::format_error(error, text));
  }
  if (message.type != type)
    return fail(ErrorCode::invalid_argument, "The message is a \"{}\", not a {}.", message.type,
                type);
  return message;
}

template <class Message>
void add_schema(std::string& out, std::string_view name) {
  const auto schema = glz::write_json_schema<Message>();
  if (!out.empty()) out += ",\n";
  out += weft::format("\"{}\":{}", name, schema ? *schema : "{}");
}

std::size_t digits(std::uint32_t number) {
  std::size_t count = 1;
  for (; number >= 10; number /= 10) ++count;
  return count;
}

// The length of a run in JSON: two numbers with their commas, and a letter.
std::size_t run_bytes(std::uint32_t first, std::uint32_t count) {
  return digits(first) + digits(count) + 3;
}

std::string pack(std::span<const TaskState> tasks) {
  ByteVector bytes((tasks.size() + 1) / 2);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    bytes[i / 2] =
        static_cast<std::uint8_t>(bytes[i / 2] | (static_cast<unsigned>(tasks[i]) << (i % 2 * 4)));
  }
  return to_base64(bytes);
}

// Collects runs, until they are longer than the packed form would be.
class Runs {
 public:
  explicit Runs(std::span<const TaskState> tasks)
      : tasks_(tasks), bytes_max_((tasks.size() + 1) / 2 * 4 / 3 + 4) {}

  void add(std::uint32_t index) {
    const TaskState state = tasks_[index];
    if (count_ > 0 && first_ + count_ == index && tasks_[first_] == state) {
      ++count_;
      return;
    }
    close();
    first_ = index;
    count_ = 1;
  }
  [[nodiscard]] bool too_long() const { return bytes_ > bytes_max_; }
  [[nodiscard]] TaskMap finish() {
    close();
    if (too_long()) return {.first = {}, .count = {}, .state = {}, .packed = pack(tasks_)};
    return std::move(map_);
  }

 private:
  void close() {
    if (count_ == 0) return;
    map_.first.push_back(first_);
    map_.count.push_back(count_);
    map_.state += task_letters[static_cast<std::size_t>(tasks_[first_])];
    bytes_ += run_bytes(first_, count_);
    count_ = 0;
  }

  const std::span<const TaskState> tasks_;
  const std::size_t bytes_max_;
  TaskMap map_;
  std::size_t bytes_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace

TaskMap map_of(std::span<const TaskState> tasks) {
  Runs runs(tasks);
  for (std::uint32_t i = 0; i < tasks.size() && !runs.too_long(); ++i) runs.add(i);
  return runs.finish();
}

TaskMap map_of(std::span<const TaskState> tasks, std::span<const std::uint32_t> changed) {
  Runs runs(tasks);
  for (const std::uint32_t index : changed) {
    runs.add(index);
    if (runs.too_long()) break;
  }
  return runs.finish();
}

Result<> apply(const TaskMap& map, std::span<TaskState> tasks) {
  if (!map.packed.empty()) {
    WEFT_ASSIGN(const ByteVector bytes, from_base64(map.packed));
    if (bytes.size() != (tasks.size() + 1) / 2) {
      return fail(ErrorCode::invalid_argument, "The map of tasks has {} bytes; {} tasks need {}.",
                  bytes.size(), tasks.size(), (tasks.size() + 1) / 2);
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const unsigned state = (bytes[i / 2] >> (i % 2 * 4)) & 15U;
      if (state >= task_states)
        return fail(ErrorCode::invalid_argument, "Task {} of the map is in the unknown state {}.",
                    i, state);
      tasks[i] = static_cast<TaskState>(state);
    }
    return {};
  }
  if (map.first.size() != map.state.size() || map.count.size() != map.state.size()) {
    return fail(
        ErrorCode::invalid_argument,
        "The columns of the map of tasks have {}, {} and {} rows; all must have the same number.",
        map.first.size(), map.count.size(), map.state.size());
  }
  for (std::size_t run = 0; run < map.state.size(); ++run) {
    const std::size_t state = task_letters.find(map.state[run]);
    if (state == std::string_view::npos)
      return fail(ErrorCode::invalid_argument, "\"{}\" is not a task's state.", map.state[run]);
    if (map.first[run] > tasks.size() || map.count[run] > tasks.size() - map.first[run]) {
      return fail(ErrorCode::invalid_argument,
                  "The run of {} tasks from {} passes the end of the map of {} tasks.",
                  map.count[run], map.first[run], tasks.size());
    }
    std::ranges::fill(tasks.subspan(map.first[run], map.count[run]), static_cast<TaskState>(state));
  }
  return {};
}

std::string encode(const Snapshot& snapshot) { return write(snapshot); }
std::string encode(const Delta& delta) { return write(delta); }
std::string encode(const Seen& seen) { return write(seen); }

Result<Seen> decode_seen(std::string_view text) {
  if (text.size() > seen_bytes_max) {
    return fail(ErrorCode::resource_exhausted,
                "The message has {} bytes; a watcher's has at most {}.", text.size(),
                seen_bytes_max);
  }
  WEFT_ASSIGN(const json::Value root,
              json::parse(text, {.bytes_max = seen_bytes_max, .depth_max = 2}));
  WEFT_ASSIGN(const json::Object object, root.object({"type", "sequence"}));
  WEFT_ASSIGN(const json::Value type, object.get("type"));
  WEFT_ASSIGN(const std::string word, type.string({.bytes_max = 16}));
  if (word != "seen") return type.error("must be \"seen\"");
  WEFT_ASSIGN(const json::Value sequence, object.get("sequence"));
  WEFT_ASSIGN(const std::uint64_t number, sequence.unsigned_integer(std::uint64_t{1} << 53));
  return Seen{.sequence = number};
}

Result<Snapshot> decode_snapshot(std::string_view text) { return read<Snapshot>(text, "snapshot"); }
Result<Delta> decode_delta(std::string_view text) { return read<Delta>(text, "delta"); }

std::string watch_schema() {
  std::string out;
  add_schema<Snapshot>(out, "Snapshot");
  add_schema<Delta>(out, "Delta");
  add_schema<Seen>(out, "Seen");
  return "{" + out + "}";
}

}  // namespace weft::protocol::watch
