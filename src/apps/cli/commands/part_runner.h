// What the coordinator's verifier runs parts on: a sandboxed child of this program, as a worker's.
// Its second device is the first adapter of another vendor, else the software driver that comes
// with an installed Chromium (SwiftShader).
#pragma once

#include <filesystem>
#include <vector>

#include "apps/coordinator/ingest/verifier.h"
#include "worker/sandbox/sandbox.h"

namespace weft::cli {

[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_part_runner();
// `more_drivers`: JSON files of Vulkan drivers that the machine does not list; what is missing of
// them is left out.
[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_part_runner(
    worker::Sandbox::Options options, std::vector<std::filesystem::path> more_drivers);
// Where Chromium's packages put SwiftShader.
[[nodiscard]] std::vector<std::filesystem::path> drivers_of_browsers();

}  // namespace weft::cli
