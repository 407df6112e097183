#include "apps/cli/commands/submit.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <unistd.h>
#include <utility>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/follow_job.h"
#include "apps/cli/interruption.h"
#include "apps/cli/picture.h"
#include "apps/cli/portable_manifest.h"
#include "apps/cli/progress.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/format.h"
#include "common/base/ids.h"
#include "common/crypto/ordered_id.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

// Checks the form of an id before anything is sent, because the coordinator would report another
// text as an unknown path.
Result<> check_id(const std::string& id) {
  if (JobId::parse(id)) return {};
  return fail(ErrorCode::invalid_argument,
              "\"{}\" is not a job's id: it has 32 hexadecimal digits.", id);
}

Result<> fetch(ApiClient& client, const api::Job& job, const SubmitOptions& options) {
  std::optional<ByteVector> pictured;
  for (std::size_t i = 0; i < job.outputs.size(); ++i) {
    const api::JobOutput& output = job.outputs[i];
    const bool draw = !options.png.empty() && !pictured && is_picture(output.type, output.shape);
    if (options.out.empty() && !draw) continue;
    WEFT_ASSIGN(ByteVector bytes, fetch_output(client, job, i));
    if (!options.out.empty())
      WEFT_OK(write_file(options.out / weft::format("{}.{}.bin", job.name, output.name), bytes));
    if (draw) {
      WEFT_OK(write_picture(options.png, bytes, output.type, output.shape));
      pictured = std::move(bytes);
    }
  }
  if (!options.png.empty() && !pictured)
    return fail(ErrorCode::unsupported,
                "The job has no two-dimensional output of numbers to draw.");
  return {};
}

void print(const api::Job& job, const SubmitOptions& options) {
  if (options.json) {
    std::printf("%s\n", api::to_json(job).c_str());
    return;
  }
  std::printf("%s  %s  %u of %u tasks accepted\n", job.id.c_str(), job.state.c_str(), job.accepted,
              job.tasks);
  if (!job.reason.empty()) std::printf("reason  %s\n", job.reason.c_str());
  if (!job.waiting.reason.empty())
    std::printf("waiting (%s)  %s\n", job.waiting.reason.c_str(), job.waiting.detail.c_str());
  if (!job.decided.empty()) std::printf("decided %s\n", job.decided.c_str());
  if (job.corrected > 0)
    std::printf(
        "corrected %u of a convicted worker's results were wrong and are replaced; %.6f "
        "credits are returned\n",
        job.corrected, static_cast<double>(job.refunded) * 1e-6);
  if (job.unchecked > 0)
    std::printf("unchecked %u of a convicted worker's results could not be computed again\n",
                job.unchecked);
  for (const api::Correction& each : job.corrections)
    std::printf("  task %u  %s%s\n", each.task, each.replaced ? "replaced" : "not computed again: ",
                each.replaced ? "" : each.reason.c_str());
  if (!job.root.empty())
    std::printf("root    %s\nprice   %.6f credits\n", job.root.c_str(),
                static_cast<double>(job.price) * 1e-6);
  for (const api::JobOutput& output : job.outputs)
    std::printf("%-7s %llu bytes  %s\n", output.name.c_str(),
                static_cast<unsigned long long>(output.bytes), output.hash.c_str());
}

// Reads as the job's owner. The coordinator is contacted before the wallet is read, so that an
// unreachable coordinator is reported before a missing wallet.
Result<> read_as_owner(ApiClient& client, const SubmitOptions& options) {
  WEFT_OK(client.coordinator());
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  return client.read_as(wallet);
}

// Prints a link to the coordinator's page. The job's link is after the #, so that the browser sends
// it to no host.
void print_link(const api::Job& job, const SubmitOptions& options) {
  const bool slash = options.coordinator.ends_with('/');
  const std::string url = weft::format("{}{}dashboard#job={}&link={}", options.coordinator,
                                       slash ? "" : "/", job.id, job.link);
  if (options.json) {
    std::printf("{\"job\":\"%s\",\"link\":\"%s\",\"url\":\"%s\"}\n", job.id.c_str(),
                job.link.c_str(), url.c_str());
  } else {
    std::printf("%s\n", url.c_str());
  }
}

double credits(MicroCredits amount) { return static_cast<double>(amount) * 1e-6; }

// Formats a quote as text.
std::string quote_text(const api::Quote& quote) {
  std::string text = weft::format(
      "per unit  {:.6f} credits = base {:.6f} * (1 + demand {:.3f}) * (1 + capability {:.3f}) * "
      "season {:.3f}\n",
      credits(quote.per_unit), credits(quote.base), quote.demand, quote.capability, quote.season);
  if (quote.price > 0) {
    text +=
        weft::format("price     {:.6f} credits for {:.6f} compute units: {} tasks of {:.6f}\n",
                     credits(quote.price), quote.units, quote.tasks, credits(quote.price_per_task));
  } else {
    text += weft::format(
        "price     not known yet: this work was not measured before. Its first task shows it, and "
        "over its budget of {:.6f} credits, or over --max-price, it ends unpaid\n",
        credits(quote.budget));
  }
  return text + weft::format("valid     for {} s\n",
                             std::max<std::int64_t>(quote.valid_until - quote.made, 0) / 1000);
}

// Returns the price conditions of the submission; nullopt if the user declines.
Result<std::optional<PriceWanted>> price_wanted(const SubmitOptions& options,
                                                const std::string& manifest, ApiClient& client,
                                                const crypto::KeyPair& wallet) {
  PriceWanted price{.quote = options.quoted};
  if (options.max_price) price.max = std::llround(*options.max_price * 1e6);
  if (!options.quote) return price;
  WEFT_ASSIGN(const api::Quote quote, client.quote(manifest, wallet));
  price.quote = quote.quote;
  std::fputs(quote_text(quote).c_str(), stderr);
  if (options.yes) return price;
  if (::isatty(STDIN_FILENO) == 0)
    return fail(ErrorCode::invalid_argument,
                "Nothing was submitted: standard input is not a terminal at which to ask; --yes "
                "agrees to the price.");
  std::fputs("Submit? [y/N] ", stderr);
  const int first = std::getchar();
  if (first == 'y' || first == 'Y') return price;
  say_beside_progress("Nothing was submitted.");
  return std::nullopt;
}

Result<> quote(const QuoteOptions& options) {
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_or_new(options.wallet));
  WEFT_ASSIGN(const std::string text, portable_manifest(options.manifest, *client, wallet));
  WEFT_ASSIGN(const api::Quote made, client->quote(text, wallet));
  if (options.json) {
    std::printf("%s\n", api::to_json(made).c_str());
  } else {
    std::printf("%squote     %s\n", quote_text(made).c_str(), made.quote.c_str());
  }
  return {};
}

Result<int> submit(const SubmitOptions& options) {
  for (const std::string& given : {options.follow, options.show, options.share, options.cancel}) {
    if (!given.empty()) WEFT_OK(check_id(given));
  }
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  std::string id = options.follow;
  if (!options.cancel.empty()) {
    WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
    WEFT_ASSIGN(const api::Job job, client->cancel(options.cancel, wallet));
    print(job, options);
    return 0;
  }
  if (!options.show.empty() || !options.share.empty()) {
    WEFT_OK(read_as_owner(*client, options));
    WEFT_ASSIGN(const api::Job job,
                client->job(options.show.empty() ? options.share : options.show));
    options.show.empty() ? print_link(job, options) : print(job, options);
    return 0;
  }
  const bool wait =
      options.wait || !options.follow.empty() || !options.out.empty() || !options.png.empty();
  if (id.empty()) {
    WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_or_new(options.wallet));
    WEFT_ASSIGN(const std::string text, portable_manifest(options.manifest, *client, wallet));
    WEFT_ASSIGN(const std::optional<PriceWanted> price,
                price_wanted(options, text, *client, wallet));
    if (!price) return 0;
    const Result<api::Submitted> submitted =
        client->submit(text, wallet, crypto::ordered_id(), *price);
    if (!submitted && submitted.error().code == ErrorCode::cancelled)
      return fail(ErrorCode::cancelled,
                  "Interrupted before the coordinator confirmed the job, which may run anyway.");
    if (!submitted) return std::unexpected(submitted.error());
    id = submitted->id;
    for (const std::string& note : submitted->notes) say_beside_progress("note: " + note);
    if (wait) WEFT_OK(client->read_as(wallet));
    if (!wait) {
      if (options.json) {
        std::printf("%s\n", api::to_json(*submitted).c_str());
      } else {
        std::printf("%s\nFollow it with: weft submit --follow %s --coordinator %s\n", id.c_str(),
                    id.c_str(), options.coordinator.c_str());
      }
      return 0;
    }
  }
  if (!options.follow.empty()) WEFT_OK(read_as_owner(*client, options));
  WEFT_ASSIGN(const api::Job job, follow_job(*client, id, options.coordinator));
  const bool has_results = job.state == "done" || job.state == "corrected";
  if (has_results) WEFT_OK(fetch(*client, job, options));
  print(job, options);
  return has_results ? 0 : 1;
}

}  // namespace

int quote_command(const QuoteOptions& options) {
  note_interruptions();
  const Result<> done = quote(options);
  return done ? 0 : report("quote", done.error());
}

int submit_command(const SubmitOptions& options) {
  note_interruptions();
  Result<int> code = submit(options);
  return code ? *code : report("submit", code.error());
}

}  // namespace weft::cli
