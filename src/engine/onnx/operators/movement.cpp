// Operators that move elements without changing them. Elements of any type are moved by their size.
#include "engine/onnx/operators/movement.h"

#include <algorithm>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

Result<> run_transpose(Call& call) {
  const Tensor& x = call.input(0);
  std::vector<std::int64_t> order = call.integers("perm");
  if (order.empty())
    for (std::int64_t i = x.rank(); i-- > 0;) order.push_back(i);
  std::vector<bool> seen(x.shape().size());
  Shape shape, strides;
  const Shape own = row_major_strides(x.shape());
  if (order.size() != x.shape().size())
    return call.error("its perm {} does not fit the shape {}.", to_string(order),
                      to_string(x.shape()));
  for (const std::int64_t given : order) {
    WEFT_ASSIGN(const std::int64_t axis, call.axis(given, x.rank()));
    const auto i = static_cast<std::size_t>(axis);
    if (seen[i]) return call.error("its perm {} names an axis twice.", to_string(order));
    seen[i] = true;
    shape.push_back(x.shape()[i]);
    strides.push_back(own[i]);
  }
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), std::move(shape)));
  if (!call.shapes_only()) gather_elements(x, strides, 0, *out);
  return {};
}

Result<> run_expand(Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(const Shape target, call.integers_of(1));
  const auto shape = broadcast(x.shape(), target);
  if (!shape)
    return call.error("the shape {} cannot be expanded to {}.", to_string(x.shape()),
                      to_string(target));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), *shape));
  if (!call.shapes_only()) gather_elements(x, broadcast_strides(x.shape(), *shape), 0, *out);
  return {};
}

Result<> run_tile(Call& call) {
  const Tensor& x = call.input(0);
  std::vector<std::int64_t> repeats;
  if (call.opset() < 6 && call.input_count() == 3) {
    WEFT_ASSIGN(const auto tiles, call.integers_of(1));
    WEFT_ASSIGN(const auto axes, call.integers_of(2));
    if (tiles.size() != 1 || axes.size() != 1)
      return call.error("its tiles and its axis must be scalars.");
    WEFT_ASSIGN(const std::int64_t axis, call.axis(axes[0], x.rank()));
    repeats.assign(x.shape().size(), 1);
    repeats[static_cast<std::size_t>(axis)] = tiles[0];
  } else if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(repeats, call.integers_of(1));
  }
  if (repeats.size() != x.shape().size())
    return call.error("its repeats {} do not fit the shape {}.", to_string(repeats),
                      to_string(x.shape()));
  Shape shape = x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0) return call.error("its repeats {} are negative.", to_string(repeats));
    if (shape[i] > 0 && repeats[i] > static_cast<std::int64_t>(tensor_bytes_max) / shape[i])
      return call.error("its repeats {} are too many.", to_string(repeats));
    shape[i] *= repeats[i];
  }
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), shape));
  if (call.shapes_only() || out->count() == 0) return {};
  // Each dimension is split into two dimensions: the number of the repetition, and the place within
  // the repetition.
  Shape split, strides;
  const Shape own = row_major_strides(x.shape());
  std::vector<Shape> places(shape.size());
  const std::size_t size = element_bytes(x.type());
  const ByteSpan in = x.bytes();
  const auto result = out->mutable_bytes();
  const Shape outer = row_major_strides(shape);
  for (std::int64_t i = 0; i < out->count(); ++i) {
    std::int64_t rest = i, from = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      from += rest / outer[d] % x.shape()[d] * own[d];
      rest %= outer[d];
    }
    std::copy_n(in.data() + static_cast<std::size_t>(from) * size, size,
                result.data() + static_cast<std::size_t>(i) * size);
  }
  return {};
}

Result<> run_concat(Call& call) {
  const Tensor& first = call.input(0);
  if (!call.has("axis") && call.opset() >= 4) return call.error("it lacks the attribute axis.");
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", 1), first.rank()));
  const auto a = static_cast<std::size_t>(axis);
  Shape shape = first.shape();
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    const Tensor& next = call.input(i);
    if (next.type() != first.type()) return call.bad_type(i);
    Shape other = next.shape();
    if (other.size() == shape.size()) {
      const std::int64_t length = other[a];
      other[a] = shape[a];
      if (other == shape) {
        shape[a] += length;
        continue;
      }
    }
    return call.error("input {} of shape {} cannot be joined to {} along axis {}.", i,
                      to_string(next.shape()), to_string(shape), axis);
  }
  WEFT_ASSIGN(Tensor * out, call.make(0, first.type(), shape));
  if (call.shapes_only()) return {};
  const std::size_t size = element_bytes(first.type());
  const AxisView whole(shape, axis);
  const auto result = out->mutable_bytes();
  std::int64_t place = 0;
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    const Tensor& part = call.input(i);
    const AxisView view(part.shape(), axis);
    const auto run = static_cast<std::size_t>(view.length * view.after) * size;
    for (std::int64_t b = 0; b < whole.before && run > 0; ++b)
      std::copy_n(part.bytes().data() + static_cast<std::size_t>(b) * run, run,
                  result.data() +
                      static_cast<std::size_t>((b * whole.length + place) * whole.after) * size);
    place += view.length;
  }
  return {};
}

Result<> run_split(Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", 0), x.rank()));
  const AxisView view(x.shape(), axis);
  std::vector<std::int64_t> lengths = call.integers("split");
  if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(lengths, call.integers_of(1));
  }
  const auto count = static_cast<std::int64_t>(call.output_count());
  if (lengths.empty()) {  // The parts are equal; the last may be smaller.
    if (call.integer("num_outputs", count) != count)
      return call.error("num_outputs is {}, but there are {} outputs.",
                        call.integer("num_outputs", count), count);
    const std::int64_t part = (view.length + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      lengths.push_back(std::clamp<std::int64_t>(view.length - i * part, 0, part));
  }
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > view.length)
      return call.error("the parts {} are not lengths.", to_string(lengths));
    sum += length;
  }
  if (sum != view.length || lengths.size() != call.output_count())
    return call.error("the parts {} do not make {} outputs of {} elements.", to_string(lengths),
                      count, view.length);
  const std::size_t size = element_bytes(x.type());
  std::int64_t place = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = lengths[i];
    WEFT_ASSIGN(Tensor * out, call.make(i, x.type(), std::move(shape)));
    const auto run = static_cast<std::size_t>(lengths[i] * view.after) * size;
    if (!call.shapes_only() && run > 0) {
      const auto result = out->mutable_bytes();
      for (std::int64_t b = 0; b < view.before; ++b)
        std::copy_n(x.bytes().data() +
                        static_cast<std::size_t>((b * view.length + place) * view.after) * size,
                    run, result.data() + static_cast<std::size_t>(b) * run);
    }
    place += lengths[i];
  }
  return {};
}

Result<> run_slice(Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(const SlicePlan plan, plan_slice(call));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), plan.shape));
  if (!call.shapes_only()) gather_elements(x, plan.strides, plan.start, *out);
  return {};
}

Result<> run_depth_to_space(Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t block = call.integer("blocksize", 0);
  if (x.rank() != 4 || block < 1 || block > 4096 || x.shape()[1] % (block * block) != 0)
    return call.error("blocks of {} do not fit the shape {}.", block, to_string(x.shape()));
  const std::int64_t n = x.shape()[0], c = x.shape()[1] / block / block, h = x.shape()[2],
                     w = x.shape()[3];
  const std::string mode = call.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return call.error("its mode '{}' is not DCR or CRD.", mode);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), {n, c, h * block, w * block}));
  if (call.shapes_only()) return {};
  // The output is seen as [n][c][h][block][w][block], and strides refer to the input's channels.
  const std::int64_t plane = h * w;
  const bool deep = mode == "DCR";  // DCR: the block's place is before the channel.
  Tensor seen = out->reshaped({n, c, h, block, w, block});
  gather_elements(x,
                  {c * block * block * plane, deep ? plane : block * block * plane, w,
                   deep ? block * c * plane : block * plane, 1, deep ? c * plane : plane},
                  0, seen);
  *out = seen.reshaped({n, c, h * block, w * block});
  return {};
}

Result<> run_space_to_depth(Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t block = call.integer("blocksize", 0);
  if (x.rank() != 4 || block < 1 || x.shape()[2] % block != 0 || x.shape()[3] % block != 0)
    return call.error("blocks of {} do not fit the shape {}.", block, to_string(x.shape()));
  const std::int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2] / block,
                     w = x.shape()[3] / block;
  const Shape shape = {n, c * block * block, h, w};
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), shape));
  if (call.shapes_only()) return {};
  const std::int64_t row = w * block;
  Tensor seen = out->reshaped({n, block, block, c, h, w});
  gather_elements(x, {c * h * block * row, row, 1, h * block * row, block * row, block}, 0, seen);
  *out = seen.reshaped(shape);
  return {};
}

// Returns the place in the input of element `i` of the padded tensor, along a dimension of `size`,
// or -1 for the constant.
std::int64_t padded_source(std::int64_t i, std::int64_t size, std::string_view mode) {
  if (i >= 0 && i < size) return i;
  if (mode == "constant" || size == 0) return -1;
  if (mode == "edge") return std::clamp<std::int64_t>(i, 0, size - 1);
  if (mode == "wrap") return ((i % size) + size) % size;
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);  // The mode is "reflect".
  const std::int64_t place = ((i % period) + period) % period;
  return place < size ? place : period - place;
}

Result<> run_pad(Call& call) {
  const Tensor& x = call.input(0);
  const std::size_t rank = x.shape().size();
  std::vector<std::int64_t> given = call.integers(call.has("pads") ? "pads" : "paddings");
  if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(given, call.integers_of(1));
  }
  std::vector<std::int64_t> axes;
  if (call.optional_input(3) != nullptr) {
    WEFT_ASSIGN(axes, call.integers_of(3));
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  const std::string mode = call.text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "wrap" && mode != "reflect")
    return call.error("its mode '{}' is not constant, edge, reflect or wrap.", mode);
  if (given.size() != 2 * axes.size())
    return call.error("{} pads are given for {} axes; each axis needs two.", given.size(),
                      axes.size());
  Shape before(rank, 0), shape = x.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    WEFT_ASSIGN(const std::int64_t axis, call.axis(axes[i], x.rank()));
    const auto a = static_cast<std::size_t>(axis);
    constexpr auto most = static_cast<std::int64_t>(tensor_bytes_max);
    if (std::abs(given[i]) > most || std::abs(given[i + axes.size()]) > most)
      return call.error("its pads {} are too large.", to_string(given));
    before[a] = given[i];
    shape[a] += given[i] + given[i + axes.size()];
    if (shape[a] < 0)
      return call.error("its pads {} remove more elements than a dimension has.", to_string(given));
    if (x.shape()[a] == 0 && mode != "constant" && shape[a] > 0)
      return call.error("an empty dimension cannot be padded with mode {}.", mode);
  }
  const Tensor* value = call.optional_input(2);
  if (value != nullptr && (value->type() != x.type() || value->count() != 1))
    return call.bad_type(2);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), shape));
  if (call.shapes_only()) return {};
  const std::size_t size = element_bytes(x.type());
  ByteVector filler(size);
  if (value != nullptr)
    filler.assign(value->bytes().begin(), value->bytes().end());
  else if (call.has("value") && is_float(x.type()))
    with_type(x.type(), [&]<class T>() {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, Half>) {
        const T constant(call.number("value", 0));
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&constant), sizeof(T), filler.data());
      }
    });
  const Shape own = row_major_strides(x.shape()), outer = row_major_strides(shape);
  const auto result = out->mutable_bytes();
  for (std::int64_t i = 0; i < out->count(); ++i) {
    std::int64_t rest = i, from = 0;
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t source = padded_source(rest / outer[d] - before[d], x.shape()[d], mode);
      rest %= outer[d];
      inside = inside && source >= 0;
      from += source * own[d];
    }
    std::copy_n(inside ? x.bytes().data() + static_cast<std::size_t>(from) * size : filler.data(),
                size, result.data() + static_cast<std::size_t>(i) * size);
  }
  return {};
}

Result<> run_triangle(Call& call) {
  const Tensor& x = call.input(0);
  if (x.rank() < 2)
    return call.error("its input must be of matrices, not of shape {}.", to_string(x.shape()));
  std::int64_t diagonal = 0;
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(const auto given, call.integers_of(1));
    if (given.size() != 1) return call.error("k must be one number.");
    diagonal = given[0];
  }
  const bool upper = call.integer("upper", 1) != 0;
  const std::int64_t rows = x.shape()[x.shape().size() - 2], columns = x.shape().back();
  const std::size_t size = element_bytes(x.type());
  const auto result = out->mutable_bytes();
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t column = i % columns, row = i / columns % rows;
    if (upper ? column - row >= diagonal : column - row <= diagonal)
      std::copy_n(x.bytes().data() + static_cast<std::size_t>(i) * size, size,
                  result.data() + static_cast<std::size_t>(i) * size);
  }
  return {};
}

}  // namespace

void gather_elements(const Tensor& in, const Shape& strides, std::int64_t start, Tensor& out) {
  const auto move = [&]<class Unit>() {
    const auto* from = reinterpret_cast<const Unit*>(in.bytes().data());
    auto* to = reinterpret_cast<Unit*>(out.mutable_bytes().data());
    walk<1>(out.shape(), {strides}, {start},
            [&](std::int64_t i, const std::array<std::int64_t, 1>& at) { to[i] = from[at[0]]; });
  };
  switch (element_bytes(in.type())) {
    case 1:
      return move.operator()<std::uint8_t>();
    case 2:
      return move.operator()<std::uint16_t>();
    case 4:
      return move.operator()<std::uint32_t>();
    default:
      return move.operator()<std::uint64_t>();
  }
}

Result<SlicePlan> plan_slice(const Call& call) {
  const Tensor& x = call.input(0);
  std::vector<std::int64_t> starts = call.integers("starts"), ends = call.integers("ends"),
                            axes = call.integers("axes"), steps;
  if (call.optional_input(1) != nullptr && call.optional_input(2) != nullptr) {
    WEFT_ASSIGN(starts, call.integers_of(1));
    WEFT_ASSIGN(ends, call.integers_of(2));
    if (call.optional_input(3) != nullptr) {
      WEFT_ASSIGN(axes, call.integers_of(3));
    }
    if (call.optional_input(4) != nullptr) {
      WEFT_ASSIGN(steps, call.integers_of(4));
    }
  }
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return call.error("its starts, ends, axes and steps are not of one length.");
  SlicePlan plan{.shape = x.shape(), .strides = row_major_strides(x.shape()), .start = 0};
  std::vector<bool> seen(x.shape().size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    WEFT_ASSIGN(const std::int64_t axis, call.axis(axes[i], x.rank()));
    const auto a = static_cast<std::size_t>(axis);
    if (seen[a]) return call.error("the axis {} is given twice.", axis);
    seen[a] = true;
    const std::int64_t size = x.shape()[a], step = steps[i];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min())
      return call.error("a step is {}, which is not allowed.", step);
    const auto bound = [&](std::int64_t place, std::int64_t low, std::int64_t high) {
      return std::clamp(place < 0 ? place + size : place, low, high);
    };
    // If the step is negative, a start before the first element becomes 0, and an end before the
    // first element becomes -1, so that the slice contains the first element.
    const std::int64_t first =
        step > 0 || size == 0 ? bound(starts[i], 0, size) : bound(starts[i], 0, size - 1);
    const std::int64_t last = step > 0 ? bound(ends[i], 0, size) : bound(ends[i], -1, size - 1);
    const std::int64_t way = size == 0 ? 0 : step > 0 ? last - first : first - last;
    const std::int64_t stride = step > 0 ? step : -step;
    plan.shape[a] = way <= 0 ? 0 : (way - 1) / stride + 1;
    plan.start += plan.shape[a] == 0 ? 0 : first * plan.strides[a];
    plan.strides[a] = plan.shape[a] <= 1 ? 0 : plan.strides[a] * step;
  }
  return plan;
}

std::span<const Operator> movement_operators() {
  static constexpr Operator rows[] = {
      {"Concat", run_concat, 1, any_number, 1, "axis:i"},
      {"DepthToSpace", run_depth_to_space, 1, 1, 1, "blocksize:i mode:s"},
      {"Expand", run_expand, 2, 2},
      {"Pad", run_pad, 1, 4, 1, "mode:s pads:I paddings:I value:f"},
      {"Slice", run_slice, 1, 5, 1, "starts:I ends:I axes:I"},
      {"SpaceToDepth", run_space_to_depth, 1, 1, 1, "blocksize:i mode:s"},
      {"Split", run_split, 1, 2, any_number, "axis:i split:I num_outputs:i"},
      {"Tile", run_tile, 1, 3},
      {"Transpose", run_transpose, 1, 1, 1, "perm:I"},
      {"Trilu", run_triangle, 1, 2, 1, "upper:i"},
  };
  return rows;
}

}  // namespace weft::onnx
