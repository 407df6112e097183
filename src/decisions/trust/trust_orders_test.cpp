// Results and receipts are shuffled, duplicated and lost, from one seed. With an honest majority
// the right root is accepted for every task, exactly once, and only from workers that returned it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "decisions/trust/trust.h"

namespace weft::trust {
namespace {

struct Message {
  std::uint8_t worker = 0;
  std::uint32_t index = 0;
  std::uint8_t root = 0;
  bool receipt = false;
};

PublicKey key_of(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}
Hash root_of(std::uint8_t number) {
  Hash hash;
  hash.bytes[5] = number;
  return hash;
}

TEST(TrustOrders, AnHonestMajorityWinsInEveryOrder) {
  constexpr std::uint32_t tasks = 20;
  constexpr std::uint8_t workers = 7;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto replicas = static_cast<std::uint32_t>(1 + seed % 3);
    Trust trust;
    JobId job;
    trust.add_job(job, {.replicas = replicas, .agree = {}}, tasks);
    // At most replicas - 1 workers lie, each with a different root, so that no quorum of liars
    // exists.
    std::vector<Message> messages;
    for (std::uint8_t worker = 0; worker < workers; ++worker) {
      const bool liar = worker + 1U < replicas;
      for (std::uint32_t index = 0; index < tasks; ++index) {
        const auto root = static_cast<std::uint8_t>(liar ? 100 + worker : index);
        for (std::uint64_t copies = 1 + random() % 2; copies > 0; --copies)
          messages.push_back({worker, index, root, false});
        for (std::uint64_t copies = 1 + random() % 2; copies > 0; --copies)
          messages.push_back({worker, index, root, true});
      }
    }
    std::shuffle(messages.begin(), messages.end(), random);

    std::map<std::uint32_t, int> accepted;
    for (const Message& message : messages) {
      const TaskId task{job, message.index};
      const auto decisions =
          message.receipt
              ? trust.add_receipt(key_of(message.worker),
                                  std::vector<Claim>{{task, 1, root_of(message.root)}})
              : trust.add_result({task, key_of(message.worker), 1, root_of(message.root)});
      for (const Decision& decision : decisions) {
        ASSERT_FALSE(std::holds_alternative<JobFailed>(decision)) << "seed " << seed;
        if (const auto* done = std::get_if<Accepted>(&decision)) {
          ++accepted[done->task.index];
          EXPECT_EQ(done->root, root_of(static_cast<std::uint8_t>(done->task.index)))
              << "seed " << seed;
          EXPECT_EQ(std::set(done->agreeing.begin(), done->agreeing.end()).size(), replicas)
              << "seed " << seed;
          for (const PublicKey& worker : done->agreeing)
            EXPECT_GE(worker.bytes[0] + 1U, replicas) << "seed " << seed << ": a liar is paid";
        }
      }
    }
    for (std::uint32_t index = 0; index < tasks; ++index)
      EXPECT_EQ(accepted[index], 1) << "seed " << seed << ", task " << index;
  }
}

}  // namespace
}  // namespace weft::trust
