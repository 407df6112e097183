// Operators whose result depends on an order of elements: the largest elements, the non-zero
// elements and the boxes that remain.
#include <algorithm>
#include <numeric>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

Result<> run_top_k(Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() == ElementType::boolean) return call.bad_type(0);
  std::int64_t k = call.integer("k", -1);
  if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(const auto given, call.integers_of(1));
    if (given.size() != 1) return call.error("k must be one number.");
    k = given[0];
  }
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", -1), x.rank()));
  const AxisView view(x.shape(), axis);
  if (k < 0 || k > view.length)
    return call.error("k is {}, but the axis {} has {} elements.", k, axis, view.length);
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = k;
  WEFT_ASSIGN(Tensor * values, call.make(0, x.type(), shape));
  Tensor* places = nullptr;
  if (call.wants(1)) {
    WEFT_ASSIGN(places, call.make(1, ElementType::i64, shape));
  }
  if (call.shapes_only()) return {};
  const bool largest = call.integer("largest", 1) != 0;
  with_type(x.type(), [&]<class T>() {
    using C = std::conditional_t<std::is_same_v<T, Half>, float, T>;
    if constexpr (!std::is_same_v<T, Truth>) {
      const auto in = x.values<T>();
      const auto out = values->mutable_values<T>();
      std::vector<std::int64_t> order(static_cast<std::size_t>(view.length));
      for (std::int64_t b = 0; b < view.before; ++b)
        for (std::int64_t a = 0; a < view.after; ++a) {
          const auto at = [&](std::int64_t i) {
            return in[static_cast<std::size_t>((b * view.length + i) * view.after + a)];
          };
          std::iota(order.begin(), order.end(), 0);
          // Equal elements keep their order, and NaN counts as the largest.
          std::ranges::stable_sort(order, [&](std::int64_t left, std::int64_t right) {
            const C l = static_cast<C>(at(left)), r = static_cast<C>(at(right));
            if (l != l || r != r) return largest ? l != l && r == r : l == l && r != r;
            return largest ? l > r : l < r;
          });
          for (std::int64_t i = 0; i < k; ++i) {
            const auto to = static_cast<std::size_t>((b * k + i) * view.after + a);
            out[to] = at(order[static_cast<std::size_t>(i)]);
            if (places != nullptr)
              places->mutable_values<std::int64_t>()[to] = order[static_cast<std::size_t>(i)];
          }
        }
    }
  });
  return {};
}

Result<> run_non_zero(Call& call) {
  const Tensor& x = call.input(0);
  if (!x.has_bytes())
    return call.located(ErrorCode::unavailable, "its shape depends on the values of its input.");
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < x.count(); ++i)
    if (x.number(i) != 0) found.push_back(i);
  const auto count = static_cast<std::int64_t>(found.size());
  const std::int64_t rank = x.rank();
  WEFT_ASSIGN(Tensor * out, call.make(0, ElementType::i64, {rank, count}));
  if (call.shapes_only()) return {};
  const Shape strides = row_major_strides(x.shape());
  const auto result = out->mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::int64_t rest = found[i];
    for (std::size_t d = 0; d < strides.size(); ++d) {
      result[d * found.size() + i] = rest / strides[d];
      rest %= strides[d];
    }
  }
  return {};
}

struct Box {
  float y1, x1, y2, x2;
};
float overlap(const Box& a, const Box& b) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0) return 0;
  const float both = height * width;
  const float all = (a.y2 - a.y1) * (a.x2 - a.x1) + (b.y2 - b.y1) * (b.x2 - b.x1) - both;
  return all <= 0 ? 0 : both / all;
}

Result<> run_non_maximum_suppression(Call& call) {
  const Tensor &boxes = call.input(0), &scores = call.input(1);
  if (boxes.type() != ElementType::f32) return call.bad_type(0);
  if (scores.type() != ElementType::f32) return call.bad_type(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.shape()[2] != 4 ||
      boxes.shape()[0] != scores.shape()[0] || boxes.shape()[1] != scores.shape()[2])
    return call.error("boxes of shape {} and scores of shape {} do not fit.",
                      to_string(boxes.shape()), to_string(scores.shape()));
  if (!boxes.has_bytes() || !scores.has_bytes())
    return call.located(ErrorCode::unavailable, "its shape depends on the values of its inputs.");
  std::int64_t most = 0;
  double overlap_max = 0, score_min = -std::numeric_limits<double>::infinity();
  if (call.optional_input(2) != nullptr) {
    WEFT_ASSIGN(const auto given, call.integers_of(2));
    if (given.size() == 1) most = given[0];
  }
  if (call.optional_input(3) != nullptr) {
    WEFT_ASSIGN(const auto given, call.numbers_of(3));
    if (given.size() == 1) overlap_max = given[0];
  }
  if (call.optional_input(4) != nullptr) {
    WEFT_ASSIGN(const auto given, call.numbers_of(4));
    if (given.size() == 1) score_min = given[0];
  }
  const bool centred = call.integer("center_point_box", 0) != 0;
  const std::int64_t count = boxes.shape()[1], classes = scores.shape()[1];
  const auto coordinates = boxes.values<float>();
  const auto all_scores = scores.values<float>();
  std::vector<std::int64_t> result;
  for (std::int64_t batch = 0; batch < boxes.shape()[0]; ++batch) {
    std::vector<Box> here(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const float* c = &coordinates[static_cast<std::size_t>((batch * count + i) * 4)];
      here[static_cast<std::size_t>(i)] =
          centred ? Box{c[1] - c[3] / 2, c[0] - c[2] / 2, c[1] + c[3] / 2, c[0] + c[2] / 2}
                  : Box{std::min(c[0], c[2]), std::min(c[1], c[3]), std::max(c[0], c[2]),
                        std::max(c[1], c[3])};
    }
    for (std::int64_t kind = 0; kind < classes; ++kind) {
      const float* score = all_scores.data() + (batch * classes + kind) * count;
      std::vector<std::int64_t> order;
      for (std::int64_t i = 0; i < count; ++i)
        if (score[i] > score_min) order.push_back(i);
      std::ranges::stable_sort(order,
                               [&](std::int64_t a, std::int64_t b) { return score[a] > score[b]; });
      std::vector<std::int64_t> kept;
      for (const std::int64_t i : order) {
        if (static_cast<std::int64_t>(kept.size()) >= most) break;
        const bool clear = std::ranges::none_of(kept, [&](std::int64_t other) {
          return overlap(here[static_cast<std::size_t>(i)], here[static_cast<std::size_t>(other)]) >
                 overlap_max;
        });
        if (!clear) continue;
        kept.push_back(i);
        result.insert(result.end(), {batch, kind, i});
      }
    }
  }
  const auto rows = static_cast<std::int64_t>(result.size() / 3);
  call.share(0, Tensor::of<std::int64_t>({rows, 3}, result));
  return {};
}

}  // namespace

std::span<const Operator> selection_operators() {
  static constexpr Operator rows[] = {
      {"NonMaxSuppression", run_non_maximum_suppression, 2, 5, 1, "center_point_box:i"},
      {"NonZero", run_non_zero},
      {"TopK", run_top_k, 1, 2, 2, "axis:i k:i largest:i sorted:i"},
  };
  return rows;
}

}  // namespace weft::onnx
