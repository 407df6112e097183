#include "engine/jinja/template.h"

#include "common/base/check.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/parser.h"

namespace weft::jinja {

Template::Template(std::unique_ptr<const Ast> ast) : ast_(std::move(ast)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Result<Template> Template::parse(std::string_view source) {
  WEFT_ASSIGN(auto ast, jinja::parse(source));
  return Template(std::move(ast));
}

Result<std::string> Template::render(const Value& variables, const RenderOptions& options) const {
  check(variables.is(Kind::dict), "a template's variables are a dict");
  return Interpreter(*ast_, variables, options).run();
}

}  // namespace weft::jinja
