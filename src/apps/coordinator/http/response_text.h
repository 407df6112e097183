// Writes answers in the format of OpenAI's responses: items (thoughts, text, function calls) in one
// document, or as events of a stream that report when each item begins, grows and is done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/coordinator/http/answer_form.h"
#include "apps/coordinator/http/responses.h"

namespace weft::coordinator {

class ResponseText final : public AnswerForm {
 public:
  // request.response must be set.
  ResponseText(const OpenAiRequest& request, std::int64_t created);

  [[nodiscard]] std::string begin() override;
  [[nodiscard]] std::string tokens(std::size_t choice,
                                   const std::vector<SaidToken>& tokens) override;
  // Ends the answer and stores the response if the client asked for it. A response that could not
  // be stored says "store": false.
  [[nodiscard]] std::string end(std::size_t choice, const inference::AnswerEnd& end) override;
  [[nodiscard]] std::string close() override;
  [[nodiscard]] std::string document() override;
  [[nodiscard]] std::size_t choices() const override { return 1; }

 private:
  struct Item {
    enum class Kind : std::uint8_t { thought, message, call };
    Kind kind = Kind::message;
    std::string id;
    std::string text;               // The item's text; for a call its arguments.
    std::string call_id{}, name{};  // Set only if the item is a call.
    std::string_view state = "in_progress";
  };
  [[nodiscard]] std::string keep(const std::vector<tools::Piece>& pieces);
  [[nodiscard]] std::string grow(Item::Kind kind, const std::string& text);
  [[nodiscard]] std::string add_call(const tools::Piece& piece);
  [[nodiscard]] std::string open_item(Item item);
  [[nodiscard]] std::string close_item(std::string_view state);
  [[nodiscard]] std::string event(std::string_view type, const std::string& members);
  // The position of the last item, as members of an event.
  [[nodiscard]] std::string place(bool with_content) const;
  [[nodiscard]] static std::string item_json(const Item& item);
  [[nodiscard]] static std::string part_json(const Item& item);
  [[nodiscard]] std::string response_json() const;
  [[nodiscard]] std::string_view status() const;
  void store();

  const std::shared_ptr<ResponseRequest> response_;
  const bool stream_;
  const std::string model_;
  const double temperature_, top_p_;
  const std::uint64_t conversation_;
  const std::int64_t created_;
  tools::AnswerParser parser_;
  std::vector<Item> items_;
  bool thinks_ = false;  // The last piece was part of a thought.
  std::uint64_t thought_tokens_ = 0;
  std::uint64_t sequence_ = 0;
  bool ended_ = false;
  bool stored_ = false;
  inference::AnswerEnd end_;
};

}  // namespace weft::coordinator
