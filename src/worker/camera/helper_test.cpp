// A helper does one work at a time, answers for the latest model only, and refuses a camera that
// sends more than it holds.
#include "worker/camera/helper.h"

#include <gtest/gtest.h>

namespace weft::worker::camera {
namespace {

constexpr Frame small{.number = 5, .width = 2, .height = 1};

void hear(Helper& helper, Record record) {
  const auto heard = helper.hear(std::move(record));
  ASSERT_TRUE(heard) << heard.error().message;
}
void give_model(Helper& helper, std::uint32_t number) {
  hear(helper, Model{.number = number, .bytes = 4, .name = "m.onnx"});
  hear(helper, Part{.number = number, .offset = 0, .bytes = {1, 2}});
  hear(helper, Part{.number = number, .offset = 2, .bytes = {3, 4}});
}
void give_frame(Helper& helper, std::uint32_t number) {
  Frame frame = small;
  frame.number = number;
  hear(helper, frame);
  hear(helper, Part{.of = Part::Of::frame, .number = number, .bytes = {1, 2, 3, 4, 5, 6}});
}
Helper with_model() {
  Helper helper;
  give_model(helper, 1);
  EXPECT_TRUE(helper.next());
  EXPECT_TRUE(helper.opened({.width = 2, .height = 1}));
  return helper;
}

TEST(CameraHelper, OpensAModelAndFindsBoxes) {
  Helper helper;
  give_model(helper, 1);
  const auto open = helper.next();
  ASSERT_TRUE(open);
  EXPECT_EQ(std::get<Helper::OpenModel>(*open).file, (ByteVector{1, 2, 3, 4}));
  EXPECT_FALSE(helper.next()) << "one work at a time";
  EXPECT_EQ(*helper.opened({.width = 2, .height = 1, .gpu = true, .device = "G"}),
            Record(Ready{.number = 1, .gpu = true, .device = "G"}));

  give_frame(helper, 5);
  const auto find = helper.next();
  ASSERT_TRUE(find);
  EXPECT_EQ(std::get<Helper::FindBoxes>(*find).levels.size(), 6U);
  give_frame(helper, 6);
  EXPECT_FALSE(helper.next());
  EXPECT_EQ(*helper.found(1.5F, {}), Record(Answer{.number = 5, .milliseconds = 1.5F}));
  EXPECT_TRUE(helper.next()) << "the frame that waited";
  EXPECT_EQ(helper.frames(), 1U);
}

TEST(CameraHelper, RefusesFramesThatComeTooEarly) {
  Helper none;
  EXPECT_FALSE(none.hear(small)) << "no model";
  Helper helper = with_model();
  EXPECT_FALSE(Helper(helper).hear(Frame{.number = 1, .width = 3, .height = 1})) << "another size";
  give_frame(helper, 5);
  EXPECT_FALSE(Helper(helper).hear(small)) << "one waits";
  EXPECT_TRUE(helper.next());
  hear(helper, small);
  EXPECT_FALSE(helper.hear(small)) << "one arrives";
}

TEST(CameraHelper, RefusesWhatDoesNotBelong) {
  Helper helper = with_model();
  EXPECT_FALSE(Helper(helper).hear(Hello()));
  EXPECT_FALSE(Helper(helper).hear(Answer()));
  EXPECT_FALSE(Helper(helper).hear(Part{.number = 1, .bytes = {1}}));
  EXPECT_FALSE(Helper(helper).hear(Part{.of = Part::Of::frame, .bytes = {1}}));
  hear(helper, Model{.number = 2, .bytes = 4, .name = "m"});
  EXPECT_FALSE(Helper(helper).hear(Model{.number = 3, .bytes = 4, .name = "m"})) << "one arrives";
  EXPECT_FALSE(Helper(helper).hear(small)) << "its model is not open";
  EXPECT_FALSE(helper.hear(Part{.number = 2, .bytes = {1, 2, 3, 4, 5}})) << "too long";
}

TEST(CameraHelper, DropsBoxesOfThePreviousModel) {
  Helper helper = with_model();
  give_frame(helper, 5);
  ASSERT_TRUE(helper.next());
  give_model(helper, 2);

  EXPECT_FALSE(helper.found(1, {}));

  EXPECT_EQ(helper.frames(), 0U);
  const auto open = helper.next();
  ASSERT_TRUE(open);
  EXPECT_EQ(std::get<Helper::OpenModel>(*open).number, 2U);
}

TEST(CameraHelper, RefusesInOneSentence) {
  Helper helper;
  give_model(helper, 7);
  ASSERT_TRUE(helper.next());
  EXPECT_EQ(*helper.failed("It is no model."),
            Record(Refusal{.number = 7, .sentence = "It is no model."}));
  EXPECT_FALSE(helper.failed("again"));
}

TEST(CameraHelper, TellsWhatHasArrived) {
  Helper helper;
  EXPECT_FALSE(helper.arriving());
  hear(helper, Model{.number = 1, .bytes = 4, .name = "m"});
  hear(helper, Part{.number = 1, .bytes = {1}});
  EXPECT_EQ(helper.arriving()->bytes, 1U);
  EXPECT_EQ(helper.arriving()->bytes_all, 4U);
}

}  // namespace
}  // namespace weft::worker::camera
