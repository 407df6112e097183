// `weft invite`: an invitation for a worker that the operator trusts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft::cli {

struct InviteOptions {
  std::filesystem::path data;  // The coordinator's; empty: the default one.
  bool verifier = false;       // Its evidence decides between others.
  std::uint32_t days = 30;
  std::string worker;  // The wallet's address; empty: any.
};

// Prints the invitation. Needs no running coordinator: its key signs, and its operator can read it.
[[nodiscard]] int invite_command(const InviteOptions& options);

}  // namespace weft::cli
