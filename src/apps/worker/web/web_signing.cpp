#include "apps/worker/web/web_signing.h"

#include <utility>

#include "apps/worker/web/imports.h"
#include "common/base/byte_reader.h"
#include "common/base/bytes.h"

namespace weft::worker::web {
namespace {

// Big-endian, so that the order of keys is that of tasks.
void append_number(ByteVector& out, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::uint8_t>(number >> shift));
}

Result<> answer_of(const TaskKey& key, std::string_view code, ByteSpan data) {
  if (!code.empty())
    return fail(error_code_from(code),
                "This browser cannot store a record of what it has signed, so it signs nothing: "
                "{}. Let the page store data, and reload it.",
                as_text(data));
  if (!data.empty() && data[0] == 0) return {};
  if (!data.empty() && data[0] == 2)
    return fail(ErrorCode::already_exists,
                "Task {} is too old for this browser to know whether it has signed a result of "
                "attempt {} before.",
                key.task.text(), key.attempt);
  return fail(ErrorCode::already_exists,
              "This browser has signed another result of attempt {} of task {}.", key.attempt,
              key.task.text());
}

std::uint32_t take_number(ByteReader& in) {
  std::uint32_t number = 0;
  for (const std::uint8_t byte : in.take(4)) number = number << 8 | byte;
  return number;
}

// Reads the bytes that weftSignedMarks writes.
SignedRoots::Marks read_marks(ByteSpan bytes) {
  SignedRoots::Marks marks;
  ByteReader in(bytes);
  const bool any_dropped = in.integer<std::uint8_t>() == 1;
  const auto dropped = in.fixed<JobId>();
  if (any_dropped) marks.dropped = dropped;
  while (in.whole() && !in.at_end()) {
    const auto job = in.fixed<JobId>();
    const std::uint32_t index = take_number(in);
    marks.jobs.emplace(job, SignedRoots::Marks::Place{index, take_number(in)});
  }
  return marks;
}

}  // namespace

bool WebSigning::forgotten(const PublicKey& coordinator, const TaskKey& key) const {
  const auto found = marks_->find(coordinator);
  return found != marks_->end() && found->second.forgotten(key);
}

void WebSigning::admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
                       std::function<void(Result<>)> done) {
  ByteVector name;
  append(name, coordinator.span());
  append(name, key.task.job.span());
  append_number(name, key.task.index);
  append_number(name, key.attempt);
  auto* callback = new FetchCallback{[marks = marks_, coordinator, key, done = std::move(done)](
                                         std::string_view code, ByteSpan data) {
    if (code.empty() && data.size() > 1)
      marks->insert_or_assign(coordinator, read_marks(data.subspan(1)));
    done(answer_of(key, code, data));
  }};
  weft_signed_admit(callback, name.data(), root.bytes.data(), entries_max_);
}

}  // namespace weft::worker::web
