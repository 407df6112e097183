// Attempts of a shader that has broken out of its driver: a harmless one for each class of system
// calls that the confinement forbids. Run by the test's child, confined or not.
#pragma once

#include <filesystem>
#include <vector>

namespace weft::worker::test {

struct Attempt {
  const char* name;
  // 0: the call was executed, or reached the kernel's own checks. EPERM: the call was refused.
  int error = 0;
};

// Makes all attempts. `folder` must be empty and writable. `victim` is another process of the same
// user.
[[nodiscard]] std::vector<Attempt> attack(const std::filesystem::path& folder, int victim);

}  // namespace weft::worker::test
