// Device over the null backend: state that is set is not set again, errors are reported to the
// right scope, a loss ends every wait, and every list has a bound.
#include <gtest/gtest.h>

#include "engine/gpu/null/instance.h"

namespace weft::gpu {
namespace {

using null::Command;

class DeviceTest : public testing::Test {
 protected:
  std::unique_ptr<null::NullInstance> instance_ = null::create_instance();
  std::unique_ptr<Device> device_ = run(*instance_, instance_->create_device({})).value();

  Pipeline pipeline() {
    return run(*instance_,
               device_->create_pipeline({.wgsl = "", .groups = {{{0, BindingKind::storage}}}}))
        .value();
  }
};

TEST_F(DeviceTest, SetsPipelineAndGroupsOnlyWhenTheyChange) {
  const Pipeline first = pipeline();
  const Buffer buffer = device_->create_buffer({.size = 16});
  const BindGroup group = device_->create_bind_group(first, 0, {{0, buffer}});
  Encoder encoder = device_->create_encoder();
  instance_->forget_commands();

  {
    Pass pass = encoder.begin_pass();
    pass.run(first, {&group}, {1});
    pass.run(first, {nullptr}, {2});
  }
  device_->submit(std::move(encoder));

  ASSERT_EQ(instance_->count(Command::Kind::dispatch), 2);
  EXPECT_EQ(instance_->commands()[2].groups[0], group.handle());
  EXPECT_EQ(instance_->commands()[2].other, first.handle());
  EXPECT_EQ(instance_->commands()[2].workgroups.x, 2);
  EXPECT_EQ(instance_->commands()[3].kind, Command::Kind::end_pass);
}

TEST_F(DeviceTest, CountsTheBytesOfBuffersThatExist) {
  {
    const Buffer a = device_->create_buffer({.size = 10});
    Buffer b = device_->create_buffer({.size = 100});
    b = device_->create_buffer({.size = 4});
    EXPECT_EQ(a.size(), 12);
    EXPECT_EQ(device_->buffer_bytes(), 16);
  }
  EXPECT_EQ(device_->buffer_bytes(), 0);
  EXPECT_EQ(device_->buffer_bytes_peak(), 116);
}

TEST_F(DeviceTest, GivesCompileErrorsWithLineAndColumn) {
  instance_->failures().compile =
      CompileMessage{CompileMessage::Kind::error, 3, 17, "unresolved value 'x'"};

  const auto made = run(*instance_, device_->create_pipeline({.wgsl = "..."}));

  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(made.error().message, "3:17: unresolved value 'x'");
}

TEST_F(DeviceTest, HandsAnErrorToTheInnermostScopeOfItsKind) {
  instance_->failures().buffer_bytes_max = 100;
  device_->push_error_scope(Device::ErrorFilter::out_of_memory);
  device_->push_error_scope(Device::ErrorFilter::validation);

  const Buffer buffer = device_->create_buffer({.size = 1000});

  EXPECT_TRUE(run(*instance_, device_->pop_error_scope()).has_value());
  EXPECT_EQ(run(*instance_, device_->pop_error_scope()).error().code, ErrorCode::out_of_memory);
  EXPECT_TRUE(device_->uncaptured_errors().empty());
}

TEST_F(DeviceTest, KeepsABoundedListOfUncapturedErrors) {
  instance_->failures().buffer_bytes_max = 0;

  for (int i = 0; i < 100; ++i) (void)device_->create_buffer({.size = 4});

  const auto errors = device_->uncaptured_errors();
  ASSERT_EQ(errors.size(), Health::errors_max + 1);
  EXPECT_EQ(errors.back(), "36 more errors were dropped.");
  EXPECT_TRUE(device_->uncaptured_errors().empty());
}

Async<Result<>> read_all(Device* device, const Buffer* buffer, ByteVector* out) {
  co_return co_await device->read(*buffer, 0, *out);
}

TEST_F(DeviceTest, EndsEveryWaitWhenTheDeviceIsLostAndSaysSoOnce) {
  const Buffer buffer = device_->create_buffer({.size = 16, .usage = BufferUsage::map_read});
  ByteVector out(16);
  int told = 0;
  device_->on_lost([&](const std::string& reason) { told += reason == "unplugged" ? 1 : 100; });
  std::optional<Result<>> read;
  std::optional<Result<>> idle;
  instance_->hold();
  start<Result<>>(read_all(device_.get(), &buffer, &out),
                  [&](Result<> result) { read = std::move(result); });
  start<Result<>>(device_->idle(), [&](Result<> result) { idle = std::move(result); });

  instance_->lose("unplugged");
  instance_->release();
  while (instance_->poll({})) continue;

  EXPECT_EQ(read->error().code, ErrorCode::device_lost);
  EXPECT_EQ(idle->error().message, "The GPU device is lost: unplugged");
  EXPECT_EQ(told, 1);
  EXPECT_EQ(run(*instance_, device_->create_pipeline({})).error().code, ErrorCode::device_lost);
  EXPECT_FALSE(run(*instance_, instance_->create_device({})).value()->lost().has_value());
}

TEST_F(DeviceTest, ForgetsAWaiterThatWasDestroyedWhileWaiting) {
  const Buffer buffer = device_->create_buffer({.size = 16, .usage = BufferUsage::map_read});
  instance_->poke(buffer.handle(), 0, ByteVector(16, 7));
  ByteVector out(16);
  {
    Wait<> wait(device_->backend().ready());
    device_->backend().read(buffer.handle(), 0, out, wait.completion());
  }

  instance_->poll({});

  EXPECT_EQ(out, ByteVector(16)) << "the read was abandoned, so its memory is not written";
  EXPECT_EQ(instance_->under_way(), 0);
}

TEST_F(DeviceTest, NamesTheSubmitThatWentWrongWhenDebugging) {
  const auto device = run(*instance_, instance_->create_device({.debug = true})).value();
  instance_->failures().submit_error = "Buffer is destroyed.";

  device->submit(device->create_encoder("layer 3"));
  while (instance_->poll({})) continue;

  ASSERT_EQ(device->uncaptured_errors(),
            std::vector<std::string>{"submit \"layer 3\": Buffer is destroyed."});
}

TEST_F(DeviceTest, AsksOnlyForFeaturesThatTheAdapterHas) {
  const auto device =
      run(*instance_, instance_->create_device({.features = {{"shader-f16", "warp-drive"}}}))
          .value();

  EXPECT_TRUE(device->has("shader-f16"));
  EXPECT_FALSE(device->has("warp-drive"));
  EXPECT_FALSE(device->has("subgroups"));
  EXPECT_TRUE(device->has("packed_4x8_integer_dot_product"))
      << "language features come with the adapter";
}

TEST(Adapters, ThePreferredOneIsDiscrete) {
  AdapterInfo cpu;
  cpu.kind = AdapterKind::cpu;
  AdapterInfo integrated;
  integrated.kind = AdapterKind::integrated;
  AdapterInfo discrete;
  discrete.kind = AdapterKind::discrete;

  EXPECT_EQ(best_adapter(std::vector{cpu, integrated, discrete}), 2);
  EXPECT_EQ(best_adapter(std::vector{cpu, integrated}), 1);
  EXPECT_FALSE(best_adapter({}).has_value());
}

}  // namespace
}  // namespace weft::gpu
