// No pipeline is compiled twice, failed compilations may be tried again, and the cache has a bound.
#include "engine/gpu/pipeline_cache.h"

#include <gtest/gtest.h>

#include "engine/gpu/null/instance.h"

namespace weft::gpu {
namespace {

class PipelineCacheTest : public testing::Test {
 protected:
  std::unique_ptr<null::NullInstance> instance_ = null::create_instance();
  std::unique_ptr<Device> device_ = run(*instance_, instance_->create_device({})).value();

  std::size_t compilations() const {
    return instance_->count(null::Command::Kind::create_pipeline);
  }
};

const PipelineOptions base = {.wgsl = "fn main() {}",
                              .label = "base",
                              .groups = {{{0, BindingKind::storage}}},
                              .constants = {{"n", 1}}};

TEST_F(PipelineCacheTest, CompilesWhatDiffersAndNothingElse) {
  PipelineCache cache(*device_);
  const auto first = run(*instance_, cache.get(base)).value();
  std::vector<PipelineOptions> different(6, base);
  different[0].wgsl += " ";
  different[1].entry = "other";
  different[2].constants["n"] = 2;
  different[3].groups[0][0].kind = BindingKind::uniform;
  different[4].groups.emplace_back();
  different[5].immediate_bytes = 4;
  PipelineOptions relabelled = base;
  relabelled.label = "another name";

  EXPECT_EQ(run(*instance_, cache.get(relabelled)).value(), first);
  EXPECT_EQ(compilations(), 1);
  for (const PipelineOptions& options : different)
    EXPECT_NE(run(*instance_, cache.get(options)).value(), first);
  EXPECT_EQ(compilations(), 7);
}

TEST_F(PipelineCacheTest, RequestsMadeMeanwhileShareOneCompilation) {
  PipelineCache cache(*device_);
  std::vector<Handle> handles;
  for (int i = 0; i < 3; ++i) {
    start<Result<std::shared_ptr<const Pipeline>>>(
        cache.get(base), [&](const auto& made) { handles.push_back(made.value()->handle()); });
  }

  while (instance_->poll({})) continue;

  ASSERT_EQ(handles.size(), 3);
  EXPECT_EQ(handles[0], handles[2]);
  EXPECT_EQ(compilations(), 1);
}

TEST_F(PipelineCacheTest, AFailureReachesAllWhoAskedAndIsForgotten) {
  PipelineCache cache(*device_);
  instance_->failures().compile = CompileMessage{CompileMessage::Kind::error, 1, 1, "no"};
  int refused = 0;
  for (int i = 0; i < 2; ++i) {
    start<Result<std::shared_ptr<const Pipeline>>>(
        cache.get(base), [&](const auto& made) { refused += made.has_value() ? 0 : 1; });
  }
  while (instance_->poll({})) continue;
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(cache.size(), 0);

  instance_->failures().compile.reset();
  EXPECT_TRUE(run(*instance_, cache.get(base)).has_value());
}

TEST_F(PipelineCacheTest, DropsTheLongestUnusedAtItsBound) {
  PipelineCache cache(*device_, {.pipelines_max = 2});
  PipelineOptions second = base;
  second.entry = "second";
  PipelineOptions third = base;
  third.entry = "third";
  (void)run(*instance_, cache.get(base));
  (void)run(*instance_, cache.get(second));
  (void)run(*instance_, cache.get(base));

  (void)run(*instance_, cache.get(third));

  EXPECT_EQ(cache.size(), 2);
  EXPECT_EQ(compilations(), 3);
  (void)run(*instance_, cache.get(base));
  EXPECT_EQ(compilations(), 3) << "what was used last is still there";
  (void)run(*instance_, cache.get(second));
  EXPECT_EQ(compilations(), 4);
}

}  // namespace
}  // namespace weft::gpu
