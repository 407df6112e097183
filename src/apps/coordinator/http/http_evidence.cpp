// The route /v1/evidence lists devices that have signed two results of one task and attempt. Each
// entry is a file that `weft chain slash` reads. All readers may get it, because the chain pays the
// first wallet that submits it.
#include <algorithm>

#include "apps/coordinator/http/http.h"
#include "apps/coordinator/http/query_number.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/proof/claim_tree.h"

namespace weft::coordinator {
namespace {

Result<std::string> side_of(const store::Evidence& evidence, const store::Evidence::Signed& side) {
  WEFT_ASSIGN(const proof::KeptReceipt receipt, proof::read_receipt(side.statement, side.claims));
  const proof::Claim wanted{.task = evidence.task, .attempt = evidence.attempt, .root = side.root};
  const auto found = std::ranges::find(receipt.claims, wanted);
  const auto index = static_cast<std::size_t>(found - receipt.claims.begin());
  WEFT_ASSIGN(const proof::ClaimPath path, proof::path_of_claim(receipt.claims, index));
  std::string siblings;
  for (const Hash& sibling : path.siblings)
    siblings += weft::format("{}\"{}\"", siblings.empty() ? "" : ",", sibling.text());
  return weft::format(
      R"({{"result":"{}","session":"{}","worker":"{}","siblings":[{}],"sides":{},"signature":"{}"}})",
      side.root.text(), receipt.place.session.text(), receipt.place.worker.text(), siblings,
      path.sides, side.signature.text());
}

Result<std::string> text_of(const store::Evidence& evidence) {
  WEFT_ASSIGN(const std::string first, side_of(evidence, evidence.first));
  WEFT_ASSIGN(const std::string second, side_of(evidence, evidence.second));
  return weft::format(
      R"({{"owner":"{}","device":"{}","job":"{}","task":{},"attempt":{},"first":{},"second":{}}})",
      evidence.owner.text(), evidence.worker.text(), evidence.task.job.text(), evidence.task.index,
      evidence.attempt, first, second);
}

constexpr QueryBounds pairs_of_page{.otherwise = 100, .least = 1, .most = 1000};

// A page of the evidence as JSON. Its `next` is 0 on the last page.
Result<std::string> list_of(store::Store& store, std::size_t from, std::size_t count) {
  WEFT_ASSIGN(auto page, store.evidence(from, count + 1));
  const bool more = page.size() > count;
  if (more) page.pop_back();
  std::string out;
  for (const store::Evidence& each : page) {
    const auto text = text_of(each);
    if (text) {
      out += (out.empty() ? "" : ",") + *text;
    } else {
      log_error("Evidence against {} cannot be read: {}", each.worker.text(), text.error().message);
    }
  }
  return weft::format(R"({{"evidence":[{}],"next":{}}})", out, more ? from + count : 0);
}

}  // namespace

void add_evidence_routes(const HttpParts& parts) {
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/evidence",
       .handle =
           [parts](const net::IncomingRequest& request, const net::Respond& respond) {
             const auto from = query_number(request, "from", {.most = store::evidence_max});
             if (!from) return respond(net::problem(from.error()));
             const auto count = query_number(request, "count", pairs_of_page);
             if (!count) return respond(net::problem(count.error()));
             post_or_refuse(parts.readers, respond, [parts, respond, from = *from, count = *count] {
               const auto list = list_of(parts.store, from, count);
               respond(list ? net::json_reply(200, *list) : net::problem(list.error()));
             });
           },
       .cost = 50});  // Costs more because it makes the Merkle paths of a page of pairs.
}

}  // namespace weft::coordinator
