#include <array>

#include "common/base/format.h"
#include "engine/gpu/backend.h"
#include "engine/gpu/conformance/conformance.h"
#include "engine/gpu/conformance/tools.h"

namespace weft::gpu::conformance {
namespace {

constexpr std::string_view broken = R"(@compute @workgroup_size(1)
fn main() {
  let a: i32 = 1.5;
}
)";

Result<> expect_code(const Error& error, ErrorCode code) {
  return expect(error.code == code,
                weft::format("the error is {}, not {}: {}", to_string(error.code), to_string(code),
                             error.message));
}

Async<Result<>> a_shader_that_does_not_compile_gives_line_and_column(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  const auto made = co_await device->create_pipeline({.wgsl = std::string(broken)});
  WEFT_CO_OK(expect(!made.has_value(), "a broken shader makes no pipeline"));
  WEFT_CO_OK(expect_code(made.error(), ErrorCode::invalid_argument));
  WEFT_CO_OK(expect(made.error().message.starts_with("3:16: "),
                    weft::format("the message \"{}\" starts with 3:16", made.error().message)));
  WEFT_CO_ASSIGN(const auto messages, co_await device->compile_messages(std::string(broken)));
  WEFT_CO_OK(expect_equal(messages.size(), std::size_t{1}, "the number of messages"));
  WEFT_CO_OK(expect(messages[0].line == 3 && messages[0].column == 16 &&
                        messages[0].kind == CompileMessage::Kind::error,
                    "the message has its place"));
  WEFT_CO_ASSIGN(const auto none,
                 co_await device->compile_messages("@compute @workgroup_size(1) fn main() {}"));
  WEFT_CO_OK(expect_equal(none.size(), std::size_t{0}, "the number of messages of a good shader"));
  co_return expect(device->uncaptured_errors().empty(),
                   "compile errors stay where they were asked for");
}

Async<Result<>> a_pipeline_that_does_not_fit_its_shader_is_refused(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  const std::string shader =
      "@group(0) @binding(3) var<storage, read_write> v: array<u32>;\n@compute @workgroup_size(1) "
      "fn main() { v[0] = 1; }";
  const std::vector<PipelineOptions> wrong = {
      {.wgsl = shader, .groups = {{{0, BindingKind::storage}}}},
      {.wgsl = shader, .groups = {{{3, BindingKind::uniform}}}},
      {.wgsl = shader, .entry = "other", .groups = {{{3, BindingKind::storage}}}},
      {.wgsl = shader, .groups = {{{3, BindingKind::storage}}}, .constants = {{"unheard_of", 1}}},
      {.wgsl = "override n: u32;\n@compute @workgroup_size(n) fn main() {}",
       .constants = {{"n", 1'000'000}}},
      {.wgsl = shader, .groups = {{{3, BindingKind::storage}, {3, BindingKind::storage}}}},
  };
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const auto made = co_await device->create_pipeline(wrong[i]);
    WEFT_CO_OK(expect(!made.has_value(), weft::format("wrong pipeline {} is refused", i)));
    WEFT_CO_OK(expect_code(made.error(), ErrorCode::invalid_argument));
    WEFT_CO_OK(expect(!made.error().message.empty(), "there is a reason"));
  }
  WEFT_CO_OK(co_await device->create_pipeline(
      {.wgsl = shader, .groups = {{{3, BindingKind::storage}, {9, BindingKind::uniform}}}}));
  co_return expect(device->uncaptured_errors().empty(), "refusals stay where they were asked for");
}

Async<Result<>> error_scopes_nest(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  const auto mistake = [&] {
    return device->create_buffer(
        {.size = 16, .usage = BufferUsage::map_read | BufferUsage::storage});
  };
  device->push_error_scope(Device::ErrorFilter::validation);
  device->push_error_scope(Device::ErrorFilter::validation);
  const Buffer wrong = mistake();
  device->push_error_scope(Device::ErrorFilter::out_of_memory);
  const Buffer wrong_again = mistake();
  const Result<> memory = co_await device->pop_error_scope();
  const Result<> inner = co_await device->pop_error_scope();
  const Result<> outer = co_await device->pop_error_scope();
  WEFT_CO_OK(expect(memory.has_value(), "a memory scope lets a mistake pass"));
  WEFT_CO_OK(expect(!inner.has_value(), "the innermost validation scope takes it"));
  WEFT_CO_OK(expect_code(inner.error(), ErrorCode::invalid_argument));
  WEFT_CO_OK(expect(outer.has_value(), "the outer one hears nothing"));
  co_return expect(device->uncaptured_errors().empty(), "nothing is left over");
}

Async<Result<>> an_oversize_buffer_or_binding_is_an_error(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  device->push_error_scope(Device::ErrorFilter::validation);
  const Buffer huge =
      device->create_buffer({.size = device->limits().buffer_bytes_max + 4, .usage = io_usage});
  const Result<> oversize = co_await device->pop_error_scope();
  WEFT_CO_OK(expect(!oversize.has_value(), "a buffer over the limit is refused"));
  WEFT_CO_OK(expect_code(oversize.error(), ErrorCode::invalid_argument));

  WEFT_CO_ASSIGN(const Pipeline pipeline,
                 co_await device->create_pipeline(
                     {.wgsl = "@group(0) @binding(0) var<storage, read_write> v: "
                              "array<u32>;\n@compute @workgroup_size(1) fn main() { v[0] = 1; }",
                      .groups = {{{0, BindingKind::storage}}}}));
  const Buffer small = device->create_buffer({.size = 512, .usage = io_usage});
  device->push_error_scope(Device::ErrorFilter::validation);
  const BindGroup past_end = device->create_bind_group(pipeline, 0, {{0, small, 256, 512}});
  const Result<> past = co_await device->pop_error_scope();
  co_return expect(!past.has_value(), "a binding past the end of its buffer is refused");
}

Async<Result<>> a_wrong_submit_is_an_uncaptured_error_and_harms_nothing_else(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  const Buffer a = upload(*device, counting(4));
  const Buffer b = device->create_buffer({.size = 16, .usage = io_usage});
  Encoder encoder = device->create_encoder("past the end");
  encoder.copy(a, 0, b, 8, 16);
  device->submit(std::move(encoder));
  std::vector<std::string> errors;
  for (int i = 0; i < 100 && errors.empty(); ++i) {  // A browser reports errors with a delay.
    WEFT_CO_OK(co_await device->idle());
    errors = device->uncaptured_errors();
  }
  WEFT_CO_OK(expect(!errors.empty(), "the error is uncaptured"));
  WEFT_CO_OK(expect(errors[0].contains("past the end"),
                    weft::format("the error names the encoder: {}", errors[0])));
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, a, 4));
  co_return expect_words(words, counting(4), "the source");
}

Async<Result<>> debugging_names_the_submit(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({.debug = true}));
  const Buffer a = upload(*device, counting(4));
  Encoder encoder = device->create_encoder("layer 7");
  encoder.copy(a, 0, a, 8, 16);
  device->submit(std::move(encoder));
  std::vector<std::string> errors;
  for (int i = 0; i < 100 && errors.empty(); ++i) {
    WEFT_CO_OK(co_await device->idle());
    errors = device->uncaptured_errors();
  }
  WEFT_CO_OK(expect_equal(errors.size(), std::size_t{1}, "the number of errors"));
  co_return expect(errors[0].starts_with("submit \"layer 7\": "), errors[0]);
}

Async<Result<>> a_lost_device_ends_every_wait_and_another_can_be_made(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  std::string told;
  device->on_lost([&](std::string reason) { told = std::move(reason); });
  const Buffer staging = upload(*device, counting(4), readback_usage);
  Words words(4);
  Wait<> read(device->backend().ready());
  Wait<Handle> pipeline(device->backend().ready());
  Wait<> idle(device->backend().ready());
  device->backend().read(staging.handle(), 0, {reinterpret_cast<std::uint8_t*>(words.data()), 16},
                         read.completion());
  device->backend().create_pipeline({.wgsl = "@compute @workgroup_size(1) fn main() {}"},
                                    pipeline.completion());
  device->backend().idle(idle.completion());
  device->destroy();
  // The wait must end, with any result: only Device turns results into device_lost.
  (void)co_await read;
  Result<Handle> made = co_await pipeline;
  if (made) device->backend().release(*made, ObjectKind::pipeline);
  (void)co_await idle;

  const Result<> after = co_await device->idle();
  WEFT_CO_OK(expect(!after.has_value(), "a wait on a lost device fails"));
  WEFT_CO_OK(expect_code(after.error(), ErrorCode::device_lost));
  const auto late =
      co_await device->create_pipeline({.wgsl = "@compute @workgroup_size(1) fn main() {}"});
  WEFT_CO_OK(expect(!late.has_value(), "a lost device makes no pipeline"));
  WEFT_CO_OK(expect_code(late.error(), ErrorCode::device_lost));
  const Result<> late_read =
      co_await device->read(staging, 0, {reinterpret_cast<std::uint8_t*>(words.data()), 16});
  WEFT_CO_OK(expect(!late_read.has_value(), "a lost device reads nothing"));
  WEFT_CO_OK(expect_code(late_read.error(), ErrorCode::device_lost));
  WEFT_CO_OK(expect(device->lost().has_value(), "the loss is reported"));
  // The use of objects of the lost device does no harm.
  Encoder encoder = device->create_encoder();
  encoder.clear(staging, 0, 16);
  device->submit(std::move(encoder));
  device->write(staging, 0, ByteVector(16));

  WEFT_CO_ASSIGN(const auto another, co_await instance.create_device({}));
  const Buffer fresh = upload(*another, counting(4));
  WEFT_CO_ASSIGN(const Words back, co_await download(*another, fresh, 4));
  WEFT_CO_OK(expect_words(back, counting(4), "what the next device holds"));
  co_return expect(!told.empty(), "the callback was called");
}

Async<Result<>> a_waiter_may_go_away_before_its_answer(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  const Buffer staging = upload(*device, Words(4, 9), readback_usage);
  Words words(4);
  {
    Wait<> wait(device->backend().ready());
    device->backend().read(staging.handle(), 0, {reinterpret_cast<std::uint8_t*>(words.data()), 16},
                           wait.completion());
  }
  WEFT_CO_OK(co_await device->idle());
  WEFT_CO_OK(co_await device->idle());
  WEFT_CO_OK(expect_words(words, Words(4), "memory of an abandoned read"));
  WEFT_CO_OK(
      co_await device->read(staging, 0, {reinterpret_cast<std::uint8_t*>(words.data()), 16}));
  co_return expect_words(words, Words(4, 9), "the next read");
}

Async<Result<>> unknown_features_are_left_out(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device(
                                        {.features = {{"timestamp-query", "warp-drive"}}}));
  WEFT_CO_OK(expect(!device->has("warp-drive"), "a feature that is not there"));
  WEFT_CO_ASSIGN(const auto adapters, co_await instance.adapters());
  WEFT_CO_OK(expect(!adapters.empty(), "the adapter is listed"));
  const Limits& limits = device->limits();
  co_return expect(
      limits.buffer_bytes_max >= 1 << 28 && limits.storage_binding_bytes_max >= 1 << 27 &&
          limits.workgroup_invocations_max >= 128 && limits.bind_groups_max >= 4 &&
          limits.workgroups_per_dimension_max >= 65535 && limits.storage_offset_alignment <= 256,
      "the limits are WebGPU's or better");
}

}  // namespace

std::span<const Check> error_checks() {
  static const std::array checks = {
      WEFT_CHECK(a_shader_that_does_not_compile_gives_line_and_column),
      WEFT_CHECK(a_pipeline_that_does_not_fit_its_shader_is_refused),
      WEFT_CHECK(error_scopes_nest),
      WEFT_CHECK(an_oversize_buffer_or_binding_is_an_error),
      WEFT_CHECK(a_wrong_submit_is_an_uncaptured_error_and_harms_nothing_else),
      WEFT_CHECK(debugging_names_the_submit),
      WEFT_CHECK(a_lost_device_ends_every_wait_and_another_can_be_made),
      WEFT_CHECK(a_waiter_may_go_away_before_its_answer),
      WEFT_CHECK(unknown_features_are_left_out),
  };
  return checks;
}

}  // namespace weft::gpu::conformance
