#include "fuzz/sessions/work.h"

#include <bit>

#include "common/base/format.h"

namespace weft::sessions {

namespace {

std::string verify_of(Random& random, bool exact) {
  static constexpr const char* trust[] = {"verified", "anyone"};
  return weft::format(R"("verify":{{"compare":{},"replicas":{},"audit":{},"trust":"{}"}})",
                      exact ? "\"exact\"" : R"({"absolute":0.01,"relative":0.001})",
                      1 + random.below(random.chance(10) ? 7 : 3),
                      random.chance(50)   ? "0"
                      : random.chance(50) ? "1"
                                          : "0.5",
                      trust[random.below(2)]);
}

std::string rest_of(Random& random) {
  std::string out;
  if (random.chance(20)) out += weft::format(R"(,"priority":{})", random.below(101));
  if (random.chance(15)) out += weft::format(R"(,"deadline_s":{})", 1 + random.below(4));
  if (random.chance(10))
    out += weft::format(R"(,"requires":{{"features":["{}"],"limits":{{}},"memory_bytes":{}}})",
                        random.chance(50) ? "shader-f16" : "subgroups",
                        random.below(std::size_t{4} << 30));
  static constexpr const char* budgets[] = {"0", "0.000001", "1000000000000", "9000000000"};
  out += weft::format(R"(,"budget":{}}})", random.chance(12)
                                               ? budgets[random.below(4)]
                                               : weft::format("{}", 1 + random.below(50)));
  return out;
}

std::string wgsl(Random& random, const std::vector<Hash>& blobs) {
  const bool exact = random.chance(70);
  const std::size_t tasks = 1 + random.below(random.chance(5) ? 400 : 8);
  const std::size_t groups = tasks * (1 + random.below(5));
  const bool steps = random.chance(20);
  const bool large = random.chance(5);  // Outputs that are too large for a frame.
  const std::size_t each = large ? 20'000 : 1;
  std::string text = weft::format(
      R"({{"weft":1,"kind":"wgsl","name":"count{}","shader":{{"inline":"fn main() {{}}"}},)",
      random.below(10));
  const std::string dispatch = weft::format("[{},1,1]", groups);
  text += steps ? weft::format(R"("steps":[{{"entry":"main","dispatch":{0}}},)"
                               R"({{"entry":"main","dispatch":{0}}}],)",
                               dispatch)
                : weft::format(R"("entry":"main","dispatch":{},)", dispatch);
  text += R"("bindings":[)";
  std::size_t number = 0;
  if (random.chance(30) && !blobs.empty())
    text +=
        weft::format(R"({{"binding":{},"role":"input","type":"u32","shape":[16],"blob":"{}"}},)",
                     number++, random.pick(blobs).text());
  if (random.chance(20))
    text += weft::format(
        R"({{"binding":{},"role":"uniform","type":"u32","shape":[2],"value":[1,2]}},)", number++);
  text += weft::format(R"({{"binding":{},"role":"output","type":"{}","shape":[{}],"split_dim":0}})",
                       number++, exact ? "u32" : "f32", groups * each);
  if (random.chance(20))
    text +=
        weft::format(R"(,{{"binding":{},"role":"output","type":"u32","shape":[{}],"split_dim":0}})",
                     number++, groups);
  text += weft::format(R"(],"split":{{"axis":"x","tasks":{}}},)", tasks);
  return text + verify_of(random, exact) + rest_of(random);
}

std::string ones(std::size_t count) { return to_base64(ByteVector(count, 1)); }

std::string kernel(Random& random) {
  const std::size_t m = 1 + random.below(12), n = 1 + random.below(9), k = 1 + random.below(70);
  return weft::format(
             R"({{"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"product","m":{},"n":{},"k":{},)"
             R"("a":{{"base64":"{}"}},"b":{{"base64":"{}"}},"split":{{"tasks":{}}},)",
             m, n, k, ones(m * k), ones(k * n), 1 + random.below(m)) +
         verify_of(random, true) + rest_of(random);
}

class Runner final : public coordinator::PartRunner {
 public:
  Result<Ran> run(const std::shared_ptr<const coordinator::VerifiedJob>& job,
                  const coordinator::PartRun& part, Duration) override {
    return Ran{.outputs = right_outputs(*job->manifest, part.range), .seconds = 0.0001};
  }
  void rest() override {}
};

}  // namespace

std::string make_manifest(Random& random, const std::vector<Hash>& blobs) {
  return random.chance(75) ? wgsl(random, blobs) : kernel(random);
}

std::string plain_manifest(std::uint32_t tasks, std::uint32_t replicas) {
  return weft::format(
      R"({{"weft":1,"kind":"wgsl","name":"plain","shader":{{"inline":"fn main() {{}}"}},"entry":"main",)"
      R"("bindings":[{{"binding":0,"role":"output","type":"u32","shape":[{0}],"split_dim":0}}],)"
      R"("dispatch":[{0},1,1],"split":{{"axis":"x","tasks":{1}}},"priority":100,)"
      R"("verify":{{"compare":"exact","replicas":{2}}},"budget":100}})",
      tasks * 4, tasks, replicas);
}

ByteVector right_bytes(const manifest::Manifest& manifest, std::size_t output,
                       manifest::Range range) {
  const manifest::Extent extent = manifest::output_extent(manifest, output, range);
  const bool product = manifest.kind == manifest::Kind::kernel;
  std::vector<bool> floats;
  for (const auto& binding : manifest.bindings) {
    if (binding.is_output()) floats.push_back(binding.type == manifest::ElementType::f32);
  }
  const bool is_float = output < floats.size() && floats[output];
  ByteVector out;
  out.reserve(extent.size);
  for (std::uint64_t i = 0; out.size() + 4 <= extent.size; ++i) {
    const auto number = static_cast<std::uint32_t>(extent.offset / 4 + i);
    append_le(out, product    ? std::uint32_t{manifest.kernel.k}
                   : is_float ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                              : number);
  }
  out.resize(extent.size);
  return out;
}

std::vector<ByteVector> right_outputs(const manifest::Manifest& manifest, manifest::Range range) {
  std::vector<ByteVector> out;
  for (std::size_t i = 0; i < manifest.output_bytes().size(); ++i)
    out.push_back(right_bytes(manifest, i, range));
  return out;
}

std::unique_ptr<coordinator::PartRunner> make_runner() { return std::make_unique<Runner>(); }

}  // namespace weft::sessions
