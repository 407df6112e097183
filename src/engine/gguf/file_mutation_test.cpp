// Tests with random mutations that the parser returns a valid file or an error for any bytes. It is
// a short seeded run of fuzz/gguf_fuzz.cpp.
#include <gtest/gtest.h>

#include <random>

#include "engine/gguf/file.h"
#include "engine/gguf/test_builder.h"

namespace weft::gguf {
namespace {

std::string sound_file() {
  return test::Builder()
      .text("general.architecture", "llama")
      .uint32("general.alignment", 32)
      .texts("tokens", {"a", "b", "cd", ""})
      .array<float>("scores", ValueType::float32, {1, 2, 3})
      .array<std::uint8_t>("flags", ValueType::boolean, {0, 1})
      .tensor("a", {32, 2}, TensorType::q8_0, 0)
      .tensor("b", {4, 2}, TensorType::f32, 96)
      .bytes(128);
}

// Flips, overwrites, cuts and doubles bytes at a few places. Extreme values are preferred, because
// lengths and counts are what breaks parsers.
std::string mutate(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t i = 0, n = 1 + below(4); i < n && !bytes.empty(); ++i) {
    const std::size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, below(16)));
        break;
      default: {
        constexpr std::uint64_t extremes[] = {0,
                                              1,
                                              0x7F,
                                              0xFF,
                                              0xFFFFFFFF,
                                              0x7FFFFFFFFFFFFFFF,
                                              ~std::uint64_t{0},
                                              std::uint64_t{1} << 40};
        const std::uint64_t value = extremes[below(std::size(extremes))];
        std::memcpy(bytes.data() + at, &value,
                    std::min<std::size_t>(sizeof value, bytes.size() - at));
      }
    }
  }
  return bytes;
}

TEST(GgufMutation, EveryAnswerIsAFileOrASentence) {
  const std::string original = sound_file();
  ASSERT_TRUE(read_file(MemorySource(as_bytes(original))));
  int sound = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string bytes = mutate(original, random);
    const MemorySource source(as_bytes(bytes));

    const auto file = read_file(source);

    if (!file) {
      ASSERT_TRUE(file.error().message.ends_with('.'))
          << "seed " << seed << ": " << file.error().message;
      continue;
    }
    ++sound;
    for (const Tensor& tensor : file->tensors)
      ASSERT_TRUE(source.view(tensor.offset, tensor.bytes)) << "seed " << seed;
  }
  EXPECT_GT(sound, 0);
}

}  // namespace
}  // namespace weft::gguf
