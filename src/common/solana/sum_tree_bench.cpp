// The tree of an epoch at size: sum_tree_bench [owners] [changed] [rounds]. Prints the median of
// the rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
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
template <class Work>
double median_seconds(int rounds, Work work) {
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    const Instant begin = now();
    work(i);
    all.push_back(seconds(now() - begin));
  }
  std::ranges::sort(all);
  return all[all.size() / 2];
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
  const double build = median_seconds(
      rounds, [&](int) { check(solana::SumTree::create(rows).has_value(), "the tree is built"); });
  auto tree = solana::SumTree::create(rows);
  std::size_t siblings = 0;
  const double path = median_seconds(101, [&](int i) {
    const auto at = tree->position(rows[static_cast<std::size_t>(i) * owners / 101].owner);
    siblings += tree->path(*at).siblings.size();
  });
  const double update = median_seconds(rounds, [&](int round) {
    std::vector<solana::Earned> some;
    for (std::size_t i = 0; i < changed; ++i) {
      some.push_back(rows[i * (owners / changed)]);
      some.back().amount += static_cast<std::uint64_t>(round) + 1;
    }
    check(tree->update(some).has_value(), "the tree is updated");
  });
  std::puts(weft::format(
                "{} owners: root {:.2f} s, path {:.1f} us ({} levels), {} changed leaves {:.3f} s",
                owners, build, path * 1e6, siblings / 101, changed, update)
                .c_str());
}
