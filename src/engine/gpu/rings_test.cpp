// Uploads and reads that overlap the GPU's work have bounds, keep their order, and can be dropped
// safely.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/gpu/null/instance.h"
#include "engine/gpu/readback.h"
#include "engine/gpu/staging.h"
#include "engine/gpu/timer.h"
#include "engine/gpu/upload.h"

namespace weft::gpu {
namespace {

using null::Command;

class RingsTest : public testing::Test {
 protected:
  std::unique_ptr<null::NullInstance> instance_ = null::create_instance();
  std::unique_ptr<Device> device_ = run(*instance_, instance_->create_device({})).value();

  std::uint64_t bytes_written() const {
    std::uint64_t bytes = 0;
    for (const Command& command : instance_->commands())
      bytes += command.kind == Command::Kind::write ? command.size : 0;
    return bytes;
  }
  Buffer numbered(std::uint32_t count) {
    Buffer buffer = device_->create_buffer({.size = std::uint64_t{4} * count});
    std::vector<std::uint32_t> words(count);
    std::iota(words.begin(), words.end(), 0U);
    device_->write(buffer, 0, as_bytes(std::span<const std::uint32_t>(words)));
    return buffer;
  }
};

TEST_F(RingsTest, WithoutMemoryOfTheProcessUploadsAreWrittenInPieces) {
  ByteVector bytes((1 << 20) + 5);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const Buffer buffer = device_->create_buffer(
      {.size = bytes.size() + 3,
       .usage = BufferUsage::storage | BufferUsage::map_read | BufferUsage::copy_destination});
  UploadRing ring(*device_, {.slot_bytes = bytes.size()});

  Encoder encoder = device_->create_encoder();
  ring.write(encoder, buffer, bytes);
  device_->submit(std::move(encoder));
  ring.submitted();

  EXPECT_EQ(ring.free_slots(), 0u);
  EXPECT_EQ(bytes_written(), bytes.size() + 3);
  ByteVector back(bytes.size() + 3);
  ASSERT_TRUE(run(*instance_, device_->read(buffer, 0, back)).has_value());
  bytes.resize(bytes.size() + 3);
  EXPECT_EQ(back, bytes);
}

TEST_F(RingsTest, UploadsStopAtTheirBoundUntilTheGpuHasCaughtUp) {
  ByteVector bytes(4096);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const Buffer buffer = device_->create_buffer({.size = 4096});
  Uploader uploader(*device_, {.bytes_in_flight_max = 1024});
  std::optional<Result<>> result;
  instance_->hold();

  start<Result<>>(uploader.write(buffer, 0, bytes),
                  [&](Result<> value) { result = std::move(value); });
  instance_->poll({});
  EXPECT_EQ(bytes_written(), 1024);
  EXPECT_FALSE(result.has_value());

  instance_->release();
  while (instance_->poll({})) continue;
  ASSERT_TRUE(result.has_value() && result->has_value());
  EXPECT_TRUE(run(*instance_, uploader.finish()).has_value());
  EXPECT_EQ(instance_->bytes(buffer), bytes);
}

TEST_F(RingsTest, UploadsFillUpAnOddEndWithZerosAndRefuseWhatDoesNotFit) {
  const Buffer buffer = device_->create_buffer({.size = 12});
  instance_->poke(buffer.handle(), 0, ByteVector(12, 9));
  Uploader uploader(*device_);

  EXPECT_TRUE(run(*instance_, uploader.write(buffer, 4, ByteVector{1, 2, 3, 4, 5})).has_value());
  EXPECT_EQ(instance_->bytes(buffer), (ByteVector{9, 9, 9, 9, 1, 2, 3, 4, 5, 0, 0, 0}));
  EXPECT_EQ(run(*instance_, uploader.write(buffer, 2, ByteVector(4))).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(run(*instance_, uploader.write(buffer, 8, ByteVector(5))).error().code,
            ErrorCode::invalid_argument);
}

TEST_F(RingsTest, AnUploadEndsWhenTheDeviceIsLost) {
  const Buffer buffer = device_->create_buffer({.size = 4096});
  Uploader uploader(*device_, {.bytes_in_flight_max = 1024});
  std::optional<Result<>> result;
  const ByteVector bytes(4096);
  instance_->hold();
  start<Result<>>(uploader.write(buffer, 0, bytes),
                  [&](Result<> value) { result = std::move(value); });

  instance_->lose("unplugged");
  instance_->release();
  while (instance_->poll({})) continue;

  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->error().code, ErrorCode::device_lost);
}

Async<> take(Readback* read, std::vector<std::uint32_t>* seen) {
  const auto bytes = co_await read->bytes();
  std::uint32_t word = ~0U;
  if (bytes) std::memcpy(&word, bytes->data(), 4);
  seen->push_back(word);
}

TEST_F(RingsTest, ReadsKeepTheirOwnBytesAndComeInOrder) {
  const Buffer source = numbered(16);
  ReadbackRing ring(*device_, {.slots = 3, .slot_bytes = 16});
  std::vector<Readback> reads;
  std::vector<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Encoder encoder = device_->create_encoder();
    reads.push_back(ring.record(encoder, source, std::uint64_t{16} * i, 16).value());
    device_->submit(std::move(encoder));
    reads.back().begin();
  }
  for (Readback& read : reads) start(take(&read, &seen));

  while (instance_->poll({})) continue;

  EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 4, 8}));
}

TEST_F(RingsTest, AReadDroppedHalfWayFreesItsSlotOnlyWhenItsAnswerCame) {
  const Buffer source = numbered(4);
  ReadbackRing ring(*device_, {.slots = 1, .slot_bytes = 16});
  instance_->hold();
  {
    Encoder encoder = device_->create_encoder();
    Readback read = ring.record(encoder, source, 0, 16).value();
    EXPECT_EQ(ring.record(encoder, source, 0, 16).error().code, ErrorCode::resource_exhausted);
    device_->submit(std::move(encoder));
    read.begin();
  }
  EXPECT_EQ(ring.free_slots(), 0);

  instance_->release();
  instance_->poll({});

  EXPECT_EQ(ring.free_slots(), 1);
}

TEST_F(RingsTest, AReadMustFitItsSlot) {
  const Buffer source = numbered(16);
  ReadbackRing ring(*device_, {.slots = 1, .slot_bytes = 16});
  Encoder encoder = device_->create_encoder();

  EXPECT_EQ(ring.record(encoder, source, 0, 20).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(ring.record(encoder, source, 2, 4).error().code, ErrorCode::invalid_argument);
}

TEST_F(RingsTest, TheTimerGivesEachPassItsOwnTimesUpToItsBound) {
  PassTimer timer(*device_, {.passes_max = 2});
  Encoder encoder = device_->create_encoder();
  for (const char* label : {"a", "b", "c"}) (void)encoder.begin_pass(label, timer.next(label));
  timer.record(encoder);
  device_->submit(std::move(encoder));

  const auto times = run(*instance_, timer.times()).value();

  ASSERT_EQ(times.size(), 2);
  EXPECT_EQ(times[1].label, "b");
  EXPECT_EQ(times[1].begin_ns, 3000);  // The null device's clock has steps of 1 us.
  EXPECT_EQ(times[1].end_ns, 4000);
  EXPECT_TRUE(run(*instance_, timer.times()).value().empty());
}

TEST_F(RingsTest, TheTimerIsSilentWithoutTheFeature) {
  const auto device =
      run(*instance_, instance_->create_device({.features = std::vector<std::string>{}})).value();
  PassTimer timer(*device);

  EXPECT_FALSE(timer.available());
  EXPECT_EQ(timer.next("a").query_set, nullptr);
  EXPECT_TRUE(run(*instance_, timer.times()).value().empty());
}

}  // namespace
}  // namespace weft::gpu
