// Every key is an owner until it joins another one, once and permanently. Devices add and revoke
// devices, and neither can divert money on its way.
#include "decisions/ledger/owners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace weft::ledger {
namespace {

using store::Device;
using store::DeviceRole;
using Wants = Owners::Wants;

PublicKey key(std::uint64_t number) {
  PublicKey made;
  std::memcpy(made.bytes.data(), &number, sizeof number);
  made.bytes[31] = 3;
  return made;
}
const PublicKey laptop = key(1);
const PublicKey phone = key(2);
const PublicKey stranger = key(3);
const PublicKey drawer = key(4);
const OwnerId person = OwnerId::of_first(laptop);

Device device(const PublicKey& of, DeviceRole role = DeviceRole::full, std::string name = "phone") {
  return {.key = of, .owner = {}, .role = role, .name = std::move(name)};
}

TEST(Owners, AWalletOfTodayIsAnOwnerWithOneDevice) {
  const Owners owners;
  EXPECT_EQ(owners.owner_of(laptop), person);
  EXPECT_TRUE(owners.may_act(laptop, Wants::spending).has_value());
  const auto devices = owners.devices(person);
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].key, laptop);
  EXPECT_EQ(person.text(), laptop.text());
}

TEST(Owners, ADeviceActsForItsOwnerUntilItIsRevokedAndBelongsToItForEver) {
  Owners owners;
  const auto rows = owners.add(laptop, device(phone), 10);
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->size(), 2U) << "the first device is stored with the second one";
  EXPECT_EQ(owners.owner_of(phone), person);

  ASSERT_TRUE(owners.revoke(laptop, phone, 20).has_value());

  EXPECT_EQ(owners.owner_of(phone), person) << "what it is still to be paid is its owner's";
  EXPECT_TRUE(owners.is_revoked(phone));
  EXPECT_EQ(owners.may_act(phone, Wants::spending).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(owners.may_act(phone, Wants::managing).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(owners.revoke(phone, laptop, 30).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(owners.add(laptop, device(phone), 30).error().code, ErrorCode::already_exists);
  EXPECT_EQ(owners.add(stranger, device(phone), 30).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(owners.revoke(laptop, phone, 99)->revoked, 20) << "once";
}

TEST(Owners, AKeyWithDevicesOfItsOwnJoinsNoOtherOwner) {
  Owners owners;
  ASSERT_TRUE(owners.add(laptop, device(phone), 1).has_value());
  EXPECT_EQ(owners.add(stranger, device(laptop), 2).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(owners.add(stranger, device(phone), 2).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(owners.add(laptop, device(laptop), 2).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(owners.devices(OwnerId::of_first(phone)).empty());
}

TEST(Owners, TheFirstDeviceMayBeRevokedAndTheLastMayNot) {
  Owners owners;
  EXPECT_EQ(owners.revoke(laptop, laptop, 1).error().code, ErrorCode::not_found);
  ASSERT_TRUE(owners.add(laptop, device(phone), 1).has_value());
  ASSERT_TRUE(owners.revoke(phone, laptop, 2).has_value());
  EXPECT_EQ(owners.owner_of(laptop), person);
  EXPECT_EQ(owners.revoke(phone, phone, 3).error().code, ErrorCode::invalid_argument);
}

TEST(Owners, AStrangerAddsAndRevokesOnlyItsOwnDevices) {
  Owners owners;
  ASSERT_TRUE(owners.add(laptop, device(phone), 1).has_value());
  EXPECT_EQ(owners.revoke(stranger, phone, 2).error().code, ErrorCode::not_found);
  EXPECT_EQ(owners.revoke(stranger, laptop, 2).error().code, ErrorCode::not_found);
}

TEST(Owners, ARecoveryKeyManagesDevicesAndAThiefCannotRemoveIt) {
  Owners owners;
  ASSERT_TRUE(owners.add(laptop, device(drawer, DeviceRole::recovery, "drawer"), 1).has_value());
  ASSERT_TRUE(owners.add(laptop, device(phone), 2).has_value());
  EXPECT_EQ(owners.may_act(drawer, Wants::spending).error().code, ErrorCode::permission_denied);
  EXPECT_TRUE(owners.may_act(drawer, Wants::managing).has_value());

  // The phone is stolen.
  EXPECT_EQ(owners.revoke(phone, drawer, 3).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(owners.add(phone, device(stranger, DeviceRole::recovery), 3).error().code,
            ErrorCode::permission_denied);
  ASSERT_TRUE(owners.revoke(phone, laptop, 3).has_value());
  ASSERT_TRUE(owners.add(drawer, device(key(9)), 4).has_value());
  ASSERT_TRUE(owners.revoke(drawer, phone, 5).has_value());
  EXPECT_TRUE(owners.may_act(key(9), Wants::spending).has_value());
}

TEST(Owners, NamesAndNumbersOfDevicesAreBounded) {
  Owners owners;
  EXPECT_EQ(
      owners.add(laptop, device(phone, DeviceRole::full, std::string(65, 'a')), 1).error().code,
      ErrorCode::invalid_argument);
  EXPECT_EQ(owners.add(laptop, device(phone, DeviceRole::full, "a\x1b[2J"), 1).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(owners.devices(person).size(), 1U) << "what is refused leaves no trace";
  for (std::uint64_t i = 1; i < Owners::devices_max; ++i)
    ASSERT_TRUE(owners.add(laptop, device(key(100 + i)), 1).has_value());
  EXPECT_EQ(owners.add(laptop, device(phone), 1).error().code, ErrorCode::resource_exhausted);
}

// A thief that has a device fills the list of devices, revokes all others and keeps the last device
// that may spend.
TEST(Owners, ARecoveryKeyPutsOutAThiefThatHasFilledTheList) {
  Owners owners;
  ASSERT_TRUE(owners.add(laptop, device(drawer, DeviceRole::recovery), 1).has_value());
  ASSERT_TRUE(owners.add(laptop, device(phone), 1).has_value());
  std::uint64_t number = 100;
  while (owners.add(phone, device(key(number)), 2).has_value()) ++number;
  for (const Device& each : owners.devices(person)) {
    if (each.key == phone || each.role != DeviceRole::full) continue;
    ASSERT_TRUE(owners.revoke(phone, each.key, 3).has_value());
  }

  ASSERT_TRUE(owners.revoke(drawer, phone, 4).has_value());
  EXPECT_EQ(owners.revoke(drawer, drawer, 4).error().code, ErrorCode::invalid_argument)
      << "which would leave no device at all";
  ASSERT_TRUE(owners.add(drawer, device(stranger), 5).has_value());

  EXPECT_FALSE(owners.may_act(phone, Wants::spending).has_value());
  EXPECT_TRUE(owners.may_act(stranger, Wants::spending).has_value());
}

// Random histories: a key has one owner from its first join on, every owner keeps a device, and the
// stored rows restore an equal registry.
TEST(Owners, RandomHistoriesKeepTheirInvariantsAndRestoreToTheSame) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Owners owners;
    std::map<PublicKey, Device> rows;
    std::map<PublicKey, OwnerId> joined;
    const auto some = [&] { return key(1 + random() % 40); };
    int added = 0;
    for (UnixMillis now = 1; now <= 2'000; ++now) {
      const PublicKey by = some();
      const PublicKey of = some();
      const auto role = random() % 8 == 0 ? DeviceRole::recovery : DeviceRole::full;
      if (random() % 3 != 0) {
        if (const auto changed = owners.add(by, device(of, role), now)) {
          ++added;
          for (const Device& row : *changed) ASSERT_TRUE(rows.emplace(row.key, row).second);
        }
      } else if (const auto row = owners.revoke(by, of, now)) {
        rows.insert_or_assign(row->key, *row);
      }
      for (const auto& [known, owner] : joined) ASSERT_EQ(owners.owner_of(known), owner);
      for (const auto& [known, row] : rows) joined.emplace(known, row.owner);
    }
    EXPECT_GT(added, 5);
    std::set<OwnerId> all;
    std::vector<Device> stored;
    for (const auto& [known, row] : rows) {
      all.insert(row.owner);
      stored.push_back(row);
    }
    Owners again;
    ASSERT_TRUE(again.restore(stored).has_value());
    for (const OwnerId& owner : all) {
      const auto devices = owners.devices(owner);
      EXPECT_TRUE(
          std::ranges::any_of(devices,
                              [&](const Device& each) {
                                return owners.may_act(each.key, Wants::managing).has_value();
                              }))
          << "seed " << seed;
      auto restored = again.devices(owner);
      const auto by_key = [](const Device& a, const Device& b) { return a.key < b.key; };
      auto expected = devices;
      std::ranges::sort(restored, by_key);
      std::ranges::sort(expected, by_key);
      EXPECT_EQ(restored, expected);
    }
  }
}

TEST(Owners, StoredDevicesThatContradictOneAnotherAreRefused) {
  const Device first{.key = laptop, .owner = person, .name = {}, .added = 1};
  const Device second{.key = phone, .owner = person, .name = "phone", .added = 1};
  Owners twice;
  EXPECT_EQ(twice.restore(std::vector{first, second, second}).error().code, ErrorCode::data_loss);
  Owners headless;
  EXPECT_EQ(headless.restore(std::vector{second}).error().code, ErrorCode::data_loss);
}

}  // namespace
}  // namespace weft::ledger
