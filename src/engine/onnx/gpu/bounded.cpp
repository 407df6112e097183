#include "engine/onnx/gpu/bounded.h"

#include <algorithm>

namespace weft::onnx {
namespace {

constexpr std::int64_t words_max = std::int64_t{1} << 29;

}  // namespace

std::optional<SuppressionBound> suppression_bound(const Call& call) {
  const Tensor &boxes = call.input(0), &scores = call.input(1);
  if (boxes.type() != ElementType::f32 || scores.type() != ElementType::f32 || boxes.rank() != 3 ||
      scores.rank() != 3 || boxes.shape()[2] != 4 || boxes.shape()[0] != scores.shape()[0] ||
      boxes.shape()[1] != scores.shape()[2])
    return std::nullopt;  // The node is left to the processor, which reports the error.
  SuppressionBound out;
  std::int64_t most = 0;
  if (call.optional_input(2) != nullptr) {
    const auto given = call.integers_of(2);
    if (!given) return std::nullopt;
    if (given->size() == 1) most = (*given)[0];
  }
  if (call.optional_input(3) != nullptr) {
    const auto given = call.numbers_of(3);
    if (!given) return std::nullopt;
    if (given->size() == 1) out.overlap_max = static_cast<float>((*given)[0]);
  }
  if (call.optional_input(4) != nullptr) {
    const auto given = call.numbers_of(4);
    if (!given) return std::nullopt;
    if (given->size() == 1) out.score_min = static_cast<float>((*given)[0]);
  }
  out.rows = std::clamp<std::int64_t>(most, 0, boxes.shape()[1]);
  return out;
}

std::optional<Bounded> bounded_output(const KernelContext& context, const Node& node) {
  if (node.op != "NonZero" && node.op != "NonMaxSuppression") return std::nullopt;
  for (const ValueId id : node.inputs)
    if (id != no_value && !context.inference.values[id]) return std::nullopt;
  const CallOf call(context, node);
  if (node.op == "NonZero") {
    const std::int64_t rank = call->input(0).rank(), bound = call->input(0).count();
    if (rank * bound >= words_max) return std::nullopt;
    return Bounded{.words = static_cast<std::uint64_t>(rank * bound + 1),
                   .read = [rank, bound](std::span<const std::uint32_t> words) -> Result<Tensor> {
                     const std::int64_t count = std::clamp<std::int64_t>(words.back(), 0, bound);
                     std::vector<std::int64_t> places;
                     for (std::int64_t d = 0; d < rank; ++d)
                       for (std::int64_t i = 0; i < count; ++i)
                         places.push_back(words[static_cast<std::size_t>(d * bound + i)]);
                     return Tensor::of<std::int64_t>({rank, count}, places);
                   }};
  }
  const auto bound = suppression_bound(*call);
  if (!bound) return std::nullopt;
  const std::int64_t classes = call->input(1).shape()[1];
  const std::int64_t segments = call->input(1).shape()[0] * classes, rows = bound->rows;
  if (segments * (rows + 1) >= words_max) return std::nullopt;
  return Bounded{
      .words = static_cast<std::uint64_t>(segments * (rows + 1)),
      .read = [segments, classes, rows](std::span<const std::uint32_t> words) -> Result<Tensor> {
        std::vector<std::int64_t> out;
        for (std::int64_t s = 0; s < segments; ++s) {
          const auto part = words.subspan(static_cast<std::size_t>(s * (rows + 1)));
          const std::int64_t count = std::clamp<std::int64_t>(part[0], 0, rows);
          for (std::int64_t i = 0; i < count; ++i)
            out.insert(out.end(),
                       {s / classes, s % classes, part[static_cast<std::size_t>(i + 1)]});
        }
        return Tensor::of<std::int64_t>({static_cast<std::int64_t>(out.size() / 3), 3}, out);
      }};
}

}  // namespace weft::onnx
