#include "engine/exec/traffic.h"

#include <numeric>

#include "engine/exec/bounds.h"

namespace weft::exec {

Traffic traffic(const Job& job, manifest::Range range) {
  const Footprint taken = footprint(job, range);
  Traffic moved{.bytes = std::accumulate(taken.binding_bytes.begin(), taken.binding_bytes.end(),
                                         std::uint64_t{0})};
  // The only kernel is a matrix product that is cut by rows: each element of the result takes k
  // multiplications and k additions.
  if (job.manifest.kind == manifest::Kind::kernel) {
    moved.operations = 2.0 * range.count * static_cast<double>(job.manifest.kernel.n) *
                       static_cast<double>(job.manifest.kernel.k);
  }
  return moved;
}

}  // namespace weft::exec
