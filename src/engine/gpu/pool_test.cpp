// A pool stays inside its bound, never lends one buffer twice, and gives the same one again when it can.
#include "engine/gpu/pool.h"

#include <gtest/gtest.h>

#include "engine/gpu/null/instance.h"

namespace weft::gpu {
namespace {

class BufferPoolTest : public testing::Test {
 protected:
  std::unique_ptr<null::NullInstance> instance_ = null::create_instance();
  std::unique_ptr<Device> device_ = run(*instance_, instance_->create_device({})).value();
};

TEST_F(BufferPoolTest, RefusesToCrossItsBoundWhileEverythingIsLent) {
  BufferPool pool(*device_, {.resident_bytes_max = 8192});
  const auto held = pool.acquire(8192, BufferUsage::storage).value();

  const auto refused = pool.acquire(1024, BufferUsage::storage);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(pool.resident_bytes(), 8192);
}

TEST_F(BufferPoolTest, LendsAReturnedBufferAgainForTheSameSizeAndUsageOnly) {
  BufferPool pool(*device_, {.resident_bytes_max = 1 << 20});
  const Handle first = pool.acquire(1000, BufferUsage::storage).value().buffer().handle();

  const auto again = pool.acquire(1024, BufferUsage::storage).value();
  const auto other_size = pool.acquire(1025, BufferUsage::storage).value();
  const auto other_usage = pool.acquire(1024, BufferUsage::uniform).value();

  EXPECT_EQ(again.buffer().handle(), first);
  EXPECT_EQ(other_size.buffer().size(), 2048);
  EXPECT_NE(other_usage.buffer().handle(), first);
  EXPECT_EQ(pool.leased_bytes(), 4096);
}

TEST_F(BufferPoolTest, DestroysIdleBuffersToMakeRoomTheColdestFirst) {
  BufferPool pool(*device_, {.resident_bytes_max = 4096});
  Handle warm = 0;
  {
    const auto b = pool.acquire(512, BufferUsage::storage).value();
    warm = b.buffer().handle();
    (void)pool.acquire(2048, BufferUsage::storage).value();  // Returned first, so the coldest.
  }

  const auto large = pool.acquire(2048, BufferUsage::uniform).value();

  EXPECT_EQ(pool.resident_bytes(), 2048 + 512);
  EXPECT_EQ(pool.acquire(512, BufferUsage::storage).value().buffer().handle(), warm);
  EXPECT_EQ(device_->buffer_bytes(), pool.resident_bytes());
}

TEST_F(BufferPoolTest, WastesAnEighthAtMostOnLargeBuffers) {
  BufferPool pool(*device_, {.resident_bytes_max = 1 << 30});

  for (const std::uint64_t size : {(1U << 20) + 1, (1U << 20) * 9 / 8, 5'000'000U, 100'000'001U}) {
    const auto lease = pool.acquire(size, BufferUsage::storage).value();
    EXPECT_GE(lease.buffer().size(), size);
    EXPECT_LE(lease.buffer().size(), size + size / 8);
  }
  EXPECT_EQ(pool.acquire(device_->limits().buffer_bytes_max + 1, BufferUsage::storage).error().code, ErrorCode::resource_exhausted);
}

TEST_F(BufferPoolTest, TrimsToWhatIsAskedAndKeepsWhatIsLent) {
  BufferPool pool(*device_, {.resident_bytes_max = 1 << 20});
  const auto held = pool.acquire(1024, BufferUsage::storage).value();
  (void)pool.acquire(4096, BufferUsage::storage).value();

  pool.trim(0);

  EXPECT_EQ(pool.resident_bytes(), 1024);
  EXPECT_EQ(pool.leased_bytes(), 1024);
}

}  // namespace
}  // namespace weft::gpu
