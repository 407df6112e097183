// The cost of the checks beside the products that they check: freivalds_bench [size] [rounds]. The
// products are plain loops that the compiler vectorises, on one core. Times are those of this
// process on its processor, as the median of the rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#include "common/proof/freivalds.h"
#include "common/proof/freivalds_float.h"

namespace {

template <class Work>
double median_millis(int rounds, Work work) {
  std::vector<double> millis;
  for (int round = 0; round < rounds; ++round) {
    const std::clock_t begin = std::clock();
    work();
    millis.push_back(static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC);
  }
  std::ranges::sort(millis);
  return millis[millis.size() / 2];
}

// c = a b, one row of c at a time, so that the innermost loop runs along rows.
template <class In, class Out>
void multiply(std::size_t size, const std::vector<In>& a, const std::vector<In>& b,
              std::vector<Out>& c) {
  std::ranges::fill(c, Out{0});
  for (std::size_t i = 0; i < size; ++i) {
    Out* out = &c[i * size];
    for (std::size_t l = 0; l < size; ++l) {
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character.
      const Out factor = a[i * size + l];
      const In* row = &b[l * size];
      for (std::size_t j = 0; j < size; ++j) out[j] += factor * row[j];
    }
  }
}

void row(const char* name, double product, double check) {
  std::printf("%-28s product %9.3f ms, check %7.3f ms, %.2f %%\n", name, product, check,
              check / product * 100);
}

}  // namespace

int main(int argc, char** argv) {
  const auto size = static_cast<std::uint32_t>(argc > 1 ? std::max(std::atoi(argv[1]), 1) : 1024);
  const int rounds = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 5;
  const std::size_t count = std::size_t{size} * size;
  std::mt19937 random(1);
  {
    std::vector<std::int8_t> a(count), b(count);
    std::vector<std::int32_t> c(count);
    for (auto& value : a) value = static_cast<std::int8_t>(random());
    for (auto& value : b) value = static_cast<std::int8_t>(random());
    const double product = median_millis(rounds, [&] { multiply(size, a, b, c); });
    bool accepted = true;
    const double check = median_millis(rounds * 5, [&] {
      accepted &= weft::proof::freivalds_accepts(
          {.m = size, .n = size, .k = size, .a = a, .b = b, .c = c}, random());
    });
    row("int8, 61-bit prime", product, check);
    if (!accepted) return 1;
  }
  {
    std::vector<float> a(count), b(count), c(count);
    for (auto& value : a) value = static_cast<float>(random()) * 0x1p-32F - 0.5F;
    for (auto& value : b) value = static_cast<float>(random()) * 0x1p-32F - 0.5F;
    const double product = median_millis(rounds, [&] { multiply(size, a, b, c); });
    bool accepted = true;
    for (const std::uint32_t checks : {1U, 4U}) {
      const double check = median_millis(rounds * 5, [&] {
        accepted &= weft::proof::freivalds_accepts(
            weft::proof::FloatProduct{.m = size, .n = size, .k = size, .a = a, .b = b, .c = c},
            random(), {}, checks);
      });
      row(checks == 1 ? "f32, Gaussian, 1 round" : "f32, Gaussian, 4 rounds", product, check);
    }
    if (!accepted) return 1;
  }
  return 0;
}
