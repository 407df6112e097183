// What a submission says of its price: `?quote=TEXT` (a quote of this coordinator) and
// `?max_price=MICRO_CREDITS`.
//
// Threading: any.
#pragma once

#include "apps/coordinator/http/http.h"

namespace weft::coordinator {

// Fills in `quote` and `price_max` of the submission, whose client and manifest are known.
// invalid_argument for what is no number, no quote, or one for another client, manifest or
// coordinator.
[[nodiscard]] Result<> read_price_terms(const HttpParts& parts, const net::IncomingRequest& request,
                                        jobs::Submission& submission);

}  // namespace weft::coordinator
