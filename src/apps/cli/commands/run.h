// `weft run`: runs a manifest on this machine, without a coordinator, exactly as a network would.
#pragma once

#include <filesystem>
#include <string>

namespace weft::cli {

struct RunCommand {
  std::filesystem::path manifest;  // The job's manifest, a positional argument.
  // --out: folder for NAME.output0.bin, ...; empty: no files are written.
  std::filesystem::path out;
  std::filesystem::path png;   // --png FILE: the first two-dimensional output as a picture
  std::string device = "gpu";  // --device: gpu, or cpu for kernel jobs
  std::string tasks;           // --tasks I..J (both included) or I; empty: all
  bool json = false;           // --json: prints one document on standard output
};

// Prints the outputs, their hashes and the job's root. Returns the exit code.
[[nodiscard]] int run_command(const RunCommand& options);

}  // namespace weft::cli
