// Shared answers that are sent to clients unchanged, such as `/metrics`.
#pragma once

#include "apps/coordinator/http/shared_answers.h"
#include "platform/net/http.h"

namespace weft::coordinator {

template <>
struct TooMany<net::Reply> {
  static net::Reply answer() {
    return net::problem(
        {ErrorCode::unavailable, "The coordinator has too much to do; try again in a moment."});
  }
};

using SharedViews = SharedAnswers<net::Reply>;

}  // namespace weft::coordinator
