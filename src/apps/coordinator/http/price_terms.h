// The price terms in a submission's query: `?quote=TEXT` (a quote of this coordinator) and
// `?max_price=MICRO_CREDITS`.
//
// Threading: any.
#pragma once

#include "apps/coordinator/http/http.h"

namespace weft::coordinator {

// Sets `quote` and `price_max` of the submission, whose client and manifest are set already. Fails
// with invalid_argument for a malformed number or quote, and for a quote for another client,
// manifest or coordinator.
[[nodiscard]] Result<> read_price_terms(const HttpParts& parts, const net::IncomingRequest& request,
                                        jobs::Submission& submission);

}  // namespace weft::coordinator
