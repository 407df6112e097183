// POST /v1/jobs/quote: the signed price of a job. The coordinator stores no quotes: a submission
// contains the quote, and the signature proves that it is the coordinator's.
#include <charconv>

#include "apps/coordinator/http/access.h"
#include "apps/coordinator/http/price_terms.h"
#include "common/crypto/keys.h"
#include "common/protocol/price_offer.h"
#include "decisions/jobs/job_prices.h"
#include "decisions/jobs/work.h"

namespace weft::coordinator {
namespace {

namespace api = protocol::api;

void sign(const HttpParts& parts, const protocol::OfferSubject& subject, api::Quote& quote) {
  protocol::PriceOffer offer{
      .per_unit = quote.per_unit, .price = quote.price, .until = quote.valid_until};
  crypto::random_bytes(offer.id);
  offer.signature = parts.sign(protocol::offer_digest(offer, subject));
  quote.id = to_hex(offer.id);
  quote.coordinator = subject.coordinator.text();
  quote.signature = offer.signature.text();
  quote.quote = protocol::offer_text(offer);
}

void make_quote(const HttpParts& parts, net::IncomingRequest request, const net::Respond& respond) {
  post_or_refuse(parts.submitters, respond, [parts, request = std::move(request), respond] {
    const auto who = parts.signatures.signer(request);
    if (!who) return respond(parts.signatures.refusal(who.error()));
    auto manifest = manifest::parse(request.body);
    if (!manifest) return respond(net::problem(manifest.error()));
    const auto coordinator = PublicKey::parse(parts.info.coordinator);
    jobs::QuoteWanted wanted{.client = who->client,
                             .manifest = {},
                             .manifest_hash = jobs::stored_hash(*manifest),
                             .work = jobs::work_of(*manifest)};
    wanted.manifest = std::make_shared<const manifest::Manifest>(std::move(*manifest));
    const protocol::OfferSubject subject{.coordinator = coordinator.value(),
                                         .client = who->client,
                                         .manifest = wanted.manifest_hash};
    post_or_refuse(
        parts.loop, respond,
        [parts, respond, wanted = std::move(wanted), subject](jobs::Core& core, jobs::Moment now) {
          core.prices().quote(wanted, now,
                              [parts, respond, subject](const Result<api::Quote>& result) {
                                if (!result) return respond(net::problem(result.error()));
                                api::Quote quote = *result;
                                sign(parts, subject, quote);
                                respond(net::json_reply(200, api::to_json(quote)));
                              });
        });
  });
}

}  // namespace

Result<> read_price_terms(const HttpParts& parts, const net::IncomingRequest& request,
                          jobs::Submission& submission) {
  if (const auto most = request.query.find("max_price"); most != request.query.end()) {
    const std::string& text = most->second;
    MicroCredits amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
    if (error != std::errc() || end != text.data() + text.size() || amount <= 0)
      return fail(ErrorCode::invalid_argument,
                  "max_price={} is not an amount of micro-credits above 0.", text);
    submission.price_max = amount;
  }
  const auto given = request.query.find("quote");
  if (given == request.query.end()) return {};
  WEFT_ASSIGN(const protocol::PriceOffer offer, protocol::read_offer(given->second));
  WEFT_ASSIGN(const PublicKey coordinator, PublicKey::parse(parts.info.coordinator));
  const protocol::OfferSubject subject{.coordinator = coordinator,
                                       .client = submission.client,
                                       .manifest = submission.manifest_hash};
  if (!crypto::verify_now(coordinator, protocol::offer_digest(offer, subject), offer.signature))
    return fail(ErrorCode::invalid_argument,
                "The quote is for another manifest or client, or from another coordinator: ask for "
                "a quote for this job (weft quote, POST /v1/jobs/quote).");
  submission.quote = {
      .id = offer.id, .per_unit = offer.per_unit, .price = offer.price, .until = offer.until};
  return {};
}

void add_quote_routes(const HttpParts& parts) {
  parts.server.route(
      {.method = "POST",
       .pattern = "/v1/jobs/quote",
       .handle =
           // NOLINTNEXTLINE(performance-unnecessary-value-param): make_quote() keeps the request.
       [parts](net::IncomingRequest request, const net::Respond& respond) {
         make_quote(parts, std::move(request), respond);
       },
       .cost = 1,
       .body_bytes_max = manifest::Limits{}.text_bytes_max,
       .is_signed = true,
       .is_new_work = false});
}

}  // namespace weft::coordinator
