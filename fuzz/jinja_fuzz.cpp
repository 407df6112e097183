// Fuzzes chat templates: any template gives a text within its bounds, or an error of one sentence.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "engine/jinja/read_json.h"
#include "engine/jinja/template.h"

namespace {

using namespace weft;

constexpr std::string_view variables =
    R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Hi "},
  {"role": "assistant", "content": "<think>x</think>y", "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, 2.5, null]}}}]}],
  "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}}],
  "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>", "a": 1, "b": 2.5, "s": "Hello World", "l": [3, 1, 2],
  "d": {"x": 1, "y": "z", "n": null}, "t": true, "f": false, "nil": null})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto made = jinja::Template::parse(as_text(ByteSpan(data, size)));
  if (!made) {
    check(made.error().message.ends_with('.'), "a refusal is a sentence");
    return 0;
  }
  jinja::Heap heap;
  const auto values = jinja::read_json(heap, variables);
  check(values.has_value(), "the variables are JSON");
  constexpr std::size_t output_bytes_max = 1 << 18;
  const auto text = made->render(*values, {.now = {.year = 2026},
                                           .limits = {.steps_max = 20'000,
                                                      .output_bytes_max = output_bytes_max,
                                                      .memory_bytes_max = std::size_t{1} << 24}});
  check(!text || text->size() <= output_bytes_max, "the text is within its bound");
  return 0;
}
