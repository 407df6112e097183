#include "decisions/trust/step_draw.h"

#include <set>

#include "common/base/check.h"
#include "common/crypto/sha256.h"

namespace weft::trust {

Hash committed_steps(std::span<const Hash> before, const Hash& result) {
  if (before.empty()) return {};
  ByteVector roots;
  roots.reserve((before.size() + 1) * Hash::size);
  for (const Hash& root : before) append(roots, root.bytes);
  append(roots, result.bytes);
  return crypto::sha256(roots);
}

std::vector<std::uint32_t> drawn_groups(const Committed& of_result, std::uint32_t of,
                                        std::uint32_t count, const Secret& secret) {
  check(count > 0 && count <= of, "as many groups are drawn as there are, at most");
  // A draw's message has a fixed length (draw.h), so the hash of the worker's key and the roots
  // takes the place of the key.
  ByteVector both;
  append(both, of_result.worker.bytes);
  append(both, of_result.steps.bytes);
  const Hash named = crypto::sha256(both);
  PublicKey drawn_for;
  drawn_for.bytes = named.bytes;
  std::set<std::uint32_t> drawn;
  for (std::uint64_t number = 0; drawn.size() < count; ++number)
    drawn.insert(static_cast<std::uint32_t>(
        draw_below(of, secret, Purpose::groups, of_result.task, drawn_for, number)));
  return {drawn.begin(), drawn.end()};
}

}  // namespace weft::trust
