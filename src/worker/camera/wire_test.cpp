// The records of a line are those of the page's wire.ts, and everything else is refused.
#include "worker/camera/wire.h"

#include <gtest/gtest.h>

#include "common/base/format.h"
#include "worker/camera/test_golden.h"

namespace weft::worker::camera {
namespace {

const std::vector<Record>& one_of_each() {
  static const std::vector<Record> all = {
      Hello(),
      Model{.number = 3, .bytes = 1000, .name = "détecteur.onnx"},
      Part{.of = Part::Of::model, .number = 3, .offset = 7, .bytes = {1, 2, 255}},
      Frame{.number = 9,
            .width = 352,
            .height = 288,
            .placement = {.left = 0.5, .top = -3, .scale_x = 0.275, .scale_y = 2}},
      Part{.of = Part::Of::frame, .number = 9, .offset = 65000, .bytes = {0}},
      Ready{.number = 3, .gpu = true, .device = "llvmpipe"},
      Answer{.number = 9,
             .milliseconds = 12.5,
             .boxes = {{.class_id = 17, .score = 0.75, .sides = {1, 2.5, -3, 400}, .label = "dog"},
                       {.class_id = 0, .score = 1, .sides = {}, .label = ""}}},
      Refusal{.number = 3, .sentence = "It does not fit."}};
  return all;
}

TEST(CameraWire, WritesTheBytesOfThePage) {
  const auto golden = test::golden_texts("records");
  ASSERT_EQ(golden.size(), one_of_each().size());
  for (std::size_t i = 0; i < golden.size(); ++i)
    EXPECT_EQ(to_hex(encode(one_of_each()[i])), golden[i]) << i;
}

TEST(CameraWire, ReadsWhatItWrites) {
  for (const Record& record : one_of_each()) EXPECT_EQ(decode(encode(record)), record);
}

TEST(CameraWire, RefusesRecordsThatAreCutOrLonger) {
  for (const Record& record : one_of_each()) {
    const ByteVector whole = encode(record);
    const bool is_part = std::holds_alternative<Part>(record);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto read = decode(ByteSpan(whole).first(size));
      // A part's bytes reach to the end of its record.
      EXPECT_TRUE(!read || (is_part && size > 9)) << record.index() << " cut to " << size;
    }
    ByteVector longer = whole;
    longer.push_back(0);
    EXPECT_EQ(decode(longer).has_value(), is_part) << record.index();
  }
  EXPECT_FALSE(decode(ByteVector{8, 0, 0, 0, 0})) << "an unknown type";
  EXPECT_FALSE(decode(ByteVector{0, 2})) << "another version";
}

TEST(CameraWire, RefusesValuesOutOfTheirBounds) {
  const Frame frame{.number = 1, .width = 100, .height = 100};
  const auto framed = [&](auto change) {
    Frame changed = frame;
    change(changed);
    return decode(encode(changed)).has_value();
  };
  EXPECT_TRUE(framed([](Frame&) {}));
  EXPECT_FALSE(framed([](Frame& one) { one.width = 0; }));
  EXPECT_FALSE(framed([](Frame& one) { one.height = 4097; }));
  EXPECT_FALSE(framed([](Frame& one) { one.width = one.height = 2400; })) << "17 MiB";
  EXPECT_FALSE(framed([](Frame& one) { one.placement.left = NAN; }));
  EXPECT_FALSE(framed([](Frame& one) { one.placement.scale_x = INFINITY; }));
  EXPECT_FALSE(framed([](Frame& one) { one.placement.scale_y = 0; }));

  EXPECT_FALSE(decode(encode(Model{.number = 1, .bytes = 0, .name = "m"})));
  EXPECT_FALSE(decode(encode(Model{.number = 1, .bytes = model_bytes_max + 1, .name = "m"})));
  EXPECT_TRUE(decode(encode(Model{.number = 1, .bytes = model_bytes_max, .name = "m"})));
  EXPECT_FALSE(decode(encode(Part{.bytes = {}})));
  EXPECT_TRUE(decode(encode(Part{.bytes = ByteVector(chunk_bytes_max)})));
  EXPECT_FALSE(decode(encode(Part{.bytes = ByteVector(chunk_bytes_max + 1)})));
  EXPECT_FALSE(decode(encode(Answer{.milliseconds = -1})));
  EXPECT_FALSE(decode(encode(Answer{.boxes = {{.score = 1.5}}})));
  EXPECT_FALSE(decode(encode(Answer{.boxes = {{.sides = {0, 0, 2e6, 0}}}})));
}

TEST(CameraWire, CutsTextsAndListsToTheirBounds) {
  std::string name;
  for (int i = 0; i < 100; ++i) name += "é";
  const auto ready = decode(encode(Ready{.device = name}));
  ASSERT_TRUE(ready);
  EXPECT_EQ(std::get<Ready>(*ready).device.size(), name_bytes_max);

  const auto answer = decode(encode(Answer{.boxes = std::vector<Box>(1500)}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<Answer>(*answer).boxes.size(), boxes_max);
  EXPECT_LE(encode(Answer{.boxes = std::vector<Box>(boxes_max,
                                                    {.label = std::string(label_bytes_max, 'x')})})
                .size(),
            record_bytes_max - 16);
}

TEST(CameraWire, ReplacesInvisibleCharacters) {
  const auto read = [](const std::string& text) {
    const auto record = decode(encode(Model{.bytes = 1, .name = text}));
    return record ? std::get<Model>(*record).name : "refused";
  };
  EXPECT_EQ(read("a\nb\x1b[2Jc\x7f"), "a b [2Jc ");
  EXPECT_EQ(read("a\u202eb\u2028c\u200bd\u0085"), "a b c d ");
  EXPECT_EQ(read("día 日本"), "día 日本");
  EXPECT_EQ(read("\xff"), "refused");
}

TEST(CameraAssembly, TakesPartsInOrderOnly) {
  using Taken = Assembly::Taken;
  Assembly assembly(4, 5);
  EXPECT_EQ(assembly.take({.number = 4, .offset = 0, .bytes = {1, 2}}), Taken::more);
  EXPECT_EQ(assembly.take({.number = 4, .offset = 0, .bytes = {1, 2}}), Taken::refused);
  EXPECT_EQ(assembly.take({.number = 4, .offset = 3, .bytes = {1}}), Taken::refused);
  EXPECT_EQ(assembly.take({.number = 5, .offset = 2, .bytes = {1}}), Taken::refused);
  EXPECT_EQ(assembly.take({.number = 4, .offset = 2, .bytes = {1, 2, 3, 4}}), Taken::refused);
  EXPECT_EQ(assembly.take({.number = 4, .offset = 2, .bytes = {3, 4, 5}}), Taken::whole);
  EXPECT_EQ(assembly.whole(), (ByteVector{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace weft::worker::camera
