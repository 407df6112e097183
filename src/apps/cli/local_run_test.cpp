// Jobs from files: files that a manifest names are found beside it, a part of the tasks gives that
// part of the result, and a job that cannot run here is reported.
#include "apps/cli/local_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

#include "apps/cli/local_job.h"
#include "common/base/format.h"
#include "common/proof/merkle.h"

namespace weft::cli {
namespace {

class LocalRun : public testing::Test {
 protected:
  LocalRun()
      : folder(std::filesystem::temp_directory_path() /
               weft::format("weft-local-run-{}", ::getpid())) {
    std::filesystem::create_directories(folder / "data");
    write("shader.wgsl", R"(@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;
@compute @workgroup_size(2) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = 10 * source[id.x + weft.origin.x]; })");
    write("data/source.bin", std::string("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6\0\0\0", 24));
    write("job.json", job_text("data/source.bin"));
  }
  ~LocalRun() override { std::filesystem::remove_all(folder); }

  void write(const char* name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  static std::string job_text(std::string_view data) {
    return weft::format(
        R"({{"weft":1,"kind":"wgsl","name":"tens","shader":{{"path":"shader.wgsl"}},"entry":"main","dispatch":[3],
"bindings":[{{"binding":0,"role":"input","type":"u32","shape":[6],"path":"{}"}},{{"binding":1,"role":"output","type":"u32","shape":[6],"split_dim":0}}],
"split":{{"axis":"x","tasks":3}}}})",
        data);
  }
  [[nodiscard]] Result<LocalResult> run(LocalDevice device = LocalDevice::gpu,
                                        std::optional<TaskSpan> tasks = {}) const {
    WEFT_ASSIGN(const auto job, load_local_job(folder / "job.json"));
    return run_locally(job, device, tasks, [](std::uint32_t, std::uint32_t) {});
  }

  std::filesystem::path folder;
};

ByteVector words(std::initializer_list<std::uint32_t> values) {
  ByteVector bytes;
  for (const std::uint32_t value : values) append_le(bytes, value);
  return bytes;
}

TEST_F(LocalRun, ReadsShaderAndDataFromBesideTheManifest) {
  const auto result = run();

  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->outputs.at(0).bytes, words({10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(result->job_root, proof::root_of_roots(result->task_roots));
  const std::vector<ByteVector> first_task = {words({10, 20})};
  EXPECT_EQ(result->task_roots.at(0), proof::task_root(first_task));
}

TEST_F(LocalRun, RunsAPartOfTheTasks) {
  const auto result = run(LocalDevice::gpu, TaskSpan{.first = 1, .last = 2});

  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->outputs.at(0).bytes, words({30, 40, 50, 60}));
  EXPECT_EQ(result->task_roots.size(), 2U);
  EXPECT_FALSE(result->job_root.has_value());
}

TEST_F(LocalRun, RefusesTasksThatTheJobDoesNotHave) {
  EXPECT_EQ(run(LocalDevice::gpu, TaskSpan{.first = 1, .last = 3}).error().message,
            "Tasks 1..3 are not a range of the job's 3 tasks (0..2).");
  EXPECT_FALSE(run(LocalDevice::gpu, TaskSpan{.first = 2, .last = 1}).has_value());
}

TEST_F(LocalRun, RunsNoShaderOnTheCpu) {
  EXPECT_EQ(run(LocalDevice::cpu).error().code, ErrorCode::unsupported);
}

TEST_F(LocalRun, NamesTheFileThatIsMissingOrHasAnotherSize) {
  write("job.json", job_text("data/nothing.bin"));
  EXPECT_EQ(run().error().code, ErrorCode::not_found);
  write("data/short.bin", "abc");
  write("job.json", job_text("data/short.bin"));
  EXPECT_EQ(run().error().message,
            "bindings[0] is the file 'data/short.bin' of 3 bytes; its shape needs 24 bytes.");
}

TEST_F(LocalRun, RefusesBlobsAndSaysWhy) {
  std::string text = job_text("x");
  text.replace(text.find(R"("path":"x")"), 10, R"("blob":")" + std::string(64, '0') + "\"");
  write("job.json", text);

  EXPECT_EQ(run().error().message,
            "bindings[0] is a blob, which only a coordinator has; give it as \"path\", \"base64\" "
            "or \"value\".");
}

TEST_F(LocalRun, PassesOnWhereTheManifestIsWrong) {
  write("job.json", "{\"weft\":1,\n \"kind\":2}");

  EXPECT_TRUE(run().error().message.starts_with(
      "kind: must be a string, not a number (line 2, column 9) - while reading "))
      << run().error().message;
}

}  // namespace
}  // namespace weft::cli
