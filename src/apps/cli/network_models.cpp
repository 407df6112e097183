#include "apps/cli/network_models.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "apps/cli/files.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/json/json.h"
#include "platform/net/streamed_request.h"

namespace weft::cli {
namespace {

using Members = std::map<std::string, json::Value>;

constexpr std::size_t document_bytes_max = std::size_t{256} << 20;
constexpr std::size_t event_bytes_max = std::size_t{4} << 20;

// Reads the members of an object; null counts as missing.
Result<Members> members_of(const json::Value& value) {
  WEFT_ASSIGN(const auto list, value.members({.count_max = 4096}));
  Members out;
  for (const auto& [key, member] : list) {
    if (member.kind() != json::Kind::null) out.emplace(key, member);
  }
  return out;
}
Result<Members> members_at(const Members& members, const std::string& key) {
  const auto found = members.find(key);
  return found == members.end() ? Result<Members>(Members()) : members_of(found->second);
}
Result<> read_text(const Members& members, const std::string& key, std::string& out) {
  if (const auto found = members.find(key); found != members.end()) {
    WEFT_ASSIGN(out, found->second.string({.bytes_max = event_bytes_max}));
  }
  return {};
}
template <class Integer>
Result<> read_number(const Members& members, const std::string& key, Integer& out) {
  if (const auto found = members.find(key); found != members.end()) {
    WEFT_ASSIGN(const std::int64_t value, found->second.integer());
    out = static_cast<Integer>(value);
  }
  return {};
}

// Reads the server's error message: in OpenAI's form, or as a problem document.
Error refusal_of(const net::Response& answer) {
  Error out = net::error_of(answer);
  const auto root = json::parse(answer.body, {.bytes_max = document_bytes_max});
  if (!root) return out;
  const auto members = members_of(*root);
  const auto inner = members ? members_at(*members, "error") : members;
  std::string message;
  if (inner && read_text(*inner, "message", message) && !message.empty()) out.message = message;
  return out;
}

// Parses events as they arrive and collects the answer.
class Hearing {
 public:
  Hearing(const NetworkModels::Listener& listener, Instant begun)
      : listener_(listener), begun_(begun) {}

  // Returns false after an error.
  bool take(std::string_view bytes) {
    waiting_ += bytes;
    std::size_t at = 0;
    for (std::size_t end = 0;
         trouble_.has_value() == false && (end = waiting_.find("\n\n", at)) != std::string::npos;
         at = end + 2) {
      if (auto taken = event(std::string_view(waiting_).substr(at, end - at)); !taken)
        trouble_ = taken.error();
    }
    waiting_.erase(0, at);
    if (!trouble_ && waiting_.size() > event_bytes_max)
      trouble_ =
          Error{ErrorCode::data_loss,
                weft::format("An event of the answer has more than {} bytes.", event_bytes_max)};
    return !trouble_;
  }
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] NetworkAnswer take_answer() {
    answer_.whole_s = seconds(now() - begun_);
    return std::move(answer_);
  }

 private:
  Result<> event(std::string_view text) {
    constexpr std::string_view mark = "data: ";
    if (!text.starts_with(mark)) return {};
    text.remove_prefix(mark.size());
    if (text == "[DONE]") {
      done_ = true;
      return {};
    }
    WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = event_bytes_max}));
    WEFT_ASSIGN(const Members members, members_of(root));
    if (members.contains("error")) {
      WEFT_ASSIGN(const Members error, members_at(members, "error"));
      std::string message = "The coordinator says that the answer failed, and gives no reason.";
      WEFT_OK(read_text(error, "message", message));
      return fail(ErrorCode::unavailable, "{}", message);
    }
    if (const auto choices = members.find("choices"); choices != members.end()) {
      WEFT_OK(choices->second.for_each(
          {}, [this](const json::Value& choice) -> Result<> { return take_choice(choice); }));
    }
    WEFT_ASSIGN(const Members usage, members_at(members, "usage"));
    WEFT_OK(read_number(usage, "prompt_tokens", answer_.prompt_tokens));
    WEFT_OK(read_number(usage, "completion_tokens", answer_.answer_tokens));
    WEFT_ASSIGN(const Members weft, members_at(members, "weft"));
    if (const auto workers = weft.find("workers"); workers != weft.end()) {
      WEFT_OK(workers->second.for_each({}, [this](const json::Value& worker) -> Result<> {
        WEFT_ASSIGN(answer_.workers.emplace_back(), worker.string());
        return {};
      }));
    }
    return {};
  }
  Result<> take_choice(const json::Value& choice) {
    WEFT_ASSIGN(const Members members, members_of(choice));
    WEFT_ASSIGN(const Members delta, members_at(members, "delta"));
    std::string text;
    WEFT_OK(read_text(delta, "content", text));
    WEFT_OK(read_text(members, "finish_reason", answer_.finish));
    if (text.empty()) return {};
    if (answer_.text.empty()) answer_.first_s = seconds(now() - begun_);
    answer_.text += text;
    listener_.say(text);
    return {};
  }

  const NetworkModels::Listener& listener_;
  const Instant begun_;
  std::string waiting_;
  NetworkAnswer answer_;
  std::optional<Error> trouble_;
  bool done_ = false;
};

}  // namespace

Result<std::string> read_key_file(const std::filesystem::path& file) {
  WEFT_ASSIGN(const ByteVector bytes, read_file(file));
  std::string text(as_text(bytes));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty() || text.find_first_of(" \t\r\n") != std::string::npos)
    return fail(ErrorCode::invalid_argument, "{} must hold one API key and nothing else.",
                file.string());
  return text;
}

Result<NetworkModels> NetworkModels::create(const NetworkModelsOptions& options) {
  WEFT_ASSIGN(net::Url url, net::Url::parse(options.coordinator));
  const char* const given = std::getenv("WEFT_API_KEY");
  std::string key(given == nullptr ? "" : given);
  if (!options.key_file.empty()) {
    WEFT_ASSIGN(key, read_key_file(options.key_file));
  }
  return NetworkModels(std::move(url), options.tls, std::move(key));
}

net::Request NetworkModels::with_key(net::Request request) const {
  return key_.empty() ? request : net::with_bearer(std::move(request), key_);
}

Result<std::vector<NetworkModel>> NetworkModels::list() const {
  std::string body;
  WEFT_ASSIGN(const net::Response answer,
              net::send_streamed(url_, tls_, with_key(net::get("/v1/models")),
                                 {.bytes = [&](std::string_view bytes) {
                                   body += bytes;
                                   return body.size() <= document_bytes_max;
                                 }}));
  if (!answer.ok()) return std::unexpected(refusal_of(answer));
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = document_bytes_max}));
  WEFT_ASSIGN(const Members members, members_of(root));
  const auto data = members.find("data");
  if (data == members.end())
    return fail(ErrorCode::not_found,
                "{} is not a Weft coordinator: its answer has no list of models.", url_.text());
  std::vector<NetworkModel> out;
  WEFT_OK(data->second.for_each({}, [&](const json::Value& one) -> Result<> {
    WEFT_ASSIGN(const Members model, members_of(one));
    WEFT_ASSIGN(const Members weft, members_at(model, "weft"));
    NetworkModel& made = out.emplace_back();
    WEFT_OK(read_text(model, "id", made.name));
    WEFT_OK(read_text(weft, "state", made.state));
    WEFT_OK(read_number(weft, "context_served", made.context));
    WEFT_OK(read_number(weft, "price_per_1k_tokens", made.price));
    WEFT_ASSIGN(const Members modalities, members_at(weft, "modalities"));
    made.output = "text";
    if (const auto output = modalities.find("output"); output != modalities.end()) {
      WEFT_OK(output->second.for_each({}, [&](const json::Value& word) -> Result<> {
        WEFT_ASSIGN(made.output, word.string());
        return {};
      }));
    }
    return {};
  }));
  return out;
}

Result<NetworkModel> NetworkModels::choose(const std::string& name, std::string_view output) const {
  WEFT_ASSIGN(std::vector<NetworkModel> models, list());
  std::erase_if(models, [&](const NetworkModel& model) { return model.output != output; });
  if (name.empty() && models.size() == 1) return models.front();
  std::string names;
  for (const NetworkModel& model : models) {
    if (model.name == name) return model;
    names += (names.empty() ? "" : ", ") + model.name;
  }
  if (models.empty())
    return fail(ErrorCode::not_found,
                "{} serves no model whose output is {}; add one with weft model add FILE.gguf "
                "--coordinator {}",
                url_.text(), output, url_.text());
  if (name.empty())
    return fail(ErrorCode::invalid_argument,
                "The coordinator serves several models; name one with --model: {}.", names);
  return fail(ErrorCode::not_found, "{} has no model {} whose output is {}; it has {}.",
              url_.text(), name, output, names);
}

Result<NetworkAnswer> NetworkModels::stream(const std::string& body,
                                            const Listener& listener) const {
  Hearing hearing(listener, now());
  const auto answer =
      net::send_streamed(url_, tls_, with_key(net::post("/v1/chat/completions", body)),
                         {.bytes = [&](std::string_view bytes) { return hearing.take(bytes); },
                          .wanted = listener.wanted});
  if (hearing.trouble()) return std::unexpected(*hearing.trouble());
  if (!answer) return std::unexpected(answer.error());
  if (!answer->ok()) return std::unexpected(refusal_of(*answer));
  if (!hearing.done())
    return fail(ErrorCode::data_loss, "The answer ended before it was complete.");
  return hearing.take_answer();
}

Result<std::string> NetworkModels::post(const std::string& path, const std::string& body,
                                        const std::function<bool()>& wanted) const {
  std::string out;
  WEFT_ASSIGN(const net::Response answer,
              net::send_streamed(url_, tls_, with_key(net::post(path, body)),
                                 {.bytes =
                                      [&](std::string_view bytes) {
                                        out += bytes;
                                        return out.size() <= document_bytes_max;
                                      },
                                  .wanted = wanted,
                                  .silence_max = std::chrono::minutes(10)}));
  if (!answer.ok()) return std::unexpected(refusal_of(answer));
  return out;
}

}  // namespace weft::cli
