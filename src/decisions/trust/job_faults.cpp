#include "decisions/trust/job_faults.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/byte_reader.h"

namespace weft::trust {
namespace {

// The version of the stored layout.
constexpr std::uint8_t version = 1;

void add_text(ByteVector& out, std::string_view text) {
  append_le(out, static_cast<std::uint32_t>(text.size()));
  append(out, as_bytes(text));
}
std::string read_text(ByteReader& reader) {
  return std::string(as_text(reader.take(reader.integer<std::uint32_t>())));
}

void add_keys(ByteVector& out, const std::set<PublicKey>& keys) {
  append_le(out, static_cast<std::uint32_t>(keys.size()));
  for (const PublicKey& key : keys) append(out, key.span());
}
std::set<PublicKey> read_keys(ByteReader& reader) {
  std::set<PublicKey> keys;
  for (std::size_t left = reader.count(PublicKey::size); left > 0; --left)
    keys.insert(reader.fixed<PublicKey>());
  return keys;
}

// The bit in the byte of `devices` that says that steps were refuted, and not the result. An older
// program, which does not know this bit, reads the byte as Devices::divided, so that the mismatch
// does not count.
constexpr std::uint8_t steps_bit = 0x80;

void add_mismatch(ByteVector& out, const Mismatch& mismatch) {
  append(out, mismatch.worker.span());
  append_le(out, static_cast<std::uint64_t>(mismatch.penalty));
  append_le(out, mismatch.task.index);
  append(out, mismatch.root.span());
  const std::uint8_t steps = mismatch.finding.refuted == Refuted::steps ? steps_bit : 0;
  out.push_back(static_cast<std::uint8_t>(mismatch.finding.devices) | steps);
  add_text(out, mismatch.finding.vendor);
  out.push_back(mismatch.finding.part ? 1 : 0);
  const Part part = mismatch.finding.part.value_or(Part{});
  append_le(out, part.first);
  append_le(out, part.count);
  out.push_back(mismatch.counted ? 1 : 0);
  out.push_back(mismatch.seen_twice ? 1 : 0);
  append_le(out, std::bit_cast<std::uint32_t>(mismatch.agreed));
  add_keys(out, mismatch.asked);
}

// The fewest bytes that a stored mismatch takes.
constexpr std::size_t mismatch_bytes_min = 32 + 8 + 4 + 32 + 1 + 4 + 1 + 4 + 4 + 1 + 1 + 4 + 4;

Mismatch read_mismatch(const JobId& job, ByteReader& reader) {
  Mismatch mismatch;
  mismatch.worker = reader.fixed<PublicKey>();
  mismatch.penalty = static_cast<MicroCredits>(reader.integer<std::uint64_t>());
  mismatch.task = {.job = job, .index = reader.integer<std::uint32_t>()};
  mismatch.root = reader.fixed<Hash>();
  const auto devices = reader.integer<std::uint8_t>();
  mismatch.finding.refuted = (devices & steps_bit) != 0 ? Refuted::steps : Refuted::result;
  mismatch.finding.devices =
      static_cast<Devices>(std::min<std::uint8_t>(devices & static_cast<std::uint8_t>(~steps_bit),
                                                  static_cast<std::uint8_t>(Devices::divided)));
  mismatch.finding.vendor = read_text(reader);
  const bool has_part = reader.integer<std::uint8_t>() != 0;
  Part part;
  part.first = reader.integer<std::uint32_t>();
  part.count = reader.integer<std::uint32_t>();
  if (has_part) mismatch.finding.part = part;
  mismatch.counted = reader.integer<std::uint8_t>() != 0;
  mismatch.seen_twice = reader.integer<std::uint8_t>() != 0;
  mismatch.agreed = std::bit_cast<std::int32_t>(reader.integer<std::uint32_t>());
  mismatch.asked = read_keys(reader);
  // A mismatch that already counts is not polled again.
  mismatch.polled = mismatch.counted;
  return mismatch;
}

}  // namespace

bool StoredFaults::empty() const {
  return undecided.empty() && faults.parts_polled == 0 &&
         std::ranges::all_of(faults.vendors, [](const auto& each) {
           const VendorTally& tally = each.second;
           return tally.wrong.empty() && tally.open.empty() && !tally.divided;
         });
}

ByteVector to_bytes(const StoredFaults& stored) {
  ByteVector out{version};
  append_le(out, stored.faults.parts_polled);
  append_le(out, static_cast<std::uint32_t>(stored.faults.vendors.size()));
  for (const auto& [vendor, tally] : stored.faults.vendors) {
    add_text(out, vendor);
    out.push_back(tally.divided ? 1 : 0);
    add_keys(out, tally.right);
    add_keys(out, tally.wrong);
    append_le(out, static_cast<std::uint32_t>(tally.open.size()));
    for (const Mismatch& each : tally.open) add_mismatch(out, each);
  }
  append_le(out, static_cast<std::uint32_t>(stored.undecided.size()));
  for (const auto& [vendor, mismatch] : stored.undecided) {
    add_text(out, vendor);
    add_mismatch(out, mismatch);
  }
  return out;
}

Result<StoredFaults> read_faults(const JobId& job, ByteSpan bytes) {
  constexpr std::size_t vendor_bytes_min = 4 + 1 + 4 + 4 + 4;
  ByteReader reader(bytes);
  StoredFaults stored;
  const bool known = reader.integer<std::uint8_t>() == version;
  stored.faults.parts_polled = reader.integer<std::uint64_t>();
  for (std::size_t vendors = reader.count(vendor_bytes_min); vendors > 0; --vendors) {
    VendorTally& tally = stored.faults.vendors[read_text(reader)];
    tally.divided = reader.integer<std::uint8_t>() != 0;
    tally.right = read_keys(reader);
    tally.wrong = read_keys(reader);
    for (std::size_t open = reader.count(mismatch_bytes_min); open > 0; --open)
      tally.open.push_back(read_mismatch(job, reader));
  }
  for (std::size_t left = reader.count(4 + mismatch_bytes_min); left > 0; --left) {
    std::string vendor = read_text(reader);
    stored.undecided.emplace_back(std::move(vendor), read_mismatch(job, reader));
  }
  if (!known || !reader.at_end())
    return fail(ErrorCode::data_loss,
                "What is stored of the wrong results of job {} cannot be read.", job.text());
  return stored;
}

}  // namespace weft::trust
