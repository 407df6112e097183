// Tests that a valid file is read exactly, and that each broken file gives one exact message.
#include "engine/gguf/file.h"

#include <gtest/gtest.h>

#include "common/base/test_data.h"
#include "engine/gguf/mapped_file.h"
#include "engine/gguf/test_builder.h"

namespace weft::gguf {
namespace {

using test::Builder;

Result<File> read(const std::string& bytes, const Limits& limits = {}) {
  return read_file(MemorySource(as_bytes(bytes)), limits);
}

std::string error_of(const std::string& bytes, const Limits& limits = {}) {
  const auto file = read(bytes, limits);
  if (file) return "(no error)";
  EXPECT_EQ(file.error().code, ErrorCode::invalid_argument);
  return file.error().message;
}

TEST(GgufFile, EveryMetadataTypeIsRead) {
  const std::string bytes = Builder()
                                .scalar<std::uint8_t>("a", ValueType::uint8, 250)
                                .scalar<std::int8_t>("b", ValueType::int8, -5)
                                .scalar<std::uint16_t>("c", ValueType::uint16, 65000)
                                .scalar<std::int16_t>("d", ValueType::int16, -300)
                                .uint32("e", 4000000000u)
                                .scalar<std::int32_t>("f", ValueType::int32, -70000)
                                .scalar<float>("g", ValueType::float32, 1.5f)
                                .scalar<std::uint8_t>("h", ValueType::boolean, 1)
                                .text("i", "Zürich")
                                .array<std::int32_t>("j", ValueType::int32, {1, -2, 3})
                                .scalar<std::uint64_t>("k", ValueType::uint64, ~std::uint64_t{0})
                                .scalar<std::int64_t>("l", ValueType::int64, -1)
                                .scalar<double>("m", ValueType::float64, 0.1)
                                .texts("n", {"x", "", "yz"})
                                .bytes();

  const File file = read(bytes).value();

  const Metadata& data = file.metadata;
  EXPECT_EQ(data.entries().size(), 14u);
  EXPECT_EQ(data.integer("a").value(), 250);
  EXPECT_EQ(data.integer("b").value(), -5);
  EXPECT_EQ(data.integer("c").value(), 65000);
  EXPECT_EQ(data.integer("d").value(), -300);
  EXPECT_EQ(data.unsigned_integer("e").value(), 4000000000u);
  EXPECT_EQ(data.integer("f").value(), -70000);
  EXPECT_EQ(data.number("g").value(), 1.5);
  EXPECT_EQ(data.boolean("h").value(), true);
  EXPECT_EQ(data.string("i").value(), "Zürich");
  EXPECT_EQ(data.array("j").value()->integer(1), -2);
  EXPECT_EQ(data.unsigned_integer("k").value(), ~std::uint64_t{0});
  EXPECT_EQ(data.integer("l").value(), -1);
  EXPECT_EQ(data.number("m").value(), 0.1);
  const StringList& strings = data.array("n", ValueType::string).value()->strings;
  ASSERT_EQ(strings.size(), 3u);
  EXPECT_EQ(strings[0], "x");
  EXPECT_EQ(strings[1], "");
  EXPECT_EQ(strings[2], "yz");
  EXPECT_EQ(file.data_offset, bytes.size());
}

TEST(GgufFile, GettersSayWhatIsWrong) {
  const File file = read(Builder()
                             .text("s", "t")
                             .scalar<std::int8_t>("n", ValueType::int8, -1)
                             .uint32("u", 9)
                             .bytes())
                        .value();

  EXPECT_EQ(file.metadata.string("x").error(),
            (Error{ErrorCode::not_found, "The metadata has no 'x'."}));
  EXPECT_EQ(file.metadata.integer("s").error().message,
            "The metadata 's' is of type string, not an integer.");
  EXPECT_EQ(file.metadata.unsigned_integer("n").error().message,
            "The metadata 'n' (-1) is negative.");
  EXPECT_EQ(file.metadata.unsigned_integer("u", 8).error().message,
            "The metadata 'u' (9) is greater than 8.");
  EXPECT_EQ(file.metadata.boolean_or("s", true).error().message,
            "The metadata 's' is of type string, not bool.");
  EXPECT_EQ(file.metadata.boolean_or("x", true).value(), true);
}

TEST(GgufFile, ArraysMayHoldArrays) {
  std::string bytes;
  test::put<std::uint32_t>(bytes, 9);
  test::put<std::uint64_t>(bytes, 2);
  for (std::uint8_t i = 0; i < 2; ++i) {
    test::put<std::uint32_t>(bytes, 0);
    test::put<std::uint64_t>(bytes, 1);
    test::put<std::uint8_t>(bytes, i);
  }

  const File file = read(Builder().raw("a", 9, bytes).bytes()).value();

  const Array* outer = file.metadata.array("a", ValueType::array).value();
  ASSERT_EQ(outer->arrays.size(), 2u);
  EXPECT_EQ(outer->arrays[1].integer(0), 1);
}

TEST(GgufFile, TensorsLieWhereTheFileSays) {
  Builder builder;
  builder.version = 2;
  builder.alignment = 64;
  builder.uint32("general.alignment", 64)
      .tensor("b", {32, 3}, TensorType::q8_0, 64)
      .tensor("a", {5}, TensorType::f32, 0);

  const File file = read(builder.bytes(64 + 3 * 34)).value();

  EXPECT_EQ(file.version, 2u);
  EXPECT_EQ(file.data_offset % 64, 0u);
  const Tensor* tensor = file.find_tensor("b");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->offset, file.data_offset + 64);
  EXPECT_EQ(tensor->bytes, 3u * 34);
  EXPECT_EQ(tensor->rows(), 3u);
  EXPECT_EQ(tensor->row_bytes(), 34u);
  EXPECT_EQ(file.find_tensor("c"), nullptr);
}

struct BrokenCase {
  std::string name;
  std::string bytes;
  std::string message;
};
void PrintTo(const BrokenCase& row, std::ostream* out) { *out << row.name; }

std::string strings_of(std::uint64_t count, std::string_view bytes) {
  std::string out;
  test::put<std::uint32_t>(out, 8);
  test::put(out, count);
  return out.append(bytes);
}
std::string nested(int depth) {
  std::string out;
  for (int i = 0; i < depth; ++i) {
    test::put<std::uint32_t>(out, i + 1 < depth ? 9 : 0);
    test::put<std::uint64_t>(out, i + 1 < depth ? 1 : 0);
  }
  return out;
}
std::string with_front(std::uint32_t version, std::uint64_t tensors, std::uint64_t entries) {
  std::string out = "GGUF";
  test::put(out, version);
  test::put(out, tensors);
  test::put(out, entries);
  return out;
}
std::string with_length(std::uint64_t length) {
  std::string out;
  test::put(out, length);
  return out;
}
constexpr auto f32 = TensorType::f32;

const std::vector<BrokenCase> broken_cases = {
    {"Empty", "", "The file ends (at byte 0) inside the magic number, which needs 4 bytes at 0."},
    {"OtherMagic", "GGML1234", "The file begins with 0x47474d4c, not with 'GGUF'."},
    {"VersionMissing", "GGUF\x03",
     "The file ends (at byte 5) inside the version, which needs 4 bytes at 4."},
    {"Version1", with_front(1, 0, 0), "The file is GGUF version 1; versions 2 and 3 are read."},
    {"BigEndian", with_front(0x03000000, 0, 0),
     "The file is big-endian GGUF version 3; only little-endian files are read."},
    {"AbsurdTensors", with_front(3, ~0ull, 0),
     "The file announces 18446744073709551615 tensors; at most 131072 are read."},
    {"ManyTensors", with_front(3, 1000, 0),
     "The file announces 1000 tensors, more than its 24 bytes can hold."},
    {"AbsurdEntries", with_front(3, 0, 1ull << 40),
     "The file announces 1099511627776 metadata entries; at most 65536 are read."},
    {"ManyEntries", with_front(3, 0, 65536),
     "The file announces 65536 metadata entries, more than its 24 bytes can hold."},
    {"EntryCut", Builder().raw("key", 4, "\x01\x02").bytes(),
     "The file ends (at byte 41) inside the metadata 'key', which needs 4 bytes at 39."},
    {"KeyEmpty", Builder().uint32("", 1).bytes(), "The key of metadata entry 0 is empty."},
    {"KeyNotUtf8", Builder().uint32("a\xff", 1).bytes(),
     "A string in metadata entry 0 is not UTF-8 (byte 1 of 2)."},
    {"KeyTwice", Builder().uint32("a", 1).uint32("a", 1).bytes(), "The metadata 'a' occurs twice."},
    {"TypeUnknown", Builder().raw("a", 13, "12345678").bytes(),
     "The type of the metadata 'a' is 13; it must be from 0 to 12."},
    {"BoolTwo", Builder().raw("a", 7, "\x02").bytes(),
     "The bool in the metadata 'a' is 2, neither 0 nor 1."},
    {"BoolTwoInArray", Builder().array<std::uint8_t>("a", ValueType::boolean, {1, 0, 3}).bytes(),
     "The bool in the metadata 'a' is 3, neither 0 nor 1."},
    {"StringAbsurd", Builder().raw("a", 8, with_length(~0ull)).bytes(),
     "A string in the metadata 'a' has 18446744073709551615 bytes, more than the 0 that follow."},
    {"StringNotUtf8", Builder().text("a", "ok\xed\xa0\x80").bytes(),
     "A string in the metadata 'a' is not UTF-8 (byte 2 of 5)."},
    {"ArrayTypeUnknown",
     Builder().raw("a", 9, std::string("\x0d\0\0\0\0\0\0\0\0\0\0\0", 12)).bytes(),
     "The type of the metadata 'a' is 13; it must be from 0 to 12."},
    {"ArrayAbsurd", Builder().raw("a", 9, strings_of(1ull << 60, "")).bytes(),
     "The array in the metadata 'a' has 1152921504606846976 elements of type string, more than the "
     "0 bytes that follow can hold."},
    {"ArrayStringAbsurd", Builder().raw("a", 9, strings_of(1, with_length(99))).bytes(),
     "A string in the metadata 'a' has 99 bytes, more than the 0 that follow."},
    {"ArrayStringNotUtf8", Builder().texts("a", {"ok", "\xff"}).bytes(),
     "String 1 of the metadata 'a' is not UTF-8."},
    {"ArraysTooDeep", Builder().raw("a", 9, nested(5)).bytes(),
     "The arrays in the metadata 'a' nest deeper than 4 levels."},
    {"AlignmentType", Builder().text("general.alignment", "32").bytes(),
     "The metadata 'general.alignment' is of type string, not uint32."},
    {"AlignmentThree", Builder().uint32("general.alignment", 3).bytes(),
     "The alignment (3) is not a power of two."},
    {"AlignmentZero", Builder().uint32("general.alignment", 0).bytes(),
     "The alignment (0) is not a power of two."},
    {"TensorCut", Builder().tensor("t", {4}, f32, 0).bytes().substr(0, 50),
     "The file ends (at byte 50) inside the tensor 't', which needs 8 bytes at 49."},
    {"TensorNameLong", Builder().tensor(std::string(65, 'x'), {4}, f32, 0).bytes(16),
     "A string in the name of tensor 0 has 65 bytes; at most 64 are read."},
    {"TensorNameNotUtf8", Builder().tensor("\x80", {4}, f32, 0).bytes(16),
     "A string in the name of tensor 0 is not UTF-8 (byte 0 of 1)."},
    {"TensorTwice", Builder().tensor("t", {4}, f32, 0).tensor("t", {4}, f32, 32).bytes(64),
     "The tensor 't' occurs twice."},
    {"FiveDimensions", Builder().tensor("t", {1, 1, 1, 1, 1}, f32, 0).bytes(16),
     "The tensor 't' has 5 dimensions; there are at most 4."},
    {"DimensionZero", Builder().tensor("t", {4, 0}, f32, 0).bytes(16),
     "Dimension 1 of the tensor 't' is 0."},
    {"DimensionsOverflow", Builder().tensor("t", {1ull << 32, 1ull << 31}, f32, 0).bytes(16),
     "The dimensions of the tensor 't' multiply to more than 2^63."},
    {"BytesOverflow", Builder().tensor("t", {(1ull << 62) + 1}, f32, 0).bytes(16),
     "The tensor 't' has more than 2^64 bytes."},
    {"FormatUnknown", Builder().tensor("t", {4}, 4u, 0).bytes(16),
     "The tensor 't' has type 4, which is not a format of ggml."},
    {"RowNotBlocks", Builder().tensor("t", {33}, TensorType::q4_0, 0).bytes(64),
     "Rows of the tensor 't' have 33 elements, not a multiple of 32 as Q4_0 needs."},
    {"TensorMisaligned", Builder().tensor("t", {4}, f32, 8).bytes(64),
     "The offset (8) of the tensor 't' is not a multiple of the alignment (32)."},
    {"TensorPastTheEnd", Builder().tensor("t", {4}, f32, 32).bytes(40),
     "The tensor 't' (16 bytes at 32) lies past the end of the data (40 bytes); the file is "
     "incomplete."},
    {"TensorFarPastTheEnd", Builder().tensor("t", {4}, f32, ~31ull).bytes(40),
     "The tensor 't' (16 bytes at 18446744073709551584) lies past the end of the data (40 bytes); "
     "the file is incomplete."},
    {"TensorWithoutData", Builder().tensor("t", {4}, f32, 0).bytes(),
     "The tensor 't' (16 bytes at 0) lies past the end of the data (0 bytes); the file is "
     "incomplete."},
    {"TensorsOverlap", Builder().tensor("a", {16}, f32, 0).tensor("b", {4}, f32, 32).bytes(64),
     "The tensors 'a' and 'b' overlap."},
};

class BrokenFile : public testing::TestWithParam<BrokenCase> {};
TEST_P(BrokenFile, GetsOneSentence) { EXPECT_EQ(error_of(GetParam().bytes), GetParam().message); }
INSTANTIATE_TEST_SUITE_P(Gguf, BrokenFile, testing::ValuesIn(broken_cases),
                         [](const auto& row) { return row.param.name; });

TEST(GgufFile, BoundsAreOptions) {
  const std::string bytes = Builder().raw("a", 9, nested(3)).bytes();

  EXPECT_TRUE(read(bytes));
  EXPECT_EQ(error_of(bytes, {.array_depth_max = 2}),
            "The arrays in the metadata 'a' nest deeper than 2 levels.");
  EXPECT_EQ(error_of(bytes, {.nested_arrays_max = 1}),
            "The file has more than 1 nested arrays (Limits::nested_arrays_max), counted up to the "
            "metadata 'a'.");
  EXPECT_EQ(error_of(Builder().bytes(), {.header_bytes_max = 20}),
            "The header is longer than 20 bytes (Limits::header_bytes_max).");
}

// A source without memory views, as in the browser, that records the largest request.
class RangeSource final : public Source {
 public:
  explicit RangeSource(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t bytes() const override { return bytes_.size(); }
  Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    largest = std::max(largest, out.size());
    return MemorySource(as_bytes(bytes_)).read(offset, out);
  }
  std::optional<ByteSpan> view(std::uint64_t, std::uint64_t) const override { return std::nullopt; }
  mutable std::size_t largest = 0;

 private:
  std::string bytes_;
};

TEST(GgufFile, ReadsTheSameThroughRanges) {
  const auto path = weft::test::find_data("models/tiny-qwen2-short-q4_k_m.gguf");
  ASSERT_TRUE(path);
  const auto mapped = MappedFile::open(path->string()).value();
  const RangeSource ranges(weft::test::read_bytes(*path));

  const File a = read_file(*mapped).value();
  const File b = read_file(ranges).value();

  EXPECT_LE(ranges.largest, 1u << 18);
  EXPECT_EQ(a.metadata.string("general.architecture").value(), "qwen2");
  EXPECT_EQ(a.metadata.array("tokenizer.ggml.tokens").value()->count, 3072u);
  EXPECT_EQ(a.metadata.entries().size(), b.metadata.entries().size());
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
    EXPECT_EQ(a.tensors[i].offset, b.tensors[i].offset);
    end = std::max(end, a.tensors[i].offset + a.tensors[i].bytes);
  }
  EXPECT_EQ(end, a.file_bytes);
}

TEST(MappedFile, SaysWhatCannotBeOpened) {
  EXPECT_EQ(MappedFile::open("/no/such/file").error(),
            (Error{ErrorCode::not_found,
                   "The file '/no/such/file' cannot be opened: No such file or directory."}));
  EXPECT_EQ(MappedFile::open("/").error().message, "'/' is not a regular file.");
}

}  // namespace
}  // namespace weft::gguf
