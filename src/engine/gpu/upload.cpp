#include "engine/gpu/upload.h"

#include <algorithm>
#include <array>

namespace weft::gpu {

Async<Result<>> Uploader::make_room(std::uint64_t bytes) {
  open_bytes_ += bytes;
  if (open_bytes_ < options_.bytes_in_flight_max / 2) co_return Result<>{};
  Wait<> wait(device_.backend().ready());
  device_.backend().idle(wait.completion());
  under_way_.push_back({std::move(wait), std::exchange(open_bytes_, 0)});
  while (under_way_.size() > 1) {
    Batch oldest = std::move(under_way_.front());
    under_way_.pop_front();
    WEFT_CO_OK(co_await oldest.wait);
  }
  if (auto lost = device_.lost())
    co_return fail(ErrorCode::device_lost, "The GPU device is lost: {}", *lost);
  co_return Result<>{};
}

Async<Result<>> Uploader::write(const Buffer& buffer, std::uint64_t offset, ByteSpan bytes) {
  if (offset % 4 != 0)
    co_return fail(ErrorCode::invalid_argument,
                   "An upload begins at byte {}, which is not a multiple of 4.", offset);
  if (offset > buffer.size() || bytes.size() > buffer.size() - offset) {
    co_return fail(ErrorCode::invalid_argument,
                   "An upload of {} bytes at {} does not fit into a buffer of {}.", bytes.size(),
                   offset, buffer.size());
  }
  const std::uint64_t piece_max =
      std::max<std::uint64_t>(4, options_.bytes_in_flight_max / 8 / 4 * 4);
  while (bytes.size() >= 4) {
    const std::uint64_t piece = std::min<std::uint64_t>(bytes.size() / 4 * 4, piece_max);
    device_.write(buffer, offset, bytes.first(piece));
    bytes = bytes.subspan(piece);
    offset += piece;
    WEFT_CO_OK(co_await make_room(piece));
  }
  if (!bytes.empty()) {
    std::array<std::uint8_t, 4> last{};
    std::ranges::copy(bytes, last.begin());
    device_.write(buffer, offset, last);
    WEFT_CO_OK(co_await make_room(4));
  }
  co_return Result<>{};
}

Async<Result<>> Uploader::finish() {
  under_way_.clear();
  open_bytes_ = 0;
  co_return co_await device_.idle();
}

}  // namespace weft::gpu
