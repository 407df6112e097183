// Notes for a client that submits a job, on how its results will be checked: sentences for people
// in addition to the reply. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/manifest/manifest.h"

namespace weft::coordinator {

// The means of checking results on this coordinator.
struct Checking {
  bool verifier = false;            // The coordinator has a verifier of its own.
  std::size_t known = 0;            // Connected workers that are invited or established.
  std::uint32_t cost_permille = 0;  // The part of workers' pay that goes to checks.
};

[[nodiscard]] std::vector<std::string> submission_notes(const manifest::Manifest& manifest,
                                                        const Checking& checking);

}  // namespace weft::coordinator
