// Runs the parts of the coordinator's verifier in a sandboxed child of this program, as a worker
// does. The verifier's second device is the first adapter of another vendor, or else the software
// driver of an installed Chromium (SwiftShader).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "apps/coordinator/ingest/part_runner.h"
#include "worker/sandbox/sandbox.h"

namespace weft::cli {

struct PartRunnerBounds {
  // The maximum of job data that the sandboxed process keeps. The process is restarted before a job
  // would exceed it.
  std::uint64_t sent_bytes_max = std::uint64_t{512} << 20;
  // Bounds of the jobs whose data are kept as a copy for the sandboxed process: their number, and
  // the bytes of the copies.
  std::size_t copies_max = 4;
  std::uint64_t copies_bytes_max = std::uint64_t{64} << 20;
};

[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_part_runner();
// `more_drivers` are JSON files of Vulkan drivers that the machine does not list; missing files are
// ignored.
[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_part_runner(
    worker::Sandbox::Options options, std::vector<std::filesystem::path> more_drivers,
    const PartRunnerBounds& bounds = {});
// The paths at which Chromium's packages install SwiftShader.
[[nodiscard]] std::vector<std::filesystem::path> drivers_of_browsers();

}  // namespace weft::cli
