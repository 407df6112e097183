// Norms of one vector; squares are summed in double.
#pragma once

#include <span>

namespace weft::kernels::reference {

// out[i] = x[i] / sqrt(mean(x^2) + epsilon) * weight[i]. `out` may be `x`.
void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon,
              std::span<float> out);
// Computes x /= max(sqrt(sum(x^2)), epsilon).
void l2_norm(std::span<float> x, float epsilon);

}  // namespace weft::kernels::reference
