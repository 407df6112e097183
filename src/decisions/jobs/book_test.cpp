#include "decisions/jobs/book.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

PublicKey key_of(std::uint8_t byte) {
  PublicKey key;
  key.bytes.fill(byte);
  return key;
}

TEST(Book, ShowsWhatBelongsToAnOwnerToItsDevices) {
  const PublicKey first = key_of(1), phone = key_of(2), drawer = key_of(3), stranger = key_of(4);
  const OwnerId owner = OwnerId::of_first(first);
  Book book;
  EXPECT_TRUE(book.sees(phone, phone)) << "a key alone is its own owner";
  EXPECT_FALSE(book.sees(phone, first));

  book.set_device({.key = first, .owner = owner, .name = {}});
  book.set_device({.key = phone, .owner = owner, .name = {}});
  book.set_device(
      {.key = drawer, .owner = owner, .role = store::DeviceRole::recovery, .name = {}});

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
