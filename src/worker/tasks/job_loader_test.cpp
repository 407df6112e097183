// A job is loaded with all its bytes or not at all, and an error names the part that does not fit.
#include "worker/tasks/job_loader.h"

#include <gtest/gtest.h>

#include "worker/tasks/test_fakes.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  FakeHost host;
  BlobStore blobs{host, {}};
  JobLoader loader{host, blobs, {.bytes_max = 1000}};
  std::vector<Result<std::shared_ptr<const exec::Job>>> answers;

  Hash add(std::string_view text) { return host.add_blob({text.begin(), text.end()}); }
  const Result<std::shared_ptr<const exec::Job>>& load(const Hash& manifest) {
    loader.load(manifest, [this](Result<std::shared_ptr<const exec::Job>> answer) {
      answers.push_back(std::move(answer));
    });
    host.run_for(60s);
    return answers.back();
  }
  // A job with `words` words of data.
  Hash add_wgsl(const Hash& shader, const Hash& data, int words = 2) {
    return add(
        R"({"weft":1,"kind":"wgsl","name":"t","shader":{"blob":")" + shader.text() +
        R"("},"entry":"main","bindings":[{"binding":0,"role":"output","type":"u32","shape":[8],"split_dim":0},{"binding":1,"role":"input","type":"u32","shape":[)" +
        std::to_string(words) + R"(],"blob":")" + data.text() +
        R"("}],"dispatch":[8],"split":{"tasks":8,"axis":"x"}})");
  }
};

TEST(JobLoader, BringsShaderAndDataTogether) {
  Fixture f;
  const auto& job =
      f.load(f.add_wgsl(f.add("fn main() {}"), f.host.add_blob({1, 2, 3, 4, 5, 6, 7, 8})));

  ASSERT_TRUE(job.has_value()) << job.error().message;
  EXPECT_EQ((*job)->shader, "fn main() {}");
  ASSERT_EQ((*job)->data.size(), 2U);
  EXPECT_TRUE((*job)->data[0].empty());
  EXPECT_EQ((*job)->data[1], (ByteVector{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(JobLoader, BringsAKernelsOperandsTogether) {
  Fixture f;
  const Hash a = f.host.add_blob({1, 2, 3, 4});
  const auto& job = f.load(f.add(
      R"({"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"k","m":2,"n":1,"k":2,"a":{"blob":")" +
      a.text() + R"("},"b":{"base64":"AQI="}})"));

  ASSERT_TRUE(job.has_value()) << job.error().message;
  EXPECT_EQ((*job)->data, (std::vector<ByteVector>{{1, 2, 3, 4}, {1, 2}}));
}

TEST(JobLoader, KeepsTheLastFewJobs) {
  Fixture f;
  const Hash data = f.host.add_blob(ByteVector(8));
  const Hash manifest = f.add_wgsl(f.add("x"), data);
  const auto first = f.load(manifest).value();

  EXPECT_EQ(f.load(manifest).value(), first);
}

TEST(JobLoader, NamesWhatIsWrong) {
  Fixture f;
  const Hash shader = f.add("x");
  EXPECT_EQ(f.load(f.add("{}")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(f.load(f.add_wgsl(shader, f.host.add_blob(ByteVector(7)))).error().message,
            "bindings[1] has 7 bytes; its shape says 8.");
  EXPECT_EQ(f.load(f.add_wgsl(shader, Hash{})).error().code, ErrorCode::not_found);
  EXPECT_EQ(f.load(f.add_wgsl(Hash{}, f.host.add_blob(ByteVector(8)))).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(f.load(Hash{}).error().code, ErrorCode::not_found);
  const auto& file = f.load(f.add(
      R"({"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"k","m":1,"n":1,"k":1,"a":{"path":"/etc/passwd"},"b":{"base64":"AQ=="}})"));
  EXPECT_EQ(file.error().message, "A leased job cannot name a file for its data.");
}

// M-6: a manifest that states too much, or a blob longer than its manifest states, took the memory
// of the worker.
TEST(JobLoader, FetchesNoDataOfAJobThatStatesMoreThanItsBound) {
  Fixture f;
  const Hash data = f.host.add_blob(ByteVector(1004));
  const auto& job = f.load(f.add_wgsl(f.add("x"), data, 251));

  EXPECT_EQ(job.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(job.error().message,
            "The job's data have more than 1000 bytes, the most that this worker takes.");
  EXPECT_EQ(f.host.fetches[data], 0);

  const Hash fits = f.host.add_blob(ByteVector(1000));
  EXPECT_TRUE(f.load(f.add_wgsl(f.add("x"), fits, 250)).has_value());

  JobLoader unbounded{f.host, f.blobs, {.bytes_max = ~std::uint64_t{0}}};
  unbounded.load(f.add_wgsl(f.add("x"), data, 251), [](const auto&) {});
  f.host.run_for(60s);
  EXPECT_EQ(f.host.fetches[data], 1) << "the attack";
}

TEST(JobLoader, FetchesNoMoreThanAManifestStates) {
  Fixture f;
  const Hash data = f.host.add_blob(ByteVector(900));
  const Hash shader = f.add("x");
  const auto& job = f.load(f.add_wgsl(shader, data));

  EXPECT_EQ(job.error().message,
            "bindings[1]: The blob " + data.text() + " has more than 8 bytes.");
  EXPECT_EQ(f.host.bytes_asked[data], 8U);
  EXPECT_EQ(f.host.bytes_asked[shader], manifest::Limits{}.shader_bytes_max);
}

// The sum of the lengths is over 2^64.
TEST(JobLoader, AddsLengthsWithoutWrapping) {
  Fixture f;
  const Hash a = f.host.add_blob({1, 2});
  const auto& job = f.load(f.add(
      R"({"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"k","m":4,"n":4294967292,"k":4294967292,"a":{"blob":")" +
      a.text() + R"("},"b":{"blob":")" + a.text() + R"("}})"));
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(f.host.fetches[a], 0) << job.error().message;
}

TEST(JobLoader, KeepsJobsWithinItsBoundOfBytes) {
  Fixture f;
  const Hash shader = f.add("x");
  const Hash one = f.add_wgsl(shader, f.host.add_blob(ByteVector(600, 1)), 150);
  const Hash other = f.add_wgsl(shader, f.host.add_blob(ByteVector(600, 2)), 150);
  const auto first = f.load(one).value();
  const auto second = f.load(other).value();

  // Loaded again, because both jobs together exceed the bound.
  EXPECT_NE(f.load(one).value(), first);
  EXPECT_NE(f.load(other).value(), second);
}

}  // namespace
}  // namespace weft::worker
