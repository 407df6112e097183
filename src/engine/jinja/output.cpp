#include "engine/jinja/output.h"

namespace weft::jinja {

Result<> Output::write(std::string_view text) {
  if (text.size() > bytes_max_ || to_->size() > bytes_max_ - text.size())
    return fail(ErrorCode::resource_exhausted,
                "it writes more than {} bytes (RenderLimits::output_bytes_max)", bytes_max_);
  *to_ += text;
  return {};
}

}  // namespace weft::jinja
