// Operators that choose elements by integer tensors: gathers and scatters.
#include <algorithm>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// Converts an index from [-size, size - 1] to [0, size - 1]. Fails if it is outside this range.
Result<std::int64_t> resolved(const Call& call, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size)
    return call.error("the index {} is outside of a dimension of {}.", index, size);
  return index < 0 ? index + size : index;
}

bool is_index(const Tensor& tensor) {
  return tensor.type() == ElementType::i64 || tensor.type() == ElementType::i32;
}

Result<> run_gather(Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1);
  if (!is_index(indices)) return call.bad_type(1);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", 0), x.rank()));
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), std::move(shape)));
  if (call.shapes_only()) return {};
  const AxisView view(x.shape(), axis);
  const std::size_t run = static_cast<std::size_t>(view.after) * element_bytes(x.type());
  std::vector<std::int64_t> from = indices.integers();
  for (std::int64_t& index : from) {
    WEFT_ASSIGN(index, resolved(call, index, view.length));
  }
  std::uint8_t* to = out->mutable_bytes().data();
  for (std::int64_t b = 0; b < view.before && run > 0; ++b)
    for (const std::int64_t index : from) {
      std::copy_n(x.bytes().data() + static_cast<std::size_t>(b * view.length + index) * run, run,
                  to);
      to += run;
    }
  return {};
}

// Returns, for each element of the index tensor, the element of the data tensor that this index
// names along `axis`.
Result<std::vector<std::int64_t>> element_places(const Call& call, const Tensor& x,
                                                 const Tensor& indices, std::int64_t axis) {
  const auto a = static_cast<std::size_t>(axis);
  if (indices.shape().size() != x.shape().size())
    return call.error("the indices of shape {} do not fit the data of shape {}.",
                      to_string(indices.shape()), to_string(x.shape()));
  for (std::size_t d = 0; d < x.shape().size(); ++d)
    if (d != a && indices.shape()[d] > x.shape()[d])
      return call.error("the indices of shape {} reach beyond the data of shape {}.",
                        to_string(indices.shape()), to_string(x.shape()));
  const Shape own = row_major_strides(x.shape()), outer = row_major_strides(indices.shape());
  std::vector<std::int64_t> places = indices.integers();
  for (std::size_t i = 0; i < places.size(); ++i) {
    WEFT_ASSIGN(const std::int64_t index, resolved(call, places[i], x.shape()[a]));
    std::int64_t rest = static_cast<std::int64_t>(i), place = index * own[a];
    for (std::size_t d = 0; d < outer.size(); ++d) {
      if (d != a) place += rest / outer[d] * own[d];
      rest %= outer[d];
    }
    places[i] = place;
  }
  return places;
}

Result<> run_gather_elements(Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1);
  if (!is_index(indices)) return call.bad_type(1);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", 0), x.rank()));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), indices.shape()));
  if (call.shapes_only()) return {};
  WEFT_ASSIGN(const auto places, element_places(call, x, indices, axis));
  const std::size_t size = element_bytes(x.type());
  const auto result = out->mutable_bytes();
  for (std::size_t i = 0; i < places.size(); ++i)
    std::copy_n(x.bytes().data() + static_cast<std::size_t>(places[i]) * size, size,
                result.data() + i * size);
  return {};
}

// The slices of `x` that rows of `depth` indices name, after `batch` leading dimensions.
struct SlicePlaces {
  std::vector<std::int64_t> starts;  // The first element of each slice.
  std::int64_t length = 1;           // The number of elements in a slice.
};
Result<SlicePlaces> slice_places(const Call& call, const Tensor& x, const Tensor& indices,
                                 std::int64_t batch) {
  const std::int64_t depth = indices.shape().back();
  const Shape own = row_major_strides(x.shape());
  SlicePlaces out;
  for (std::int64_t d = batch + depth; d < x.rank(); ++d)
    out.length *= x.shape()[static_cast<std::size_t>(d)];
  const std::vector<std::int64_t> all = indices.integers();
  const std::int64_t rows = depth == 0 ? 0 : indices.count() / depth;
  std::int64_t per_batch = 1, batch_elements = 1, batches = 1;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    (d < batch ? batches : batch_elements) *= x.shape()[static_cast<std::size_t>(d)];
  if (batches > 0) per_batch = std::max<std::int64_t>(1, rows / batches);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t place = batch == 0 ? 0 : row / per_batch * batch_elements;
    for (std::int64_t d = 0; d < depth; ++d) {
      const auto dimension = static_cast<std::size_t>(batch + d);
      WEFT_ASSIGN(
          const std::int64_t index,
          resolved(call, all[static_cast<std::size_t>(row * depth + d)], x.shape()[dimension]));
      place += index * own[dimension];
    }
    out.starts.push_back(place);
  }
  return out;
}

Result<> run_gather_nd(Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1);
  if (indices.type() != ElementType::i64) return call.bad_type(1);
  const std::int64_t batch = call.integer("batch_dims", 0);
  if (batch < 0 || batch >= std::min(x.rank(), indices.rank()) || indices.shape().back() < 1 ||
      batch + indices.shape().back() > x.rank())
    return call.error("the indices of shape {} do not fit the data of shape {}.",
                      to_string(indices.shape()), to_string(x.shape()));
  for (std::int64_t d = 0; d < batch; ++d)
    if (x.shape()[static_cast<std::size_t>(d)] != indices.shape()[static_cast<std::size_t>(d)])
      return call.error("the indices of shape {} are not of as many batches as the data of {}.",
                        to_string(indices.shape()), to_string(x.shape()));
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), x.shape().begin() + batch + indices.shape().back(), x.shape().end());
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), std::move(shape)));
  if (call.shapes_only()) return {};
  WEFT_ASSIGN(const SlicePlaces places, slice_places(call, x, indices, batch));
  const std::size_t size = element_bytes(x.type());
  std::uint8_t* to = out->mutable_bytes().data();
  const auto run = static_cast<std::size_t>(places.length) * size;
  for (const std::int64_t start : places.starts) {
    if (run > 0) std::copy_n(x.bytes().data() + static_cast<std::size_t>(start) * size, run, to);
    to += run;
  }
  return {};
}

enum class Scatter { replace, add, multiply, smallest, largest };
Result<Scatter> scatter_kind(const Call& call) {
  const std::string kind = call.text("reduction", "none");
  if (kind == "none") return Scatter::replace;
  if (kind == "add") return Scatter::add;
  if (kind == "mul") return Scatter::multiply;
  if (kind == "min") return Scatter::smallest;
  if (kind == "max") return Scatter::largest;
  return call.error("its reduction '{}' is not none, add, mul, min or max.", kind);
}

template <class T>
T scattered(Scatter kind, T old, T value) {
  if constexpr (std::is_same_v<T, Truth>) {
    switch (kind) {
      case Scatter::replace:
        return value;
      case Scatter::add:
      case Scatter::largest:
        return Truth((old.bits | value.bits) != 0);
      default:
        return Truth((old.bits & value.bits) != 0);
    }
  } else if constexpr (std::is_same_v<T, Half>) {
    return kind == Scatter::replace
               ? value
               : Half(scattered(kind, static_cast<float>(old), static_cast<float>(value)));
  } else {
    using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    switch (kind) {
      case Scatter::replace:
        return value;
      case Scatter::add:
        return static_cast<T>(static_cast<Wide>(old) + static_cast<Wide>(value));
      case Scatter::multiply:
        return static_cast<T>(static_cast<Wide>(old) * static_cast<Wide>(value));
      case Scatter::smallest:
        return std::min(old, value);
      default:
        return std::max(old, value);
    }
  }
}

Result<> run_scatter_elements(Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1), &updates = call.input(2);
  if (!is_index(indices)) return call.bad_type(1);
  if (updates.type() != x.type()) return call.bad_type(2);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", 0), x.rank()));
  WEFT_ASSIGN(const Scatter kind, scatter_kind(call));
  if (updates.shape() != indices.shape())
    return call.error("the updates of shape {} do not fit the indices of shape {}.",
                      to_string(updates.shape()), to_string(indices.shape()));
  if (call.shapes_only()) return call.make(0, x.type(), x.shape()).transform([](Tensor*) {});
  WEFT_ASSIGN(const auto places, element_places(call, x, indices, axis));
  Tensor out = x;
  with_type(x.type(), [&]<class T>() {
    const auto result = out.mutable_values<T>();
    const auto values = updates.values<T>();
    for (std::size_t i = 0; i < places.size(); ++i) {
      T& target = result[static_cast<std::size_t>(places[i])];
      target = scattered(kind, target, values[i]);
    }
  });
  call.share(0, std::move(out));
  return {};
}

Result<> run_scatter_nd(Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1), &updates = call.input(2);
  if (indices.type() != ElementType::i64) return call.bad_type(1);
  if (updates.type() != x.type()) return call.bad_type(2);
  WEFT_ASSIGN(const Scatter kind, scatter_kind(call));
  if (indices.rank() < 1 || indices.shape().back() > x.rank())
    return call.error("the indices of shape {} do not fit the data of shape {}.",
                      to_string(indices.shape()), to_string(x.shape()));
  Shape expected(indices.shape().begin(), indices.shape().end() - 1);
  expected.insert(expected.end(), x.shape().begin() + indices.shape().back(), x.shape().end());
  if (updates.shape() != expected)
    return call.error("the updates of shape {} must be of shape {}.", to_string(updates.shape()),
                      to_string(expected));
  if (call.shapes_only()) return call.make(0, x.type(), x.shape()).transform([](Tensor*) {});
  WEFT_ASSIGN(const SlicePlaces places, slice_places(call, x, indices, 0));
  Tensor out = x;
  with_type(x.type(), [&]<class T>() {
    const auto result = out.mutable_values<T>();
    const auto values = updates.values<T>();
    std::size_t next = 0;
    for (const std::int64_t start : places.starts)
      for (std::int64_t i = 0; i < places.length; ++i, ++next) {
        T& target = result[static_cast<std::size_t>(start + i)];
        target = scattered(kind, target, values[next]);
      }
  });
  call.share(0, std::move(out));
  return {};
}

}  // namespace

std::span<const Operator> indexing_operators() {
  static constexpr Operator rows[] = {
      {"Gather", run_gather, 2, 2, 1, "axis:i"},
      {"GatherElements", run_gather_elements, 2, 2, 1, "axis:i"},
      {"GatherND", run_gather_nd, 2, 2, 1, "batch_dims:i"},
      {"ScatterElements", run_scatter_elements, 3, 3, 1, "axis:i reduction:s"},
      {"ScatterND", run_scatter_nd, 3, 3, 1, "reduction:s"},
  };
  return rows;
}

}  // namespace weft::onnx
