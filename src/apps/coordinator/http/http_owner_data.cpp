// The route /v1/owner/data exports all data that the coordinator has of an owner, and deletes it
// (docs/owners.md, "Your data"). Both requests are signed by a device that may spend.
//
// The export is lines of JSON, each an object whose first member names its kind. It comes in parts
// of HttpParts::owner_data_bytes_max. The last line of a part is {"next": PLACE} (?from=PLACE
// requests the next part) or {"end": true}.
#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "apps/coordinator/http/http.h"
#include "common/base/format.h"
#include "common/json/quote.h"
#include "decisions/inference/model_card.h"
#include "decisions/jobs/owner_records.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;
using In = const net::IncomingRequest&;
using Out = const net::Respond&;
using Kind = ledger::Account::Kind;

constexpr std::uint32_t rows_at_once = 100;
constexpr std::array kinds{Kind::owner,        Kind::granted, Kind::held,
                           Kind::held_granted, Kind::stake,   Kind::settled};

// The beginning of a part: jobs of a device created before a time, or a page in the history of an
// account. The first part begins with all data that have no pages.
struct Place {
  enum class Section : std::uint8_t { head, jobs, history };
  Section section = Section::head;
  std::size_t index = 0;   // Index of the device or account kind.
  std::uint64_t from = 0;  // JobPage::before or HistoryPage::from; 0: the beginning.

  // Writes the place as text, such as "jobs-0-1700000000000".
  [[nodiscard]] std::string text() const {
    return weft::format("{}-{}-{}", section == Section::jobs ? "jobs" : "history", index, from);
  }
  static Result<Place> parse(std::string_view text) {
    Place place{.section = text.starts_with("jobs-") ? Section::jobs : Section::history};
    std::string_view rest = text.substr(std::min(text.size(), text.find('-')));
    const auto number = [&](auto& value) {
      if (!rest.starts_with('-')) return false;
      rest.remove_prefix(1);
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      return error == std::errc();
    };
    const bool is_named = text.starts_with("jobs-") || text.starts_with("history-");
    if (!is_named || !number(place.index) || !number(place.from) || !rest.empty() ||
        place.from > INT64_MAX)
      return fail(ErrorCode::invalid_argument,
                  "from={} is not the \"next\" with which the previous part ended.", text);
    return place;
  }
};

class DataText {
 public:
  DataText(store::Store& store, const jobs::OwnerView& owner, std::size_t bytes_max)
      : store_(store), owner_(owner), bytes_max_(bytes_max) {}

  void line(std::string_view what, std::string_view json) {
    text_ += weft::format("{{\"{}\":{}}}\n", what, json);
  }
  // Adds data from `place` on until the part is full, and the line with the place of the next part.
  Result<std::string> finish(Place place) {
    if (place.section == Place::Section::head) place = {.section = Place::Section::jobs};
    for (; place.section == Place::Section::jobs; place = {place.section, place.index + 1, 0}) {
      if (place.index >= owner_.devices.size()) {
        place = {.section = Place::Section::history};
        break;
      }
      WEFT_ASSIGN(const bool whole, add_jobs(place));
      if (!whole) return next(place);
    }
    for (; place.index < kinds.size(); place = {place.section, place.index + 1, 0}) {
      WEFT_ASSIGN(const bool whole, add_history(place));
      if (!whole) return next(place);
    }
    return text_ + "{\"end\":true}\n";
  }

 private:
  [[nodiscard]] std::string next(const Place& place) const {
    return text_ + weft::format("{{\"next\":\"{}\"}}\n", place.text());
  }
  [[nodiscard]] bool is_full() const { return bytes_max_ > 0 && text_.size() >= bytes_max_; }
  // Adds jobs. Returns false if the part is full; `place` is then the beginning of the next part.
  Result<bool> add_jobs(Place& place) {
    for (;;) {
      if (is_full()) return false;
      WEFT_ASSIGN(const auto rows, store_.jobs({.client = owner_.devices[place.index].key,
                                                .before = static_cast<UnixMillis>(place.from),
                                                .count = rows_at_once}));
      for (const store::Job& row : rows) {
        line("job", api::to_json(view_of(row)));
        // The manifest is a line of its own, because its text is JSON that the job's object cannot
        // contain.
        if (!row.manifest.empty()) line("manifest", row.manifest);
      }
      if (rows.size() < rows_at_once) return true;
      place.from = static_cast<std::uint64_t>(rows.back().created);
    }
  }
  Result<bool> add_history(Place& place) {
    const ledger::Account account{.kind = kinds.at(place.index), .id = owner_.owner.bytes};
    for (;;) {
      if (is_full()) return false;
      WEFT_ASSIGN(const auto history,
                  store_.history(account, {.from = place.from, .count = rows_at_once}));
      if (!history.transactions.empty())
        line("history", api::to_json(api::LedgerAccount{
                            .account = account.text(),
                            .entries = entries_of(history, std::span(&account, 1), false)}));
      if (history.next == 0) return true;
      place.from = history.next;
    }
  }

  store::Store& store_;
  const jobs::OwnerView& owner_;
  const std::size_t bytes_max_;
  std::string text_;
};

std::vector<std::string> keys_of(const jobs::OwnerView& owner) {
  std::vector<std::string> keys;
  for (const store::Device& device : owner.devices) keys.push_back(device.key.text());
  return keys;
}

// Adds all data except jobs and history.
void add_head(const HttpParts& parts, const jobs::OwnerData& data,
              const std::vector<inference::ModelCard>& models, DataText& text) {
  text.line("owner", api::to_json(view_of(data.owner)));
  for (const store::ApiKey& key : data.keys) text.line("key", billing::to_json(key));
  for (const store::ClientWeight& weight : data.weights)
    text.line("weight", weft::format(R"({{"client":"{}","weight":{},"set":{}}})",
                                     weight.client.text(), weight.weight, weight.at));
  for (const jobs::OwnerData::Worker& worker : data.workers) {
    text.line("worker", api::to_json(worker.view));
    text.line(
        "standing",
        weft::format(
            R"({{"worker":"{}","reputation":{},"established":{},"suspended_until":{},"at_risk":{},"last_day":{}}})",
            worker.view.key, worker.standing.reputation, worker.standing.established,
            worker.standing.suspended_until, worker.standing.at_risk, worker.seen));
  }
  for (const inference::ModelCard& card : models) text.line("model", inference::to_json(card));
  for (const std::string& key : keys_of(data.owner)) {
    for (const auto& upload : parts.blob_parts.unfinished_of(key))
      text.line("upload", weft::format(R"({{"client":"{}","hash":"{}","bytes":{}}})", key,
                                       upload.hash.text(), upload.bytes));
    for (const auto& response : parts.responses.of(key, now())) {
      text.line("response", response->document);
      text.line("conversation", "[" + response->messages + "]");
    }
  }
}

void show_data(const std::shared_ptr<const HttpParts>& parts, In request, Out respond) {
  const auto who = parts->signatures.signer(request);
  if (!who) return respond(parts->signatures.refusal(who.error()));
  Place place;
  if (const auto from = request.query.find("from"); from != request.query.end()) {
    const auto parsed = Place::parse(from->second);
    if (!parsed) return respond(net::problem(parsed.error()));
    place = *parsed;
  }
  using Models = std::vector<inference::ModelCard>;
  const auto tell = [parts, respond, place](const jobs::OwnerData& data, const Models& models) {
    post_or_refuse(parts->readers, respond, [parts, respond, place, data, models] {
      DataText text(parts->store, data.owner, parts->owner_data_bytes_max);
      if (place.section == Place::Section::head) add_head(*parts, data, models, text);
      auto whole = text.finish(place);
      if (!whole) return respond(net::problem(whole.error()));
      respond({.status = 200,
               .headers = {{"content-type", "application/x-ndjson"}, {"cache-control", "no-store"}},
               .body = std::move(*whole)});
    });
  };
  post_or_refuse(parts->loop, respond,
                 [parts, respond, tell, by = who->client](jobs::Core& core, jobs::Moment moment) {
                   core.owner_records().show(
                       by, moment, [parts, respond, tell](const Result<jobs::OwnerData>& data) {
                         if (!data) return respond(net::problem(data.error()));
                         parts->models.models_of(
                             keys_of(data->owner),
                             [respond, tell, data = *data](const Result<Models>& models) {
                               if (!models) return respond(net::problem(models.error()));
                               tell(data, *models);
                             });
                       });
                 });
}

// The refusal of a deletion; 409 if jobs or answers of the owner are running.
net::Reply refused(const Error& error) {
  return error.code == ErrorCode::unavailable ? net::problem(error, 409) : net::problem(error);
}

void forget(const HttpParts& given, In, const Signed& who, Out respond) {
  const auto parts = std::make_shared<const HttpParts>(given);
  const auto remove_rest = [parts, respond](const jobs::OwnerView& owner) {
    post_or_refuse(parts->readers, respond, [parts, respond, owner] {
      for (const std::string& key : keys_of(owner)) {
        parts->responses.remove_of(key);
        if (const auto removed = parts->blob_parts.remove_of(key); !removed)
          return respond(refused(removed.error()));
      }
      respond(net::json_reply(200, api::to_json(view_of(owner))));
    });
  };
  post_or_refuse(
      parts->loop, respond,
      [parts, respond, remove_rest, by = who.client](jobs::Core& core, jobs::Moment now) {
        core.owner_records().forget(
            by, now, [parts, respond, remove_rest](const Result<jobs::OwnerView>& owner) {
              if (!owner) return respond(refused(owner.error()));
              parts->models.remove_of(
                  keys_of(*owner), [respond, remove_rest, owner = *owner](const Result<>& removed) {
                    if (!removed) return respond(net::problem(removed.error()));
                    remove_rest(owner);
                  });
            });
      });
}

}  // namespace

void add_owner_data_routes(const HttpParts& parts) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/owner/data",
       .handle = [kept](In request, Out respond) { show_data(kept, request, respond); },
       .cost = 4});
  parts.server.route(
      {.method = "DELETE",
       .pattern = "/v1/owner/data",
       .handle = [kept](In request, Out respond) { once(forget)(*kept, request, respond); },
       .cost = 4});
}

}  // namespace weft::coordinator
