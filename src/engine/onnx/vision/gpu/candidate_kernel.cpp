#include "engine/onnx/vision/gpu/candidate_kernel.h"

#include <bit>
#include <cmath>
#include <limits>

#include "engine/onnx/vision/gpu/candidates.wgsl.h"

namespace weft::onnx {
namespace {

using gpu::BindingKind;
using gpu::BufferUsage;

// The number of threads in a workgroup, which the shader repeats.
constexpr std::uint32_t candidate_lanes = 64;
// The number of workgroups that every device supports in one dimension.
constexpr std::uint32_t candidate_groups_max = 65535;
constexpr std::size_t candidate_words = 8;
constexpr std::size_t head_words = 8;
constexpr std::size_t about_words = 6;

constexpr std::int32_t none_passes = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t each_passes = std::numeric_limits<std::int32_t>::min();

// Maps floats to integers that have the same order; both zeros become 0.
std::int32_t order_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto size = static_cast<std::int32_t>(bits & 0x7fffffffU);
  return bits == static_cast<std::uint32_t>(size) ? size : -size;
}

// Returns the order_of() of the smallest f32 that is larger than `number`.
std::int32_t least_over(double number) {
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (std::isnan(number) || number == std::numeric_limits<double>::infinity()) return none_passes;
  if (number >= largest) return order_of(infinity);
  if (number == -std::numeric_limits<double>::infinity()) return order_of(-largest);
  if (number < -largest) return order_of(-largest);
  const auto near = static_cast<float>(number);
  return order_of(near > number ? near : std::nextafter(near, infinity));
}

// Returns the order_of() of a lower bound: if an f32 product is below this bound, the exact product
// is at most `number`. The bound allows for the rounding of the product by 2^-24 of its value,
// which holds for numbers that are not near the smallest f32.
std::int32_t product_least(double number) {
  constexpr double small = 1e-30;
  if (!(number > small)) return each_passes;
  const double least = number * (1 - 1e-6);
  return least >= std::numeric_limits<float>::max() ? each_passes
                                                    : order_of(static_cast<float>(least));
}

}  // namespace

Async<Result<std::unique_ptr<CandidateKernel>>> CandidateKernel::create(gpu::Device& device) {
  WEFT_CO_ASSIGN(gpu::Pipeline pipeline,
                 co_await device.create_pipeline({.wgsl = std::string(wgsl::candidates_wgsl),
                                                  .label = "candidates",
                                                  .groups = {{{0, BindingKind::storage_read},
                                                              {1, BindingKind::storage_read},
                                                              {2, BindingKind::storage_read},
                                                              {3, BindingKind::storage}}}}));
  co_return std::unique_ptr<CandidateKernel>(new CandidateKernel(device, std::move(pipeline)));
}

Result<std::unique_ptr<CandidateKernel::Bound>> CandidateKernel::bind(
    const std::vector<Shape>& shapes, const std::vector<gpu::BoundBuffer>& outputs) const {
  const auto kind = detector_kind(shapes);
  if (!kind || outputs.size() != shapes.size())
    return fail(ErrorCode::unsupported,
                "The model's outputs are not those of a supported detector.");
  std::unique_ptr<Bound> bound(new Bound(*this));
  bound->kind_ = *kind;
  const bool corners = *kind == DetectorKind::classes_and_corners;
  bound->rows_ = static_cast<std::uint32_t>(shapes[0][1]);
  bound->classes_ = static_cast<std::uint32_t>(shapes[0][2] - (corners ? 0 : 5));
  const std::uint64_t bytes = (head_words + candidate_words * candidates_max) * 4;
  bound->about_ =
      device_.create_buffer({.size = 32,
                             .usage = BufferUsage::storage | BufferUsage::copy_destination,
                             .label = "candidates, about"});
  bound->found_ = device_.create_buffer(
      {.size = bytes,
       .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
       .label = "candidates"});
  bound->result_ =
      device_.create_buffer({.size = bytes,
                             .usage = BufferUsage::map_read | BufferUsage::copy_destination,
                             .label = "candidates, to read"});
  bound->words_.resize(bytes / 4);
  const auto at = [](std::uint32_t binding, const gpu::BoundBuffer& place) -> gpu::BoundBuffer {
    return {.binding = binding, .buffer = place.buffer, .offset = place.offset, .size = place.size};
  };
  bound->group_ = device_.create_bind_group(pipeline_, 0,
                                            {at(0, outputs[0]),
                                             at(1, outputs[corners ? 1 : 0]),
                                             {.binding = 2, .buffer = bound->about_},
                                             {.binding = 3, .buffer = bound->found_}});
  bound->set_score(std::numeric_limits<double>::infinity());
  return bound;
}

void CandidateKernel::Bound::set_score(double score_min) {
  if (score_min_ == score_min) return;
  score_min_ = score_min;
  const std::array<std::uint32_t, about_words> about = {
      rows_,
      classes_,
      kind_ == DetectorKind::classes_and_corners ? 1U : 0U,
      candidates_max,
      std::bit_cast<std::uint32_t>(least_over(score_min)),
      std::bit_cast<std::uint32_t>(product_least(score_min))};
  kernel_.device_.write(about_, 0, weft::as_bytes(std::span<const std::uint32_t>(about)));
}

void CandidateKernel::Bound::record(gpu::Encoder& encoder) const {
  encoder.clear(found_, 0, 4);
  const std::uint32_t groups = (rows_ + candidate_lanes - 1) / candidate_lanes;
  const std::uint32_t lines = (groups + candidate_groups_max - 1) / candidate_groups_max;
  if (groups > 0) {
    gpu::Pass pass = encoder.begin_pass("candidates");
    pass.run(kernel_.pipeline_, {&group_}, {(groups + lines - 1) / lines, lines, 1});
  }
  encoder.copy(found_, 0, result_, 0, result_.size());
}

Async<Result<std::optional<std::vector<Candidate>>>> CandidateKernel::Bound::read() {
  WEFT_CO_OK(co_await kernel_.device_.read(
      result_, 0, {reinterpret_cast<std::uint8_t*>(words_.data()), words_.size() * 4}));
  const std::uint32_t count = words_[0];
  if (count > candidates_max) co_return std::nullopt;
  std::vector<Candidate> out(count);
  const std::uint32_t* next = words_.data() + head_words;
  for (Candidate& candidate : out) {
    candidate = {.row = next[0],
                 .class_id = next[1],
                 .object = std::bit_cast<float>(next[2]),
                 .score = std::bit_cast<float>(next[3]),
                 .box = {}};
    for (std::size_t side = 0; side < 4; ++side)
      candidate.box[side] = std::bit_cast<float>(next[4 + side]);
    next += candidate_words;
  }
  co_return out;
}

}  // namespace weft::onnx
