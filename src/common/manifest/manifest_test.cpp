// A manifest that parses satisfies every rule of the format. Any other one is refused with one
// sentence and the place.
#include "common/manifest/manifest.h"

#include <gtest/gtest.h>

#include <string>

#include "common/manifest/data.h"
#include "common/manifest/split.h"

namespace weft::manifest {
namespace {

const std::string mandelbrot = R"({ "weft": 1, "kind": "wgsl", "name": "mandelbrot",
  "shader": { "inline": "@compute fn main() {}" }, "entry": "main", "constants": { "max_iter": 500 },
  "bindings": [
    { "binding": 0, "role": "uniform", "type": "i32", "shape": [4], "value": [-536870912, 268435456, -402653184, 402653184] },
    { "binding": 1, "role": "output", "type": "u32", "shape": [1024, 1024], "split_dim": 0 } ],
  "dispatch": [128, 128, 1], "split": { "axis": "y", "tasks": 16 },
  "verify": { "compare": "exact", "replicas": 2, "audit": 0.05 },
  "requires": { "features": ["shader-f16"], "limits": { "maxBufferSize": 4194304 }, "memory_bytes": 8388608 },
  "tune": { "wg": [64, 128] },
  "priority": 50, "deadline_s": 60, "budget": 1000.000001 })";

// The manifest is one line, so that the column alone names the place of a replaced piece.
const std::string small =
    R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"entry":"main","bindings":[{"binding":0,"role":"output","type":"u32","shape":[8]}],"dispatch":[4]})";
const std::string kernel =
    R"({"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"k","m":2,"n":1,"k":2,"a":{"value":[1,2,3,-128]},"b":{"base64":"AQI="}})";

const std::string onnx =
    R"({"weft":1,"kind":"onnx","name":"o","items":3,"model":{"bytes":2,"base64":"AQI="},"inputs":[{"name":"x","type":"f32","shape":[3,1],"value":[1,2,3]}],"outputs":[{"name":"y","type":"i32","shape":[3,2]}],"split":{"tasks":2}})";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string refusal(const std::string& text) {
  const auto manifest = parse(text);
  return manifest ? "accepted" : manifest.error().message;
}

TEST(Manifest, ReadsTheExampleOfTheDesign) {
  const auto manifest = parse(mandelbrot);
  ASSERT_TRUE(manifest.has_value()) << manifest.error().message;

  EXPECT_EQ(manifest->name, "mandelbrot");
  EXPECT_EQ(std::get<std::string>(manifest->shader), "@compute fn main() {}");
  EXPECT_EQ(manifest->constants.at("max_iter"), 500);
  ASSERT_EQ(manifest->steps.size(), 1U);
  EXPECT_EQ(manifest->steps[0], (Step{.entry = "main", .dispatch = {128, 128, 1}}));
  EXPECT_EQ(to_hex(std::get<Inline>(manifest->bindings[0].data).bytes),
            "000000e0"
            "00000010"
            "000000e8"
            "00000018");
  EXPECT_EQ(manifest->bindings[1].bytes(), 4U << 20U);
  EXPECT_EQ(manifest->output_bytes(), (std::vector<std::uint64_t>{4U << 20U}));
  EXPECT_EQ(manifest->split, (Split{.tasks = 16, .axis = Axis::y}));
  EXPECT_TRUE(manifest->verify.compare.exact);
  EXPECT_EQ(manifest->verify.audit, 0.05);
  EXPECT_EQ(manifest->requirements.limits.at("maxBufferSize"), 4194304U);
  EXPECT_EQ(manifest->tune.at("wg"), (std::vector<double>{64, 128}));
  EXPECT_EQ(manifest->budget, 1'000'000'001);
}

TEST(Manifest, ReadsAKernel) {
  const auto manifest = parse(kernel);
  ASSERT_TRUE(manifest.has_value()) << manifest.error().message;

  EXPECT_EQ(std::get<Inline>(manifest->kernel.a).bytes, (ByteVector{1, 2, 3, 0x80}));
  EXPECT_EQ(std::get<Inline>(manifest->kernel.b).bytes, (ByteVector{1, 2}));
  EXPECT_EQ(manifest->output_bytes(), (std::vector<std::uint64_t>{8}));
}

TEST(Manifest, ReadsAModelAndItsStacks) {
  const auto manifest = parse(onnx);
  ASSERT_TRUE(manifest.has_value()) << manifest.error().message;

  EXPECT_EQ(manifest->kind, Kind::onnx);
  ASSERT_EQ(manifest->bindings.size(), 3U);
  EXPECT_EQ(std::get<Inline>(manifest->bindings[0].data).bytes, (ByteVector{1, 2}));
  EXPECT_EQ(manifest->bindings[1].name, "x");
  EXPECT_TRUE(manifest->bindings[2].is_output());
  EXPECT_EQ(axis_length(*manifest), 3U);
  EXPECT_TRUE(can_cut(*manifest));
  EXPECT_EQ(task_range(*manifest, 1), (Range{.first = 2, .count = 1}));
  EXPECT_EQ(output_extent(*manifest, 0, {.first = 2, .count = 1}).offset, 16U);
  EXPECT_EQ(output_extent(*manifest, 0, {.first = 2, .count = 1}).size, 8U);
  const auto again = parse(to_json(*manifest));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, *manifest);
}

TEST(Manifest, AModelThatIsNotWholeIsRefusedWithThePlace) {
  EXPECT_EQ(refusal(replaced(onnx, R"("items":3)", R"("items":0)")),
            "items: must be from 1 to 1048576, not 0 (line 1, column 44)");
  EXPECT_EQ(refusal(replaced(onnx, R"("bytes":2,)", "")),
            "model: lacks the key \"bytes\" (line 1, column 54)");
  EXPECT_EQ(refusal(replaced(onnx, R"("bytes":2)", R"("bytes":3)")),
            "model.base64: has 2 bytes, but the shape needs 3 (line 1, column 74)");
  EXPECT_EQ(
      refusal(replaced(onnx, R"([3,2])", R"([2,2])")),
      "outputs[0].shape: must begin with the number of items (3), not 2 (line 1, column 193)");
  EXPECT_EQ(
      refusal(replaced(onnx, R"(,"value":[1,2,3])", "")),
      "inputs[0]: needs data: \"value\", \"base64\", \"path\" or \"blob\" (line 1, column 92)");
  EXPECT_EQ(refusal(replaced(onnx, R"("tasks":2)", R"("tasks":4)")),
            "split.tasks: must be at most the number of items (3), not 4 (line 1, column 218)");
  EXPECT_EQ(refusal(replaced(onnx, R"("kind":"onnx")", R"("kind":"onxx")")),
            "kind: must be wgsl, kernel or onnx, not \"onxx\" (line 1, column 18)");
}

TEST(Manifest, IsVerifiedUnlessItsClientTrustsAnyone) {
  EXPECT_FALSE(parse(small)->verify.anyone);
  const auto anyone =
      parse(replaced(small, R"("dispatch":[4])", R"("dispatch":[4],"verify":{"trust":"anyone"})"));
  ASSERT_TRUE(anyone.has_value()) << anyone.error().message;
  EXPECT_TRUE(anyone->verify.anyone);
  EXPECT_TRUE(parse(to_json(*anyone))->verify.anyone);
  EXPECT_EQ(to_json(*parse(small)).find("trust"), std::string::npos) << "old hashes stay";
}

TEST(Manifest, WritesWhatItReads) {
  const std::string steps =
      replaced(replaced(small, R"(,"dispatch":[4])", ""), R"("entry":"main")",
               R"("steps":[{"entry":"a","dispatch":[4,2]},{"entry":"b","dispatch":[4]}])");
  const std::string inout = replaced(
      small, R"("role":"output","type":"u32","shape":[8])",
      R"("role":"inout","type":"f16","shape":[4,2],"value":[1,-2,0.5,"nan","inf","-inf",0,65504],"combine":"concat")");
  const std::string floats = replaced(
      inout, R"("weft":1)",
      R"("weft":1,"split":{"tasks":2,"axis":"x"},"verify":{"compare":{"absolute":0.001,"relative":1e-5}})");
  const std::string hash(64, 'a');
  for (const std::string& text :
       {mandelbrot, small, kernel, steps, floats,
        replaced(small, R"("inline":"x")", R"("path":"a b.wgsl")"),
        replaced(small, R"("inline":"x")", R"("inline":"\u0001\t\"\\\u007f\ud83d\ude00")"),
        replaced(small, R"("inline":"x")", R"("blob":")" + hash + R"(")"),
        replaced(kernel, R"("value":[1,2,3,-128])", R"("path":"a.bin")")}) {
    const auto first = parse(text);
    ASSERT_TRUE(first.has_value()) << text << "\n" << first.error().message;
    const std::string written = to_json(*first);
    const auto second = parse(written);
    ASSERT_TRUE(second.has_value()) << written << "\n" << second.error().message;
    EXPECT_EQ(*first, *second) << written;
    EXPECT_EQ(to_json(*second), written);
  }
}

struct Refusal {
  std::string_view from;
  std::string_view to;
  std::string_view message;
};
std::ostream& operator<<(std::ostream& out, const Refusal& row) { return out << row.to; }

class RefusesSmall : public testing::TestWithParam<Refusal> {};
TEST_P(RefusesSmall, WithTheReason) {
  const std::string message = refusal(replaced(small, GetParam().from, GetParam().to));
  EXPECT_EQ(message.substr(0, message.rfind(" (line")), GetParam().message);
  EXPECT_NE(message.find("(line 1, column "), std::string::npos) << message;
}
INSTANTIATE_TEST_SUITE_P(
    Rows, RefusesSmall,
    testing::Values(
        Refusal{R"("weft":1)", R"("weft":2)", "weft: must be 1, the version of the format, not 2"},
        Refusal{R"("weft":1,)", "", "lacks the key \"weft\""},
        Refusal{R"("kind":"wgsl")", R"("kind":"cuda")",
                "kind: must be wgsl, kernel or onnx, not \"cuda\""},
        Refusal{R"("kind":"wgsl",)", "", "lacks the key \"kind\""},
        Refusal{
            R"("name":"t")", R"("name":"../t")",
            "name: must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with a dot (it names files)"},
        Refusal{R"("name":"t")", R"("name":"t","nmae":"t")",
                "nmae: is not a known key; known here: weft, kind, name, shader, entry, constants, "
                "tune, bindings, dispatch, steps, split, verify, "
                "requires, priority, "
                "deadline_s, budget"},
        Refusal{R"("name":"t")", R"("name":"t","name":"u")", "name: occurs twice"},
        Refusal{R"("inline":"x")", "", "shader: needs \"inline\", \"path\" or \"blob\""},
        Refusal{R"("inline":"x")", R"("inline":"")", "shader.inline: must not be empty"},
        Refusal{R"("inline":"x")", R"("inline":"x","path":"y")",
                "shader.inline: cannot be given together with \"path\" or \"blob\""},
        Refusal{R"("inline":"x")", R"("blob":"12")",
                "shader.blob: must be the 64 hexadecimal digits of a SHA-256"},
        Refusal{R"("entry":"main",)", "", "lacks the key \"entry\""},
        Refusal{R"("entry":"main")", R"("entry":"a b")",
                "entry: must be a WGSL identifier, not \"a b\""},
        Refusal{R"("entry":"main")", R"("entry":"main","steps":[])",
                "entry: cannot be given together with \"steps\""},
        Refusal{R"("entry":"main")", R"("entry":"main","constants":{"a b":1})",
                "constants.a b: is not the name of a WGSL override"},
        Refusal{R"("entry":"main")", R"("entry":"main","constants":{"a":"1"})",
                "constants.a: must be a number, not a string"},
        Refusal{R"("entry":"main")", R"("entry":"main","constants":{"a":1},"tune":{"a":[1]})",
                "tune.a: is fixed in \"constants\" already"},
        Refusal{R"("entry":"main")", R"("entry":"main","tune":{"a":[1,2,1]})",
                "tune.a[2]: occurs twice"},
        Refusal{R"("entry":"main")",
                R"("entry":"main","tune":{"a":[1,2,3,4,5,6,7,8,9],"b":[1,2,3,4,5,6,7,8]})",
                "tune: has more than 64 combinations"},
        Refusal{R"([{"binding":0,"role":"output","type":"u32","shape":[8]}])", "[]",
                "bindings: need at least one with the role \"output\" or \"inout\""},
        Refusal{R"("binding":0)", R"("binding":1000)",
                "bindings[0].binding: must be from 0 to 999, not 1000"},
        Refusal{R"("role":"output")", R"("role":"result")",
                "bindings[0].role: must be one of uniform, input, output, inout, not \"result\""},
        Refusal{R"("role":"output")", R"("role":"output","value":[1])",
                "bindings[0].value: has 1 numbers, but the shape has 8 elements"},
        Refusal{R"("role":"output")", R"("role":"output","path":"x")",
                "bindings[0]: is an output and cannot be given data; \"inout\" can"},
        Refusal{R"("role":"output")", R"("role":"input")",
                "bindings[0]: needs data: \"value\", \"base64\", \"path\" or \"blob\""},
        Refusal{R"("role":"output")", R"("role":"input","path":"x","split_dim":0)",
                "bindings[0].split_dim: is for outputs only"},
        Refusal{R"("role":"output")", R"("role":"inout","path":"x","blob":"y")",
                "bindings[0].blob: cannot be given together with \"path\""},
        Refusal{R"("role":"output")", R"("role":"inout","base64":"AAAA")",
                "bindings[0].base64: has 3 bytes, but the shape needs 32"},
        Refusal{R"("role":"output")", R"("role":"inout","base64":"AAA")",
                "bindings[0].base64: is not base64 (RFC 4648, padded)"},
        Refusal{R"("role":"output")", R"("role":"inout","value":[1,2,3,4,5,6,7,4294967296])",
                "bindings[0].value[7]: must be from 0 to 4294967295, not 4294967296"},
        Refusal{R"("role":"output")", R"("role":"inout","value":[1,2,3,4,5,6,7,8,9])",
                "bindings[0].value: has more numbers than the shape has elements (8)"},
        Refusal{R"("type":"u32")", R"("type":"i8")",
                "bindings[0].type: must be one of i32, u32, f32, f16, not \"i8\""},
        Refusal{R"("type":"u32")", R"("type":"f32")",
                "needs \"compare\": the job has float outputs, which differ between GPUs; give "
                "{\"absolute\", \"relative\"} or \"exact\""},
        Refusal{R"("shape":[8])", R"("shape":[])", "bindings[0].shape: must not be empty"},
        Refusal{R"("shape":[8])", R"("shape":[8,0])", "bindings[0].shape[1]: must not be 0"},
        Refusal{R"("shape":[8])", R"("shape":[65536,65536])",
                "bindings[0].shape: comes to more than 4294967296 bytes"},
        Refusal{R"("shape":[8])", R"("shape":[4294967296,4294967296,4294967296])",
                "bindings[0].shape: comes to more than 4294967296 bytes"},
        Refusal{R"("shape":[8])", R"("shape":[8],"split_dim":0)",
                "bindings[0]: is cut or combined, but the job has no \"split\""},
        Refusal{
            R"("shape":[8])", R"("shape":[8],"split_dim":1)",
            "bindings[0].split_dim: must be 0: outputs are cut along their outermost dimension"},
        Refusal{R"("shape":[8])", R"("shape":[8],"split_dim":0,"combine":"concat")",
                "bindings[0].combine: cannot be given together with \"split_dim\""},
        Refusal{R"("shape":[8])", R"("shape":[8],"combine":"sum")",
                "bindings[0].combine: must be \"concat\", not \"sum\""},
        Refusal{R"([8]}])", R"([8]},{"binding":0,"role":"output","type":"u32","shape":[8]}])",
                "bindings[1]: binding 0 occurs twice"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[])", "dispatch: must not be empty"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[0])",
                "dispatch[0]: must be from 1 to 4294967295, not 0"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[1,1,1,1])",
                "dispatch: has more than 3 elements"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"split":{"tasks":5,"axis":"x"})",
                "split: has more tasks (5) than workgroups along x (4)"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"split":{"tasks":2,"axis":"x"})",
                "bindings[0]: needs \"split_dim\" or \"combine\", since the job has 2 tasks"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"split":{"tasks":2})",
                "split: lacks the key \"axis\""},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"verify":{"compare":"close"})",
                "verify.compare: must be \"exact\" or {\"absolute\", \"relative\"}, not \"close\""},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"verify":{"trust":"me"})",
                "verify.trust: must be \"verified\" (the default) or \"anyone\", not \"me\""},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"verify":{"compare":{}})",
                "verify.compare: needs \"absolute\", \"relative\" or both"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"verify":{"compare":{"absolute":-1}})",
                "verify.compare.absolute: must not be negative"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"verify":{"replicas":8})",
                "verify.replicas: must be from 1 to 7, not 8"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"verify":{"audit":1.5})",
                "verify.audit: must be from 0 to 1, not 1.5"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"priority":101)",
                "priority: must be from 0 to 100, not 101"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"requires":{"limits":{"maxBufferSize":-1}})",
                "requires.limits.maxBufferSize: must be from 0 to 9007199254740992, not -1"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"budget":0.0000001)",
                "budget: must be an amount in credits from 0 to 9000000000000 with at most six "
                "decimals, not 0.0000001"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"budget":1e3)",
                "budget: must be an amount in credits from 0 to 9000000000000 with at most six "
                "decimals, not 1e3"},
        Refusal{R"("dispatch":[4])", R"("dispatch":[4],"budget":-1)",
                "budget: must be an amount in credits from 0 to 9000000000000 with at most six "
                "decimals, not -1"}));

class RefusesKernel : public testing::TestWithParam<Refusal> {};
TEST_P(RefusesKernel, WithTheReason) {
  const std::string message = refusal(replaced(kernel, GetParam().from, GetParam().to));
  EXPECT_EQ(message.substr(0, message.rfind(" (line")), GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    Rows, RefusesKernel,
    testing::Values(Refusal{R"("kernel":"matmul_i8")", R"("kernel":"matmul")",
                            "kernel: must be matmul_i8, the one kernel there is, not \"matmul\""},
                    Refusal{R"("m":2)", R"("m":0)", "m: must be from 1 to 1048576, not 0"},
                    Refusal{R"("k":2)", R"("k":131072)", "k: must be from 1 to 131071, not 131072"},
                    Refusal{R"([1,2,3,-128])", "[1,2,3]",
                            "a.value: has 3 numbers, but the shape has 4 elements"},
                    Refusal{R"([1,2,3,-128])", "[1,2,3,-129]",
                            "a.value[3]: must be from -128 to 127, not -129"},
                    Refusal{R"("AQI=")", R"("AQ==")",
                            "b.base64: has 1 bytes, but the shape needs 2"},
                    Refusal{R"({"base64":"AQI="})", "{}",
                            "b: needs data: \"value\", \"base64\", \"path\" or \"blob\""},
                    Refusal{R"("m":2)", R"("m":2,"split":{"tasks":3})",
                            "split.tasks: must be at most the number of rows (2), not 3"},
                    Refusal{R"("m":2)", R"("m":2,"split":{"tasks":2,"axis":"x"})",
                            "split.axis: is not a known key; known here: tasks"},
                    Refusal{R"("m":2)", R"("m":2,"verify":{"compare":{"absolute":1}})",
                            "verify.compare: must be \"exact\" for matmul_i8"}));

TEST(Manifest, RefusesStepsThatDifferAlongTheSplitAxis) {
  EXPECT_EQ(refusal(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},
 "steps":[{"entry":"a","dispatch":[4,2]},{"entry":"b","dispatch":[8,2]}],
 "bindings":[{"binding":0,"role":"output","type":"u32","shape":[8],"split_dim":0}],
 "split":{"tasks":2,"axis":"x"}})"),
            "split: cuts along x, where step \"b\" has 8 workgroups and the first step 4 (line 4, "
            "column 10)");
}

TEST(Manifest, RefusesAnOutermostDimensionThatTheWorkgroupsDoNotDivide) {
  EXPECT_EQ(
      refusal(
          R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"entry":"a","dispatch":[1,3],
 "bindings":[{"binding":0,"role":"output","type":"u32","shape":[8],"split_dim":0}],
 "split":{"tasks":2,"axis":"y"}})"),
      "bindings[0]: cannot be cut: its outermost dimension (8) is not a multiple of the 3 "
      "workgroups along y (line 2, column 14)");
}

TEST(Manifest, BoundsTheTextAndTheShader) {
  EXPECT_FALSE(parse(small, {.text_bytes_max = small.size() - 1}).has_value());
  EXPECT_FALSE(parse(replaced(small, "\"x\"", "\"xyz\""), {.shader_bytes_max = 2}).has_value());
}

TEST(HalfBits, RoundsToTheNearestEven) {
  const std::pair<double, std::uint16_t> rows[] = {
      {0.0, 0x0000},     {-0.0, 0x8000},           {1.0, 0x3c00},           {-2.0, 0xc000},
      {65504.0, 0x7bff}, {65519.9, 0x7bff},        {0x1p-14, 0x0400},       {0x1p-24, 0x0001},
      {0x1p-25, 0x0000}, {0x1.8p-24, 0x0002},      {1.00048828125, 0x3c00}, {1.00146484375, 0x3c02},
      {2047.75, 0x6800}, {0.333251953125, 0x3555}, {0x1.ff8p-15, 0x03ff},   {0x1.ffcp-15, 0x0400}};
  for (const auto& [value, bits] : rows) EXPECT_EQ(half_bits(value), bits) << value;
  EXPECT_FALSE(half_bits(65520).has_value());
  EXPECT_EQ(half_bits(std::numeric_limits<double>::infinity()), 0x7c00);
}

}  // namespace
}  // namespace weft::manifest
