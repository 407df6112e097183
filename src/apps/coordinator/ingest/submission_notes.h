// What a client should know of how its job will be checked, when it hands it in: sentences for
// people, beside the answer. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/manifest/manifest.h"

namespace weft::coordinator {

// What can check results here.
struct Checking {
  bool verifier = false;            // The coordinator has one of its own.
  std::size_t known = 0;            // Invited and established workers that are connected.
  std::uint32_t cost_permille = 0;  // A part of what workers are paid.
};

[[nodiscard]] std::vector<std::string> submission_notes(const manifest::Manifest& manifest,
                                                        const Checking& checking);

}  // namespace weft::coordinator
