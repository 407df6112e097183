// Operators that shift and scale values by statistics of the values around them. All sums are
// computed in double, and results are rounded once.
#include <cmath>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <bool log>
Result<> run_softmax(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return call.bad_type(0);
  // Before opset 13, all dimensions from the axis on form one row.
  const bool is_old = call.opset() < 13;
  std::int64_t axis = 0;
  if (x.rank() > 0) {
    WEFT_ASSIGN(axis, call.axis(call.integer("axis", is_old ? 1 : -1), x.rank()));
  }
  AxisView view(x.shape(), axis);
  if (is_old) {
    view.length *= view.after;
    view.after = 1;
  }
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  std::vector<float> values = floats_of(x);
  for (std::int64_t b = 0; b < view.before; ++b)
    for (std::int64_t a = 0; a < view.after; ++a) {
      const auto place = [&](std::int64_t k) { return at((b * view.length + k) * view.after + a); };
      float largest = -std::numeric_limits<float>::infinity();
      for (std::int64_t k = 0; k < view.length; ++k) largest = std::max(largest, values[place(k)]);
      double sum = 0;
      for (std::int64_t k = 0; k < view.length; ++k)
        sum += std::exp(static_cast<double>(values[place(k)]) - largest);
      const double log_sum = std::log(sum);
      for (std::int64_t k = 0; k < view.length; ++k) {
        const double shifted = static_cast<double>(values[place(k)]) - largest;
        values[place(k)] = static_cast<float>(log ? shifted - log_sum : std::exp(shifted) / sum);
      }
    }
  store_floats(*out, values);
  return {};
}

// Returns an input that has one value for each channel.
Result<std::vector<float>> per_channel(const Call& call, std::size_t input, std::int64_t channels) {
  const Tensor& tensor = call.input(input);
  if (!is_float(tensor.type())) return call.bad_type(input);
  if (tensor.count() != channels)
    return call.error("input {} of shape {} must have {} values.", input, to_string(tensor.shape()),
                      channels);
  if (!tensor.has_bytes()) return std::vector<float>();
  return floats_of(tensor);
}

Result<> run_batch_normalisation(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return call.bad_type(0);
  if (x.rank() < 2)
    return call.error("its input must have channels, not shape {}.", to_string(x.shape()));
  if (call.integer("training_mode", 0) != 0 ||
      (call.opset() < 7 && call.integer("is_test", 0) == 0 && call.output_count() > 1))
    return call.located(ErrorCode::unsupported, "its training mode is not supported.");
  // With spatial = 0 (before opset 9), there are a scale, a bias, a mean and a variance for each
  // place of an image instead of for each channel.
  AxisView view(x.shape(), 1);
  if (call.integer("spatial", 1) == 0) {
    view.length *= view.after;
    view.after = 1;
  }
  const std::int64_t channels = view.length;
  WEFT_ASSIGN(const auto scale, per_channel(call, 1, channels));
  WEFT_ASSIGN(const auto bias, per_channel(call, 2, channels));
  WEFT_ASSIGN(const auto mean, per_channel(call, 3, channels));
  WEFT_ASSIGN(const auto variance, per_channel(call, 4, channels));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  const double epsilon = call.number("epsilon", 1e-5f);
  std::vector<float> values = floats_of(x);
  for (std::int64_t b = 0; b < view.before; ++b)
    for (std::int64_t c = 0; c < channels; ++c) {
      const double factor = scale[at(c)] / std::sqrt(variance[at(c)] + epsilon);
      for (std::int64_t a = 0; a < view.after; ++a) {
        float& value = values[at((b * channels + c) * view.after + a)];
        value = static_cast<float>((value - mean[at(c)]) * factor + bias[at(c)]);
      }
    }
  store_floats(*out, values);
  return {};
}

struct Moments {
  double mean = 0;
  double variance = 0;
};
Moments moments_of(std::span<const float> values) {
  Moments out;
  for (const float value : values) out.mean += value;
  out.mean /= static_cast<double>(values.size());
  for (const float value : values) out.variance += (value - out.mean) * (value - out.mean);
  out.variance /= static_cast<double>(values.size());
  return out;
}

// Normalises groups of channels of one image. For InstanceNormalization a group is one channel.
Result<> normalise_groups(Call& call, std::int64_t groups, bool scale_per_group) {
  const Tensor& x = call.input(0);
  const std::int64_t channels = x.shape()[1];
  if (groups <= 0 || channels % groups != 0)
    return call.error("{} channels cannot be put into {} groups.", channels, groups);
  const std::int64_t scales = scale_per_group ? groups : channels;
  WEFT_ASSIGN(const auto scale, per_channel(call, 1, scales));
  WEFT_ASSIGN(const auto bias, per_channel(call, 2, scales));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  const double epsilon = call.number("epsilon", 1e-5f);
  std::vector<float> values = floats_of(x);
  const AxisView view(x.shape(), 1);
  const std::int64_t per_group = channels / groups * view.after;
  for (std::int64_t g = 0; g < view.before * groups && per_group > 0; ++g) {
    const std::span<float> group = std::span(values).subspan(at(g * per_group), at(per_group));
    const Moments moments = moments_of(group);
    const double factor = 1 / std::sqrt(moments.variance + epsilon);
    for (std::int64_t i = 0; i < per_group; ++i) {
      const std::int64_t channel = g % groups * (channels / groups) + i / view.after;
      const std::size_t s = at(scale_per_group ? g % groups : channel);
      group[at(i)] =
          static_cast<float>((group[at(i)] - moments.mean) * factor * scale[s] + bias[s]);
    }
  }
  store_floats(*out, values);
  return {};
}

Result<> has_channels(const Call& call) {
  if (!is_float(call.input(0).type())) return call.bad_type(0);
  if (call.input(0).rank() < 2)
    return call.error("its input must have channels, not shape {}.",
                      to_string(call.input(0).shape()));
  return {};
}
Result<> run_instance_normalisation(Call& call) {
  WEFT_OK(has_channels(call));
  return normalise_groups(call, call.input(0).shape()[1], false);
}
Result<> run_group_normalisation(Call& call) {
  WEFT_OK(has_channels(call));
  return normalise_groups(call, call.integer("num_groups", 0), call.opset() < 21);
}

// Normalises rows that begin at the axis. With `centred` their mean is subtracted
// (LayerNormalization).
Result<> normalise_rows(Call& call, bool centred) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return call.bad_type(0);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", -1), x.rank()));
  Shape row_shape(x.shape().begin() + axis, x.shape().end());
  Shape reduced = x.shape();
  for (std::size_t i = at(axis); i < reduced.size(); ++i) reduced[i] = 1;
  for (const std::size_t i : {1, 2}) {
    const Tensor* given = call.optional_input(i);
    if (given == nullptr) continue;
    if (!is_float(given->type())) return call.bad_type(i);
    const auto shape = broadcast(given->shape(), x.shape());
    if (!shape || *shape != x.shape())
      return call.error("input {} of shape {} does not broadcast to {}.", i,
                        to_string(given->shape()), to_string(x.shape()));
  }
  const std::int64_t length = element_count(row_shape);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  Tensor *means = nullptr, *inverse = nullptr;
  if (call.wants(1)) {
    WEFT_ASSIGN(means, call.make(1, ElementType::f32, reduced));
  }
  if (call.wants(2)) {
    WEFT_ASSIGN(inverse, call.make(2, ElementType::f32, reduced));
  }
  if (call.shapes_only() || x.count() == 0) return {};
  const double epsilon = call.number("epsilon", 1e-5f);
  std::vector<float> values = floats_of(x);
  std::vector<float> row_means, row_inverses;
  for (std::int64_t r = 0; r < x.count() / length; ++r) {
    const std::span<float> row = std::span(values).subspan(at(r * length), at(length));
    Moments moments;
    if (centred) {
      moments = moments_of(row);
    } else {
      for (const float value : row) moments.variance += static_cast<double>(value) * value;
      moments.variance /= static_cast<double>(length);
    }
    const double factor = 1 / std::sqrt(moments.variance + epsilon);
    for (float& value : row) value = static_cast<float>((value - moments.mean) * factor);
    row_means.push_back(static_cast<float>(moments.mean));
    row_inverses.push_back(static_cast<float>(factor));
  }
  for (const std::size_t i : {1, 2}) {
    const Tensor* given = call.optional_input(i);
    if (given == nullptr) continue;
    const std::vector<float> operand = floats_of(*given);
    walk<1>(x.shape(), {broadcast_strides(given->shape(), x.shape())}, {0},
            [&](std::int64_t k, const std::array<std::int64_t, 1>& from) {
              if (i == 1)
                values[at(k)] *= operand[at(from[0])];
              else
                values[at(k)] += operand[at(from[0])];
            });
  }
  store_floats(*out, values);
  if (means != nullptr) store_floats(*means, row_means);
  if (inverse != nullptr) store_floats(*inverse, row_inverses);
  return {};
}
Result<> run_layer_normalisation(Call& call) { return normalise_rows(call, true); }
Result<> run_rms_normalisation(Call& call) { return normalise_rows(call, false); }

// Normalises across neighbouring channels.
Result<> run_lrn(Call& call) {
  WEFT_OK(has_channels(call));
  const Tensor& x = call.input(0);
  const std::int64_t size = call.integer("size", 1);
  if (size < 1) return call.error("its size is {}, not positive.", size);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  const double alpha = call.number("alpha", 1e-4f), beta = call.number("beta", 0.75f),
               bias = call.number("bias", 1);
  const std::vector<float> in = floats_of(x);
  std::vector<float> values(in.size());
  const AxisView view(x.shape(), 1);
  for (std::int64_t b = 0; b < view.before; ++b)
    for (std::int64_t c = 0; c < view.length; ++c)
      for (std::int64_t a = 0; a < view.after; ++a) {
        const auto place = [&](std::int64_t channel) {
          return at((b * view.length + channel) * view.after + a);
        };
        double squares = 0;
        const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2);
        const std::int64_t last = std::min(view.length - 1, c + size / 2);
        for (std::int64_t k = first; k <= last; ++k)
          squares += static_cast<double>(in[place(k)]) * in[place(k)];
        values[place(c)] = static_cast<float>(
            in[place(c)] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta));
      }
  store_floats(*out, values);
  return {};
}

Result<> run_lp_normalisation(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return call.bad_type(0);
  const std::int64_t p = call.integer("p", 2);
  if (p != 1 && p != 2) return call.error("p is {}, not 1 or 2.", p);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", -1), x.rank()));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  std::vector<float> values = floats_of(x);
  const AxisView view(x.shape(), axis);
  for (std::int64_t b = 0; b < view.before; ++b)
    for (std::int64_t a = 0; a < view.after; ++a) {
      const auto place = [&](std::int64_t k) { return at((b * view.length + k) * view.after + a); };
      double sum = 0;
      for (std::int64_t k = 0; k < view.length; ++k) {
        const double value = values[place(k)];
        sum += p == 1 ? std::abs(value) : value * value;
      }
      const double norm = p == 1 ? sum : std::sqrt(sum);
      for (std::int64_t k = 0; k < view.length; ++k)
        values[place(k)] = norm == 0 ? 0 : static_cast<float>(values[place(k)] / norm);
    }
  store_floats(*out, values);
  return {};
}

}  // namespace

std::span<const Operator> normalisation_operators() {
  static constexpr Operator rows[] = {
      {"BatchNormalization", run_batch_normalisation, 5, 5, 5,
       "epsilon:f momentum:f training_mode:i spatial:i is_test:i consumed_inputs:I"},
      {"GroupNormalization", run_group_normalisation, 3, 3, 1,
       "epsilon:f num_groups:i stash_type:i"},
      {"InstanceNormalization", run_instance_normalisation, 3, 3, 1, "epsilon:f consumed_inputs:I"},
      {"LRN", run_lrn, 1, 1, 1, "alpha:f beta:f bias:f size:i"},
      {"LayerNormalization", run_layer_normalisation, 2, 3, 3, "axis:i epsilon:f stash_type:i"},
      {"LogSoftmax", run_softmax<true>, 1, 1, 1, "axis:i"},
      {"LpNormalization", run_lp_normalisation, 1, 1, 1, "axis:i p:i"},
      {"RMSNormalization", run_rms_normalisation, 2, 2, 1, "axis:i epsilon:f stash_type:i"},
      {"Softmax", run_softmax<false>, 1, 1, 1, "axis:i"},
  };
  return rows;
}

}  // namespace weft::onnx
