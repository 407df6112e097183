#include "apps/coordinator/http/paged_list.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>

#include "common/base/format.h"

namespace weft::coordinator {

void PagedList::sort() { std::ranges::sort(rows, {}, &Row::key); }

std::string PagedList::page(std::string_view from, std::size_t count) const {
  const auto first =
      from.empty() ? rows.begin() : std::ranges::upper_bound(rows, from, {}, &Row::key);
  const auto left = static_cast<std::size_t>(rows.end() - first);
  const auto end = first + static_cast<std::ptrdiff_t>(std::min(left, count));
  std::size_t bytes = before.size() + 128;
  for (auto row = first; row != end; ++row) bytes += row->json.size() + 1;
  std::string text;
  text.reserve(bytes);
  text += before;
  for (auto row = first; row != end; ++row) {
    if (row != first) text += ',';
    text += row->json;
  }
  const bool goes_on = end != rows.end() && end != first;
  return text + weft::format(R"(],"next":"{}"}})", goes_on ? (end - 1)->key : std::string());
}

Result<WantedPage> wanted_page(const net::IncomingRequest& request, std::size_t most) {
  WantedPage page{.from = {}, .count = most};
  if (most == 0) page.count = most = std::numeric_limits<std::size_t>::max();
  if (const auto from = request.query.find("from"); from != request.query.end()) {
    constexpr std::size_t key_bytes_max = 512;
    if (from->second.size() > key_bytes_max)
      return fail(ErrorCode::invalid_argument,
                  "from= has {} bytes, so it is not the \"next\" of the previous page.",
                  from->second.size());
    page.from = from->second;
  }
  if (const auto count = request.query.find("count"); count != request.query.end()) {
    const std::string& text = count->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), page.count);
    if (error != std::errc() || end != text.data() + text.size() || page.count == 0 ||
        page.count > most)
      return fail(ErrorCode::invalid_argument, "count={} is not a number from 1 to {}.", text,
                  most);
  }
  return page;
}

void make_list(runtime::Pool& pool, const SharedLists::Take& take,
               std::function<PagedList()> make) {
  static std::atomic<std::uint64_t> turn = 0;
  const bool queued = pool.post(turn.fetch_add(1), [take, make = std::move(make)] {
    auto list = std::make_shared<PagedList>(make());
    list->sort();
    take(std::shared_ptr<const PagedList>(std::move(list)));
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

void show_page(SharedLists& lists, const std::string& name, const net::IncomingRequest& request,
               const net::Respond& respond) {
  auto page = wanted_page(request);
  if (!page) return respond(net::problem(page.error()));
  lists.get(name, [respond, page = std::move(*page)](const SharedList& list) {
    if (!list) return respond(net::problem(list.error()));
    respond(net::json_reply(200, (*list)->page(page.from, page.count)));
  });
}

}  // namespace weft::coordinator
