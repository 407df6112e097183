#include "decisions/jobs/book.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

PublicKey device_key(std::uint8_t byte) {
  PublicKey key;
  key.bytes.fill(byte);
  return key;
}

TEST(Book, ShowsWhatBelongsToAnOwnerToItsDevices) {
  const PublicKey first = device_key(1), phone = device_key(2), drawer = device_key(3),
                  stranger = device_key(4);
  const OwnerId owner = OwnerId::of_first(first);
  Book book;
  EXPECT_TRUE(book.sees(phone, phone)) << "a key alone is its own owner";
  EXPECT_FALSE(book.sees(phone, first));

  book.set_device({.key = first, .owner = owner, .name = {}});
  book.set_device({.key = phone, .owner = owner, .name = {}});
  book.set_device({.key = drawer, .owner = owner, .role = store::DeviceRole::recovery, .name = {}});

  EXPECT_TRUE(book.sees(phone, first));
  EXPECT_TRUE(book.sees(first, phone));
  EXPECT_TRUE(book.sees(first, drawer));
  EXPECT_FALSE(book.sees(drawer, first)) << "it manages devices and does nothing else";
  EXPECT_FALSE(book.sees(stranger, first));
  EXPECT_FALSE(book.sees(first, stranger));

  book.set_device({.key = phone, .owner = owner, .name = {}, .revoked = 1});

  EXPECT_FALSE(book.sees(phone, first));
  EXPECT_FALSE(book.sees(phone, phone)) << "what it had is its owner's";
  EXPECT_TRUE(book.sees(first, phone));
}

}  // namespace
}  // namespace weft::jobs
