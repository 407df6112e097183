// Fuzzes a coordinator's answers as the command line reads them: each is refused with a sentence,
// or read and written in one form.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/protocol/api.h"
#include "common/protocol/watch.h"

using namespace weft;
namespace api = protocol::api;

namespace {

template <class View>
void look_at(std::string_view text) {
  const auto view = api::from_json<View>(text);
  if (!view) {
    check(!view.error().message.empty(), "a refusal says why");
    return;
  }
  if constexpr (requires { api::to_json(*view); }) {
    const std::string written = api::to_json(*view);
    const auto again = api::from_json<View>(written);
    check(again && api::to_json(*again) == written, "an answer has one written form");
  }
}

template <class... Views>
void look_at_each(std::string_view text) {
  (look_at<Views>(text), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(ByteSpan(data, size));
  look_at_each<api::Info, api::Identity, api::Quote, api::Submitted, api::Job, api::Verdict,
               api::Jobs, api::Client, api::Clients, api::Tasks, api::Proof, api::Workers,
               api::Ledger, api::LedgerAccount, api::LedgerJob, api::Settlement, api::Owner,
               api::Problem>(text);
  (void)protocol::watch::decode_snapshot(text);
  (void)protocol::watch::decode_delta(text);
  return 0;
}
