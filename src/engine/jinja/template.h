// A Jinja template as chat models use it. It gives the text of Python's jinja2 with the settings of
// the transformers library (sandboxed and immutable, trim_blocks, lstrip_blocks, loop controls,
// tojson, raise_exception, strftime_now).
//
//   WEFT_ASSIGN(const Template chat, Template::parse(source));
//   Heap heap;
//   WEFT_ASSIGN(const Value variables,
//               read_json(heap, R"({"messages": [...], "add_generation_prompt": true})"));
//   WEFT_ASSIGN(std::string text, chat.render(variables, {.now = WallTime::local_now()}));
//
// Threading: a Template is const, and several threads may render it at once. A Heap belongs to one
// thread. Not supported: inheritance, imports, includes and blocks, and the filters pprint, random,
// urlize, wordwrap and xmlattr.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "engine/jinja/clock.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

struct Ast;

struct RenderLimits {
  std::uint64_t steps_max = 20'000'000;                  // The most nodes that a rendering runs.
  std::size_t output_bytes_max = std::size_t{64} << 20;  // The longest output.
  // Size of all values that a rendering makes.
  std::size_t memory_bytes_max = std::size_t{256} << 20;
  int depth_max = 500;  // Nested nodes, also through macros; each takes about 1 KB of stack.
};

struct RenderOptions {
  WallTime now;
  RenderLimits limits = {};
};

class Template {
 public:
  // If the template is not valid, fails with invalid_argument and the line of the mistake.
  [[nodiscard]] static Result<Template> parse(std::string_view source);
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  // `variables` must be a dict. Fails with permission_denied and the template's own message if the
  // template calls raise_exception, with resource_exhausted at a bound, and with invalid_argument
  // and the line for any other mistake.
  [[nodiscard]] Result<std::string> render(const Value& variables,
                                           const RenderOptions& options) const;

 private:
  explicit Template(std::unique_ptr<const Ast> ast);
  std::unique_ptr<const Ast> ast_;
};

}  // namespace weft::jinja
