// What the coordinator's verifier runs parts on: a sandboxed child of this program, as a worker's.
// Its second device is the first adapter of another vendor, else the software driver that comes
// with an installed Chromium (SwiftShader).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "apps/coordinator/ingest/part_runner.h"
#include "worker/sandbox/sandbox.h"

namespace weft::cli {

struct PartRunnerBounds {
  // Data of jobs that the confined process was sent, which it keeps: it is started again before it
  // would have more.
  std::uint64_t sent_bytes_max = std::uint64_t{512} << 20;
  // Jobs whose data are at hand a second time, for the confined process, and their bytes.
  std::size_t copies_max = 4;
  std::uint64_t copies_bytes_max = std::uint64_t{64} << 20;
};

[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_part_runner();
// `more_drivers`: JSON files of Vulkan drivers that the machine does not list; what is missing of
// them is left out.
[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_part_runner(
    worker::Sandbox::Options options, std::vector<std::filesystem::path> more_drivers,
    const PartRunnerBounds& bounds = {});
// Where Chromium's packages put SwiftShader.
[[nodiscard]] std::vector<std::filesystem::path> drivers_of_browsers();

}  // namespace weft::cli
