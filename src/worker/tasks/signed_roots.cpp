#include "worker/tasks/signed_roots.h"

#include <iterator>

#include "common/base/byte_reader.h"
#include "common/base/check.h"

namespace weft::worker {
namespace {

void append_key(ByteVector& out, const TaskKey& key) {
  append(out, key.task.job.span());
  append_le(out, key.task.index);
  append_le(out, key.attempt);
}

TaskKey read_key(ByteReader& in) {
  const auto job = in.fixed<JobId>();
  const auto index = in.integer<std::uint32_t>();
  return {.task = {.job = job, .index = index}, .attempt = in.integer<std::uint32_t>()};
}

// Before all keys, since an attempt 0 is never signed: the mark where nothing is forgotten.
constexpr TaskKey nothing{};

}  // namespace

SignedRoots::Verdict SignedRoots::look(const TaskKey& key, const Hash& root) const {
  if (key.attempt == 0) return Verdict::forgotten;
  if (const auto found = roots_.find(key); found != roots_.end())
    return found->second == root ? Verdict::same : Verdict::other;
  return mark_ && key <= *mark_ ? Verdict::forgotten : Verdict::fresh;
}

ByteVector SignedRoots::add(const TaskKey& key, const Hash& root) {
  check(look(key, root) == Verdict::fresh, "a root is signed once");
  roots_.emplace(key, root);
  ByteVector record;
  append_key(record, key);
  append(record, root.span());
  return record;
}

bool SignedRoots::shrink() {
  if (roots_.size() <= entries_max_) return false;
  const auto kept =
      std::next(roots_.begin(), static_cast<std::ptrdiff_t>(roots_.size() - entries_max_ / 2));
  mark_ = std::prev(kept)->first;
  roots_.erase(roots_.begin(), kept);
  return true;
}

ByteVector SignedRoots::all() const {
  ByteVector out;
  out.reserve(key_bytes + roots_.size() * record_bytes);
  append_key(out, mark_.value_or(nothing));
  for (const auto& [key, root] : roots_) {
    append_key(out, key);
    append(out, root.span());
  }
  return out;
}

SignedRoots SignedRoots::from(ByteSpan stored, std::size_t entries_max) {
  SignedRoots out(entries_max);
  if (stored.size() < key_bytes) return out;
  ByteReader in(stored.first(key_bytes));
  if (const TaskKey mark = read_key(in); mark != nothing) out.mark_ = mark;
  out.take(stored.subspan(key_bytes));
  return out;
}

void SignedRoots::take(ByteSpan records) {
  for (; records.size() >= record_bytes; records = records.subspan(record_bytes)) {
    ByteReader in(records.first(record_bytes));
    const TaskKey key = read_key(in);
    roots_.try_emplace(key, in.fixed<Hash>());
  }
}

}  // namespace weft::worker
