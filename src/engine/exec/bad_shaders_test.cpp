// Tests shaders of untrusted clients: an error message names the place of the mistake, a job that
// needs too many resources is refused before any device object is created, and an access out of
// bounds harms no other task. (The sandbox ends endless loops.)
#include <algorithm>

#include "common/base/format.h"
#include "engine/exec/test_device.h"

namespace weft::exec {
namespace {

// Joins the lines of a text into one line for JSON, and replaces PATTERN with 256 bytes of 0x5a in
// base64.
std::string test_text(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  for (std::size_t at = text.find("PATTERN"); at != std::string::npos; at = text.find("PATTERN"))
    text.replace(at, 7, to_base64(ByteVector(256, 0x5a)));
  return text;
}

class BadShader : public DeviceTest {
 protected:
  // Makes a job with one workgroup and one output of 64 words.
  static std::shared_ptr<const Job> shader_job(std::string_view shader,
                                               std::string_view keys = "") {
    std::string escaped;
    for (const char c : shader) escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
    return job(weft::format(
        R"({{{}"weft":1,"kind":"wgsl","name":"bad","shader":{{"inline":"{}"}},"entry":"main","dispatch":[1],
"bindings":[{{"binding":0,"role":"output","type":"u32","shape":[64]}}]}})",
        keys, escaped));
  }
  Error refusal(const std::shared_ptr<const Job>& bad) {
    const auto output = run_whole(bad);
    EXPECT_FALSE(output.has_value());
    EXPECT_EQ(device->buffer_bytes(), 0U);
    EXPECT_TRUE(device->uncaptured_errors().empty());
    return output ? Error{} : output.error();
  }
  // Expects that the device still runs a correct job.
  void expect_still_works() {
    const auto good = run_whole(shader_job(fill));
    ASSERT_TRUE(good.has_value()) << good.error().message;
    EXPECT_EQ(elements<std::uint32_t>(good->outputs.at(0)), std::vector<std::uint32_t>(64, 7));
  }
  static constexpr std::string_view fill =
      R"(@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = 7; })";
};

TEST_F(BadShader, IsNamedWithLineAndColumnWhereItDoesNotCompile) {
  const Error error =
      refusal(shader_job("@group(0) @binding(0) var<storage, read_write> out: "
                         "array<u32>;\n@compute @workgroup_size(1)\nfn main() { out[0] = 1.5f; }"));

  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(error.message.starts_with("3:20: ")) << error.message;
  EXPECT_TRUE(error.message.ends_with(" - while compiling the shader's entry point \"main\""))
      << error.message;
  expect_still_works();
}

TEST_F(BadShader, IsRefusedWhenItIsCompiledAheadToo) {
  const auto prepared = gpu::run(*instance, executor->prepare(shader_job("nonsense")));

  ASSERT_FALSE(prepared.has_value());
  EXPECT_TRUE(prepared.error().message.starts_with("1:1: ")) << prepared.error().message;
}

// A shader that does not match its job, and the sentence that the error message must have.
struct Mismatch {
  std::string_view shader;
  std::string_view keys;
  std::string_view sentence;
};
class BadShaderMismatch : public BadShader, public testing::WithParamInterface<Mismatch> {};
const Mismatch mismatches[] = {
    {"@compute @workgroup_size(1) fn other() {}\n@compute @workgroup_size(1) fn third() {}", "",
     R"(The shader has no entry point "main": it has "other", "third".)"},
    {"fn other() {}", "", R"(The shader has no entry point "main": it has none with @compute.)"},
    {"fn other() {}\n  @fragment fn main() {}", "",
     R"(2:13: The entry point "main" is one of @fragment; a job's is one of @compute.)"},
    {"// Nine\n @group(0) @binding(9) var<storage, read_write> out: array<u32>;\n@compute "
     "@workgroup_size(1) fn main() { out[0] = 1; }",
     "", "2:2: The shader uses @group(0) @binding(9), which is not a binding of the job."},
    {"@binding(0) @group(3) var<storage, read_write> out: array<u32>;\n@compute @workgroup_size(1) "
     "fn main() { out[0] = 1; }",
     "",
     "1:1: The shader uses bindings of @group(3); a job's are in @group(0), and Weft's own is in "
     "@group(1)."},
    {"@group(0) @binding(0) var<uniform> out: vec4u;\n@compute @workgroup_size(1) fn main() { _ = "
     "out; }",
     "",
     "1:1: @group(0) @binding(0) is var<uniform> in the shader, but var<storage, read_write> by "
     "its role in the job."},
    {"@group(0) @binding(0) var<storage, read> out: array<u32>;\n@compute @workgroup_size(1) fn "
     "main() { _ = out[0]; }",
     "",
     "1:1: @group(0) @binding(0) is var<storage, read> in the shader, but var<storage, read_write> "
     "by its role in the job."},
    {"@group(0) @binding(0) var out: texture_2d<f32>;\n@compute @workgroup_size(1) fn main() { _ = "
     "textureDimensions(out); }",
     "", "1:1: @group(0) @binding(0) is a texture in the shader; a job binds buffers."},
    {"override k: u32;\n@compute @workgroup_size(1) fn main() { _ = k; }", "",
     "These overrides have no value, neither in the shader nor in the job's constants: k."},
    {"@compute @workgroup_size(1) fn main() {}", R"("constants":{"nothing":1},)",
     R"(The job gives the constant "nothing", but its shader has no such override.)"},
};
INSTANTIATE_TEST_SUITE_P(Table, BadShaderMismatch, testing::ValuesIn(mismatches));

TEST_P(BadShaderMismatch, IsOneSentenceWithItsPlace) {
  const Error error = refusal(shader_job(GetParam().shader, GetParam().keys));

  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message, std::string(GetParam().sentence) +
                               " - while compiling the shader's entry point \"main\"");
}

TEST_F(BadShader, NeedsBindingsAsLongAsItsTypesSay) {
  // The device detects a binding that is too short only at the dispatch.
  const Error too_short =
      refusal(shader_job("@group(0) @binding(0) var<storage, read_write> out: array<u32, "
                         "65>;\n@compute @workgroup_size(1) fn main() { out[0] = 1; }"));

  EXPECT_EQ(too_short.code, ErrorCode::invalid_argument);
  EXPECT_EQ(
      too_short.message,
      "1:1: @group(0) @binding(0) has 256 bytes in a task, but its type in the shader needs 260.");
  expect_still_works();
}

TEST_F(BadShader, IsRefusedWithAWorkgroupOverTheLimits) {
  const Error error = refusal(shader_job("@compute @workgroup_size(65535) fn main() {}"));
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(error.message.starts_with("1:33: ") && error.message.contains("65535") &&
              !error.message.contains('\n'))
      << error.message;
  EXPECT_EQ(refusal(shader_job("var<workgroup> a: array<u32, 10000000>;\n@compute "
                               "@workgroup_size(1) fn main() { a[0] = 1; }"))
                .code,
            ErrorCode::invalid_argument);
  expect_still_works();
}

TEST_F(BadShader, MustTellItsWorkgroupSizeWhenTheJobHasSeveralTasks) {
  const auto split = job(
      R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"@group(0) @binding(0) var<storage, read_write> out: array<u32>; @compute @workgroup_size(max(1, 2)) fn main() { out[0] = 1; }"},
"entry":"main","dispatch":[4],"bindings":[{"binding":0,"role":"output","type":"u32","shape":[4],"split_dim":0}],"split":{"axis":"x","tasks":2}})");

  EXPECT_EQ(refusal(split).message,
            "The @workgroup_size of 'main' cannot be told: 'max' is not understood. A job in "
            "several tasks needs it to tell each task's origin.");
}

TEST_F(BadShader, LeavesOtherBuffersIntactWhenItWritesOutOfBounds) {
  // Memory near `out` holds the two guard bindings `before` and `after`, and buffers of other jobs
  // on the same device.
  using gpu::BufferUsage;
  const ByteVector pattern(4096, 0xa5);
  std::vector<gpu::Buffer> others;
  for (int i = 0; i < 16; ++i) {
    others.push_back(
        device->create_buffer({.size = pattern.size(),
                               .usage = BufferUsage::storage | BufferUsage::copy_source |
                                        BufferUsage::copy_destination}));
    device->write(others.back(), 0, pattern);
  }
  const auto wild = job(test_text(R"({"weft":1,"kind":"wgsl","name":"wild","shader":{"inline":"
@group(0) @binding(0) var<storage, read_write> before: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  for (var i = 0u; i < 4096; i++) { out[(id.x - 32) * 4096 + i] = 0xdeadbeef; }
  out[id.x + 0xffffff00u] = 1; out[id.x + 0x7fffff00u] = 2; out[id.x + 0x40000000u] = 3;
}"},"entry":"main","dispatch":[1],"bindings":[
 {"binding":0,"role":"inout","type":"u32","shape":[64],"base64":"PATTERN"},
 {"binding":1,"role":"output","type":"u32","shape":[64]},
 {"binding":2,"role":"inout","type":"u32","shape":[64],"base64":"PATTERN"}]})"));

  const auto output = run_whole(wild);

  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_EQ(output->outputs.at(0), ByteVector(256, 0x5a));
  EXPECT_EQ(output->outputs.at(2), ByteVector(256, 0x5a));
  const gpu::Buffer staging = device->create_buffer(
      {.size = pattern.size(), .usage = BufferUsage::map_read | BufferUsage::copy_destination});
  for (const gpu::Buffer& other : others) {
    gpu::Encoder encoder = device->create_encoder();
    encoder.copy(other, 0, staging, 0, pattern.size());
    device->submit(std::move(encoder));
    ByteVector now(pattern.size());
    ASSERT_TRUE(gpu::run(*instance, device->read(staging, 0, now)).has_value());
    EXPECT_EQ(now, pattern);
  }
}

TEST_F(BadShader, ReadsNothingOfOthersOutOfBounds) {
  // A freed buffer of an earlier job holds a secret; a read past the end of `out` must not return
  // it.
  const auto secret = job(test_text(R"({"weft":1,"kind":"wgsl","name":"secret","shader":{"inline":"
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = 0x5ec4e7; }"},
"entry":"main","dispatch":[256],"bindings":[{"binding":0,"role":"output","type":"u32","shape":[16384]}]})"));
  ASSERT_TRUE(run_whole(secret).has_value());
  const auto prying = shader_job(R"(@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  for (var i = 64u; i < 100000; i++) { if (out[id.x * 100000 + i] == 0x5ec4e7) { out[id.x] = 1; } }
})");

  const auto output = run_whole(prying);

  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_EQ(elements<std::uint32_t>(output->outputs.at(0)), std::vector<std::uint32_t>(64, 0));
}

struct TooMuch {
  std::string_view keys;
  std::string_view bindings;
  std::string_view dispatch;
  std::string_view message;
};

TEST_F(BadShader, IsRefusedBeforeAnythingIsMadeWhenItAsksForTooMuch) {
  bounds = {.binding_bytes_max = 1 << 20, .bytes_max = 1 << 21, .dispatches_max = 4};
  executor = create_gpu_executor(*device, bounds);
  const TooMuch rows[] = {
      {"", R"([{"binding":0,"role":"output","type":"u32","shape":[262145]}])", "[1]",
       "Binding 0 takes 1048580 bytes; a binding may take at most 1048576 (binding_bytes_max)."},
      {"",
       R"([{"binding":0,"role":"output","type":"u32","shape":[262144]},{"binding":1,"role":"output","type":"u32","shape":[1]}])",
       "[1]",
       "The task takes 2097192 bytes on the device; it may take at most 2097152 (bytes_max)."},
      {"", R"([{"binding":0,"role":"output","type":"u32","shape":[1]}])", "[1,1,65536]",
       "Step \"main\" dispatches 65536 workgroups along z; this device takes 65535."},
      {R"("split":{"axis":"x","tasks":1},)",
       R"([{"binding":0,"role":"output","type":"u32","shape":[327675],"split_dim":0}])", "[327675]",
       "Binding 0 takes 1310700 bytes; a binding may take at most 1048576 (binding_bytes_max)."},
      {R"("requires":{"features":["warp-drive"]},)",
       R"([{"binding":0,"role":"output","type":"u32","shape":[1]}])", "[1]",
       "The job requires the feature \"warp-drive\", which this device does not have."},
      {R"("requires":{"limits":{"maxBufferSize":9007199254740992}},)",
       R"([{"binding":0,"role":"output","type":"u32","shape":[1]}])", "[1]",
       "The job requires maxBufferSize to be at least 9007199254740992"},
      {R"("requires":{"limits":{"maxWarp":1}},)",
       R"([{"binding":0,"role":"output","type":"u32","shape":[1]}])", "[1]",
       "The job requires the limit \"maxWarp\", which this worker does not know."},
      {R"("requires":{"memory_bytes":2097153},)",
       R"([{"binding":0,"role":"output","type":"u32","shape":[1]}])", "[1]",
       "The job requires 2097153 bytes of memory; a task may take at most 2097152 (bytes_max)."},
      {"",
       R"([{"binding":0,"role":"output","type":"u32","shape":[1]},{"binding":1,"role":"uniform","type":"u32","shape":[20000],"base64":"ZEROS"}])",
       "[1]", "Binding 1 takes 80000 bytes; this device binds at most 65536."},
  };
  for (const TooMuch& row : rows) {
    std::string text = weft::format(
        R"({{{}"weft":1,"kind":"wgsl","name":"t","shader":{{"inline":"@compute @workgroup_size(1) fn main() {{}}"}},
"entry":"main","bindings":{},"dispatch":{}}})",
        row.keys, row.bindings, row.dispatch);
    if (const auto at = text.find("ZEROS"); at != std::string::npos)
      text.replace(at, 5, to_base64(ByteVector(80000)));
    const auto bad = job(text);
    const std::uint64_t peak = device->buffer_bytes_peak();

    const Error error = refusal(bad);

    EXPECT_TRUE(error.message.starts_with(row.message)) << error.message;
    EXPECT_TRUE(error.code == ErrorCode::resource_exhausted ||
                error.code == ErrorCode::unsupported);
    EXPECT_EQ(device->buffer_bytes_peak(), peak);
    EXPECT_EQ(fits(*bad, *device, bounds).error().message, error.message);
  }
}

TEST_F(BadShader, IsRefusedWhenThePiecesAreMoreThanATaskMayDispatch) {
  bounds.dispatches_max = 4;
  executor = create_gpu_executor(*device, bounds);
  const auto cut = job(
      R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"@group(0) @binding(0) var<storage, read_write> out: array<u32>; @compute @workgroup_size(1) fn main() { out[0] = 1; }"},
"entry":"main","dispatch":[5],"bindings":[{"binding":0,"role":"output","type":"u32","shape":[5],"split_dim":0}],"split":{"axis":"x","tasks":1}})");

  const auto refused = run_whole(cut, 1);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "The task takes 5 dispatches; it may take at most 4 (dispatches_max).");
}

TEST_F(BadShader, IsRefusedWhenItsDataHasAnotherSizeThanItsShape) {
  auto bad = std::make_shared<Job>(*shader_job(fill));
  bad->manifest.bindings[0].role = manifest::Role::inout;
  bad->data[0] = ByteVector(255);

  EXPECT_EQ(refusal(bad).message, "The data of binding 0 has 255 bytes; its shape needs 256.");
}

}  // namespace
}  // namespace weft::exec
