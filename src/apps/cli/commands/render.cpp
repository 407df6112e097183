#include "apps/cli/commands/render.h"

#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/model_file.h"
#include "engine/chat/chat_template.h"

namespace weft::cli {
namespace {

Result<chat::ChatTemplate> template_of(const RenderOptions& options) {
  if (!options.model && !options.template_file)
    return fail(ErrorCode::invalid_argument, "Give --model or --template.");
  std::string source;
  if (options.template_file) {
    WEFT_ASSIGN(source, read_input(*options.template_file));
    if (!options.model) return chat::ChatTemplate::parse(source);
  }
  WEFT_ASSIGN(const ModelFile model, open_model(*options.model));
  WEFT_ASSIGN(const auto vocabulary, tokenizer::Vocabulary::create(model.header.metadata));
  if (options.template_file) return chat::ChatTemplate::parse(source, vocabulary);
  return chat::ChatTemplate::create(model.header.metadata, vocabulary);
}

Result<std::string> run(const RenderOptions& options) {
  jinja::WallTime now = jinja::WallTime::local_now();
  if (options.now) {
    WEFT_ASSIGN(now, jinja::WallTime::parse(*options.now));
  }
  WEFT_ASSIGN(const chat::ChatTemplate chat, template_of(options));
  WEFT_ASSIGN(const std::string input, read_input(options.input));
  return chat.render(input, {.now = now});
}

}  // namespace

int render_command(const RenderOptions& options) {
  const Result<std::string> text = run(options);
  if (!text) return report("render", text.error());
  std::fwrite(text->data(), 1, text->size(), stdout);
  return 0;
}

}  // namespace weft::cli
