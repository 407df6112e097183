// Fuzzes the answers of a Solana node: each is refused or read, and a list of accounts has the
// requested length.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "platform/chain/rpc_answers.h"

using namespace weft;

namespace {

template <class Value>
void look_at(const Result<Value>& read) {
  if (!read) check(!read.error().message.empty(), "a refusal says why");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body = as_text(ByteSpan(data, size));
  const auto text = chain::result_of("getAnything", body);
  look_at(text);
  if (!text) return 0;
  look_at(chain::read_genesis_hash(*text));
  look_at(chain::read_number(*text));
  look_at(chain::read_value(*text));
  look_at(chain::read_blockhash(*text));
  look_at(chain::read_account(*text));
  const auto accounts = chain::read_accounts(*text, 2);
  look_at(accounts);
  check(!accounts || accounts->size() == 2, "there are as many accounts as were asked for");
  look_at(chain::read_found_accounts(*text));
  look_at(chain::read_priority_fee(*text));
  look_at(chain::read_simulation(*text));
  look_at(chain::read_status(*text));
  look_at(chain::read_fee(*text, Signature{}));
  return 0;
}
