// Measures a large tree of an epoch: sum_tree_bench [owners] [changed] [rounds]. Prints the median
// of the rounds. For the root it also prints the longest round and the processor time, which alone
// shows the work if other programs use the cores.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/solana/sum_tree.h"

namespace {

using namespace weft;

std::vector<solana::Earned> many(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<solana::Earned> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& byte : out[i].owner.bytes) byte = static_cast<std::uint8_t>(random());
    out[i].index = static_cast<std::uint32_t>(i);
    out[i].amount = random() >> 34;
    out[i].units = random() >> 34;
  }
  return out;
}
struct Spent {
  double median = 0;
  double most = 0;
  double processor = 0;  // Processor time of all threads in one round.
};
double processor_seconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
template <class Work>
Spent seconds_of(int rounds, Work work) {
  std::vector<double> all;
  const double before = processor_seconds();
  for (int i = 0; i < rounds; ++i) {
    const Instant begin = now();
    work(i);
    all.push_back(seconds(now() - begin));
  }
  const double processor = (processor_seconds() - before) / rounds;
  std::ranges::sort(all);
  return {.median = all[all.size() / 2], .most = all.back(), .processor = processor};
}
std::size_t number(int count, char** arguments, int at, std::size_t otherwise) {
  return count > at ? std::strtoull(arguments[at], nullptr, 10) : otherwise;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t owners = number(count, arguments, 1, 1'000'000);
  const std::size_t changed = number(count, arguments, 2, 10'000);
  const int rounds = static_cast<int>(number(count, arguments, 3, 3));
  const auto rows = many(owners);
  const Spent build = seconds_of(
      rounds, [&](int) { check(solana::SumTree::create(rows).has_value(), "the tree is built"); });
  auto tree = solana::SumTree::create(rows);
  std::size_t siblings = 0;
  const Spent path = seconds_of(101, [&](int i) {
    const auto at = tree->position(rows[static_cast<std::size_t>(i) * owners / 101].owner);
    siblings += tree->path(*at).siblings.size();
  });
  const Spent update = seconds_of(rounds, [&](int round) {
    std::vector<solana::Earned> some;
    for (std::size_t i = 0; i < changed; ++i) {
      some.push_back(rows[i * (owners / changed)]);
      some.back().amount += static_cast<std::uint64_t>(round) + 1;
    }
    check(tree->update(some).has_value(), "the tree is updated");
  });
  std::puts(weft::format("{} owners: root {:.2f} s ({:.2f} at most, {:.2f} of processor time), "
                         "path {:.1f} us ({} levels), "
                         "{} changed leaves {:.3f} s",
                         owners, build.median, build.most, build.processor, path.median * 1e6,
                         siblings / 101, changed, update.median)
                .c_str());
}
