#include "common/protocol/api.h"

#include <glaze/glaze.hpp>
#include <glaze/json/schema.hpp>

#include "common/base/format.h"

namespace weft::protocol::api {
namespace {

// Texts that are read need not be null-terminated.
constexpr glz::opts lenient{.null_terminated = false, .error_on_unknown_keys = false};

// Control characters in a name are escaped, or the output would not be JSON.
struct Escaping : glz::opts {
  bool escape_control_characters = true;
};

template <class View>
void add_schema(std::string& out, std::string_view name) {
  const auto schema = glz::write_json_schema<View>();
  if (!out.empty()) out += ",\n";
  out += weft::format("\"{}\":{}", name, schema ? *schema : "{}");
}

}  // namespace

template <class View>
std::string to_json(const View& view) {
  std::string text;
  (void)glz::write<Escaping{}>(view,
                               text);  // Writing plain structs of numbers and strings cannot fail.
  return text;
}

template <class View>
Result<View> from_json(std::string_view text) {
  View view;
  if (const auto error = glz::read<lenient>(view, text)) {
    return fail(ErrorCode::invalid_argument,
                "The answer is not what the coordinator's interface gives: {}",
                glz::format_error(error, text));
  }
  return view;
}

std::string api_schema() {
  std::string out;
  add_schema<Info>(out, "Info");
  add_schema<Submitted>(out, "Submitted");
  add_schema<Quote>(out, "Quote");
  add_schema<Jobs>(out, "Jobs");
  add_schema<Clients>(out, "Clients");
  add_schema<Tasks>(out, "Tasks");
  add_schema<Proof>(out, "Proof");
  add_schema<Verdict>(out, "Verdict");
  add_schema<Workers>(out, "Workers");
  add_schema<Ledger>(out, "Ledger");
  add_schema<LedgerAccount>(out, "LedgerAccount");
  add_schema<LedgerJob>(out, "LedgerJob");
  add_schema<Settlement>(out, "Settlement");
  add_schema<Owner>(out, "Owner");
  add_schema<Problem>(out, "Problem");
  return "{" + out + "}";
}

// The documents of the whole interface, one for each type.
template std::string to_json(const Info&);
template std::string to_json(const Identity&);
template std::string to_json(const Submitted&);
template std::string to_json(const Quote&);
template std::string to_json(const Job&);
template std::string to_json(const Verdict&);
template std::string to_json(const Jobs&);
template std::string to_json(const Client&);
template std::string to_json(const Clients&);
template std::string to_json(const Tasks&);
template std::string to_json(const Proof&);
template std::string to_json(const Worker&);
template std::string to_json(const Balance&);
template std::string to_json(const SettledOwner&);
template std::string to_json(const Workers&);
template std::string to_json(const Ledger&);
template std::string to_json(const LedgerAccount&);
template std::string to_json(const LedgerJob&);
template std::string to_json(const Settlement&);
template std::string to_json(const Owner&);
template std::string to_json(const Problem&);
template Result<Info> from_json(std::string_view);
template Result<Identity> from_json(std::string_view);
template Result<Quote> from_json(std::string_view);
template Result<Submitted> from_json(std::string_view);
template Result<Job> from_json(std::string_view);
template Result<Verdict> from_json(std::string_view);
template Result<Jobs> from_json(std::string_view);
template Result<Client> from_json(std::string_view);
template Result<Clients> from_json(std::string_view);
template Result<Tasks> from_json(std::string_view);
template Result<Proof> from_json(std::string_view);
template Result<Workers> from_json(std::string_view);
template Result<Ledger> from_json(std::string_view);
template Result<LedgerAccount> from_json(std::string_view);
template Result<LedgerJob> from_json(std::string_view);
template Result<Settlement> from_json(std::string_view);
template Result<Owner> from_json(std::string_view);
template Result<Problem> from_json(std::string_view);

}  // namespace weft::protocol::api
