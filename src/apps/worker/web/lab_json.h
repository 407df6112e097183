// The JSON answers for the playground; lab.h names the keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/protocol/capabilities.h"
#include "engine/gpu/report.h"
#include "engine/gpu/types.h"

namespace weft::worker::web {

struct LabOutput {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
};

struct LabRun {
  std::string name;
  std::vector<LabOutput> outputs;
  std::uint32_t tasks = 0;
  std::uint32_t dispatches = 0;
  double gpu_seconds = 0;
  double wall_seconds = 0;
  bool by_timestamps = false;
  std::string root;
};

// The signature headers of a client's request, as described in docs/http.md.
struct SignedRequest {
  std::string client;
  std::string nonce;
  std::string time;
  std::string signature;
};

[[nodiscard]] std::string opened_json(const protocol::Capabilities& capabilities, bool timestamps);
[[nodiscard]] std::string messages_json(std::span<const gpu::CompileMessage> messages);
[[nodiscard]] std::string run_json(const LabRun& run);
[[nodiscard]] std::string report_json(const gpu::Report& report);
[[nodiscard]] std::string signed_json(const SignedRequest& request);

}  // namespace weft::worker::web
