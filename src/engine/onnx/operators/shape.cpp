// Operators that change only the shape of a tensor, or that return a shape.
#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

Result<> run_reshape(Call& call) {
  const Tensor& x = call.input(0);
  // The shape was an attribute before opset 5.
  std::vector<std::int64_t> target = call.integers("shape");
  if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(target, call.integers_of(1));
  }
  const bool allow_zero = call.integer("allowzero", 0) != 0;
  std::optional<std::size_t> inferred;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && !allow_zero) {
      if (i >= x.shape().size())
        return call.error("size {} of {} copies a dimension that the shape {} lacks.", i,
                          to_string(target), to_string(x.shape()));
      target[i] = x.shape()[i];
    }
    if (target[i] == -1) {
      if (inferred) return call.error("the shape {} has two sizes of -1.", to_string(target));
      inferred = i;
    } else if (target[i] < 0) {
      return call.error("the shape {} has the size {}.", to_string(target), target[i]);
    } else if (target[i] > 0 && known > static_cast<std::int64_t>(tensor_bytes_max) / target[i]) {
      return call.error("the shape {} is too large.", to_string(target));
    } else {
      known *= target[i];
    }
  }
  if (inferred) {
    if (known == 0 || x.count() % known != 0)
      return call.error("{} elements do not fit into the shape {}.", x.count(), to_string(target));
    target[*inferred] = x.count() / known;
  }
  if (!inferred && known != x.count())
    return call.error("{} elements do not fit into the shape {}.", x.count(), to_string(target));
  if (target.size() > rank_max)
    return call.error("it would give {} dimensions; at most {} are supported.", target.size(),
                      rank_max);
  call.share(0, x.reshaped(std::move(target)));
  return {};
}

Result<> run_flatten(Call& call) {
  const Tensor& x = call.input(0);
  std::int64_t axis = call.integer("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    return call.error("the axis {} is outside of a tensor of {} dimensions.", axis, x.rank());
  if (axis < 0) axis += x.rank();
  Shape shape = {1, 1};
  for (std::int64_t i = 0; i < x.rank(); ++i)
    shape[i < axis ? 0 : 1] *= x.shape()[static_cast<std::size_t>(i)];
  call.share(0, x.reshaped(std::move(shape)));
  return {};
}

// Returns the axes, which are an input since opset 13 and an attribute before.
Result<std::optional<std::vector<std::int64_t>>> given_axes(const Call& call) {
  if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(auto axes, call.integers_of(1));
    return axes;
  }
  if (call.has("axes")) return call.integers("axes");
  return std::nullopt;
}

Result<> run_squeeze(Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(const auto axes, given_axes(call));
  std::vector<bool> dropped(x.shape().size());
  for (std::size_t i = 0; i < dropped.size(); ++i) dropped[i] = !axes && x.shape()[i] == 1;
  if (axes) {
    for (const std::int64_t given : *axes) {
      WEFT_ASSIGN(const std::int64_t axis, call.axis(given, x.rank()));
      if (x.shape()[static_cast<std::size_t>(axis)] != 1)
        return call.error("the dimension {} of {} is not of size 1.", axis, to_string(x.shape()));
      dropped[static_cast<std::size_t>(axis)] = true;
    }
  }
  Shape shape;
  for (std::size_t i = 0; i < dropped.size(); ++i)
    if (!dropped[i]) shape.push_back(x.shape()[i]);
  call.share(0, x.reshaped(std::move(shape)));
  return {};
}

Result<> run_unsqueeze(Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(const auto axes, given_axes(call));
  if (!axes) return call.error("its axes are not given.");
  const std::size_t rank = x.shape().size() + axes->size();
  if (rank > rank_max)
    return call.error("it would give {} dimensions; at most {} are supported.", rank, rank_max);
  std::vector<bool> added(rank);
  for (const std::int64_t given : *axes) {
    WEFT_ASSIGN(const std::int64_t axis, call.axis(given, static_cast<std::int64_t>(rank)));
    if (added[static_cast<std::size_t>(axis)])
      return call.error("the axis {} is given twice.", axis);
    added[static_cast<std::size_t>(axis)] = true;
  }
  Shape shape;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(added[i] ? 1 : x.shape()[next++]);
  call.share(0, x.reshaped(std::move(shape)));
  return {};
}

// The output has values even if only shapes are wanted, because the values follow from the input's
// shape.
Result<> run_shape(Call& call) {
  const Tensor& x = call.input(0);
  const auto bound = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + x.rank() : place, 0, x.rank());
  };
  const std::int64_t first = bound(call.integer("start", 0));
  const std::int64_t last = std::max(first, bound(call.integer("end", x.rank())));
  const Shape part(x.shape().begin() + first, x.shape().begin() + last);
  call.share(0, Tensor::of<std::int64_t>({last - first}, part));
  return {};
}

Result<> run_size(Call& call) {
  const std::int64_t count = call.input(0).count();
  call.share(0, Tensor::of<std::int64_t>({}, std::span(&count, 1)));
  return {};
}

}  // namespace

std::span<const Operator> shape_operators() {
  static constexpr Operator rows[] = {
      {"Flatten", run_flatten, 1, 1, 1, "axis:i"},
      {"Reshape", run_reshape, 1, 2, 1, "allowzero:i shape:I consumed_inputs:I"},
      {"Shape", run_shape, 1, 1, 1, "start:i end:i"},
      {"Size", run_size},
      {"Squeeze", run_squeeze, 1, 2, 1, "axes:I"},
      {"Unsqueeze", run_unsqueeze, 1, 2, 1, "axes:I"},
  };
  return rows;
}

}  // namespace weft::onnx
