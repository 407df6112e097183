// What a shader that has broken out of its driver might try: one harmless attempt for each class of
// system call that the confinement forbids. Run by the test's child, confined or not.
#pragma once

#include <filesystem>
#include <vector>

namespace weft::worker::test {

struct Attempt {
  const char* name;
  // 0: the call was carried out, or reached the kernel's own checks. EPERM: it was refused.
  int error = 0;
};

// In `folder`, which is empty and writable. `victim`: another process of the same user.
[[nodiscard]] std::vector<Attempt> attack(const std::filesystem::path& folder, int victim);

}  // namespace weft::worker::test
