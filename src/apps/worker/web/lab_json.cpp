#include "apps/worker/web/lab_json.h"

#include <glaze/glaze.hpp>

// glz::obj is an aggregate of aggregates that is built in one expression.
#pragma clang diagnostic ignored "-Wmissing-braces"

namespace weft::worker::web {

// These types are not in an unnamed namespace, because glaze reads the names of their members.
struct CompileMessageView {
  std::string_view kind;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
  std::string text;
};

namespace {

struct ControlCharacters : glz::opts {
  bool escape_control_characters = true;
};

// Writes alternating keys and values, as in events_web.cpp.
template <class... Parts>
std::string write_object(Parts&&... parts) {
  std::string json;
  (void)glz::write<ControlCharacters{}>(glz::obj{std::forward<Parts>(parts)...}, json);
  return json;
}

std::string_view word(gpu::CompileMessage::Kind kind) {
  switch (kind) {
    case gpu::CompileMessage::Kind::error:
      return "error";
    case gpu::CompileMessage::Kind::warning:
      return "warning";
    case gpu::CompileMessage::Kind::info:
      break;
  }
  return "info";
}

}  // namespace

std::string opened_json(const protocol::Capabilities& c, bool timestamps) {
  return write_object(
      "device",
      glz::obj{"vendor", c.vendor, "architecture", c.architecture, "description", c.description,
               "backend", c.backend, "features", c.features, "limits", c.limits},
      "timestamps", timestamps);
}

std::string messages_json(std::span<const gpu::CompileMessage> messages) {
  std::vector<CompileMessageView> views;
  for (const auto& message : messages)
    views.push_back({.kind = word(message.kind),
                     .line = message.line,
                     .column = message.column,
                     .text = message.text});
  return write_object("messages", views);
}

std::string run_json(const LabRun& run) {
  return write_object("name", run.name, "outputs", run.outputs, "tasks", run.tasks, "dispatches",
                      run.dispatches, "gpuSeconds", run.gpu_seconds, "wallSeconds",
                      run.wall_seconds, "byTimestamps", run.by_timestamps, "root", run.root);
}

std::string report_json(const gpu::Report& report) {
  return write_object("copyBytesPerSecond", report.copy_bytes_per_second, "f32OperationsPerSecond",
                      report.f32_operations_per_second, "int8OperationsPerSecond",
                      report.int8_operations_per_second.value_or(0), "byTimestamps",
                      report.by_timestamps);
}

std::string signed_json(const SignedRequest& request) {
  return write_object("client", request.client, "nonce", request.nonce, "time", request.time,
                      "signature", request.signature);
}

}  // namespace weft::worker::web
