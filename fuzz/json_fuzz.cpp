// Fuzzes strict JSON, which reads every document of strangers: a document is refused with a
// sentence that names its place, or every value of it can be read, and a string is unchanged after
// writing and reading.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/json/json.h"
#include "common/json/quote.h"

using namespace weft;

namespace {

void refused(const Error& error) {
  check(error.code == ErrorCode::invalid_argument && !error.message.empty(), "a refusal says why");
}

void look_at(const json::Value& value, std::size_t depth) {
  check(depth <= json::Limits{}.depth_max, "a document is no deeper than its bound");
  (void)value.path();
  switch (value.kind()) {
    case json::Kind::object: {
      const auto members = value.members();
      if (!members) return refused(members.error());
      for (const auto& [name, member] : *members) look_at(member, depth + 1);
      break;
    }
    case json::Kind::array: {
      const auto items = value.array();
      if (!items) return refused(items.error());
      for (const json::Value& item : *items) look_at(item, depth + 1);
      break;
    }
    case json::Kind::string: {
      const auto text = value.string();
      if (!text) return refused(text.error());
      const std::string written = json::quote(*text);
      const auto again = json::parse(written);
      check(again.has_value(), "a string that is written is JSON");
      const auto read = again->string({.bytes_max = text->size()});
      check(read && *read == *text, "a string comes back");
      break;
    }
    case json::Kind::number: {
      const auto whole = value.integer();
      const auto real = value.number();
      check(!whole || (real && *real == static_cast<double>(*whole)),
            "an integer is a number, and the same one");
      check(value.number_text().has_value(), "a number has a text");
      break;
    }
    case json::Kind::boolean:
      check(value.boolean().has_value(), "true and false can be read");
      break;
    case json::Kind::null:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto root = json::parse(as_text(ByteSpan(data, size)));
  if (!root) {
    refused(root.error());
    return 0;
  }
  look_at(*root, 1);
  return 0;
}
