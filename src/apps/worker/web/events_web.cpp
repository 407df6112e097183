#include "apps/worker/web/events_web.h"

#include <glaze/glaze.hpp>

// glz::obj is an aggregate of aggregates that is built in one expression.
#pragma clang diagnostic ignored "-Wmissing-braces"

namespace weft::worker::web {

// The page's form of a task's key. Not in an unnamed namespace, because glaze reads the members'
// names.
struct TaskView {
  std::string job;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
};

namespace {

struct ControlCharacters : glz::opts {
  bool escape_control_characters = true;
};

// Writes alternating keys and values. glz::obj refers to them, so it must not be stored. Writing
// numbers and strings to a growing buffer cannot fail.
template <class... Parts>
std::string write_object(Parts&&... parts) {
  std::string json;
  (void)glz::write<ControlCharacters{}>(glz::obj{std::forward<Parts>(parts)...}, json);
  return json;
}

TaskView task(const TaskKey& key) {
  return {.job = key.task.job.text(), .index = key.task.index, .attempt = key.attempt};
}

struct ToJson {
  std::string operator()(const event::Connecting&) const {
    return write_object("type", "connecting");
  }
  std::string operator()(const event::Connected& e) const {
    return write_object("type", "connected", "balance", e.balance);
  }
  std::string operator()(const event::Disconnected& e) const {
    return write_object("type", "disconnected", "reason", e.reason, "retryMs",
                        seconds(e.retry) * 1000);
  }
  std::string operator()(const event::TaskStarted& e) const {
    return write_object("type", "task-started", "task", task(e.key));
  }
  // The page shows tasks, not their parts.
  std::string operator()(const event::TaskResumed&) const { return {}; }
  std::string operator()(const event::TaskAdvanced&) const { return {}; }
  std::string operator()(const event::TaskCheckpointed&) const { return {}; }
  std::string operator()(const event::TaskDone& e) const {
    return write_object("type", "task-done", "task", task(e.key), "wallSeconds", e.wall_seconds,
                        "gpuSeconds", e.gpu_seconds, "name", e.job_name, "bytes", e.bytes,
                        "operations", e.operations);
  }
  std::string operator()(const event::TaskFailed& e) const {
    return write_object("type", "task-failed", "task", task(e.key), "message", e.error.message);
  }
  std::string operator()(const event::TaskCancelled& e) const {
    return write_object("type", "task-cancelled", "task", task(e.key), "reason", e.reason);
  }
  std::string operator()(const event::Verdict& e) const {
    return write_object("type", "verdict", "task", task(e.key), "accepted", e.accepted, "paid",
                        e.paid, "balance", e.balance, "reason", e.reason);
  }
  std::string operator()(const event::Refused&) const { return {}; }
  std::string operator()(const event::Stopped&) const { return write_object("type", "stopped"); }
};

}  // namespace

std::string event_json(const Event& event) { return std::visit(ToJson(), event); }

std::string measuring_json() { return write_object("type", "measuring"); }

std::string wallet_json(std::string_view address) {
  return write_object("type", "wallet", "address", address);
}

std::string device_json(const protocol::Capabilities& c) {
  const std::string_view kind = c.device == protocol::DeviceKind::gpu ? "gpu" : "cpu";
  return write_object(
      "type", "device", "device",
      glz::obj{"kind", kind, "vendor", c.vendor, "architecture", c.architecture, "description",
               c.description, "backend", c.backend, "features", c.features, "memoryBytes",
               c.memory_bytes, "copyGbPerS", c.copy_gb_per_s, "f32GflopPerS", c.f32_gflop_per_s});
}

std::string device_lost_json(std::string_view message) {
  return write_object("type", "device-lost", "message", message);
}

std::string failed_json(std::string_view code, std::string_view message) {
  return write_object("type", "failed", "code", code, "message", message);
}

std::string stats_json(const Session::Stats& s, const Serving::Stats& serving) {
  return write_object("state", to_string(s.state), "tasksDone", s.counters.tasks_done,
                      "tasksFailed", s.counters.tasks_failed, "accepted", s.counters.accepted,
                      "refused", s.counters.refused, "paid", s.counters.paid, "balance",
                      s.counters.balance, "tasksPerMinute", s.tasks_per_minute, "gpuSeconds",
                      s.counters.gpu_seconds, "wallSeconds", s.counters.wall_seconds, "held",
                      s.held, "pendingVerdicts", s.unanswered, "reconnects", s.counters.reconnects,
                      "bytesFetched", s.fetched_bytes, "bytesSent", s.counters.bytes_sent,
                      "lastError", s.counters.last_error, "serving",
                      glz::obj{"connected", serving.connected, "shards", serving.shards, "running",
                               serving.running, "tokens", serving.tokens});
}

}  // namespace weft::worker::web
