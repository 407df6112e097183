// Tests that a list of any length is sent in pages of bounded size, and that rows that appear or
// vanish meanwhile do not repeat or hide other rows.
#include "apps/coordinator/http/paged_list.h"

#include <gtest/gtest.h>

#include <set>

#include "common/base/format.h"
#include "common/json/json.h"

namespace weft::coordinator {
namespace {

PagedList list_of(const std::set<int>& numbers) {
  PagedList list{.before = R"({"all":3,"rows":[)", .rows = {}};
  for (const int number : numbers)
    list.rows.insert(list.rows.begin(),
                     {.key = weft::format("{:05}", number), .json = std::to_string(number)});
  list.sort();
  return list;
}

struct Page {
  std::vector<int> rows;
  std::string next;
};
Page page_of(const PagedList& list, const std::string& from, std::size_t count) {
  const std::string text = list.page(from, count);
  const auto root = json::parse(text).value();
  const auto object = root.object({"all", "rows", "next"}).value();
  Page page;
  const auto rows = object.get("rows").value().array().value();
  for (const json::Value& row : rows)
    page.rows.push_back(static_cast<int>(row.unsigned_integer(1'000'000).value()));
  if (const auto next = object.find("next")) page.next = next->string({}).value();
  return page;
}

TEST(PagedList, GivesEachRowOnceInBoundedPages) {
  std::set<int> numbers;
  for (int i = 0; i < 2500; ++i) numbers.insert(i);
  const PagedList list = list_of(numbers);

  std::vector<int> seen;
  std::string from;
  std::size_t pages = 0;
  do {
    const Page page = page_of(list, from, PagedList::count_max);
    EXPECT_LE(page.rows.size(), PagedList::count_max);
    seen.insert(seen.end(), page.rows.begin(), page.rows.end());
    from = page.next;
    ++pages;
  } while (!from.empty());

  EXPECT_EQ(seen, std::vector<int>(numbers.begin(), numbers.end()));
  EXPECT_EQ(pages, 3U);
}

TEST(PagedList, NoOneAsksForMoreThanAPage) {
  std::set<int> numbers;
  for (int i = 0; i < 2500; ++i) numbers.insert(i);
  const PagedList list = list_of(numbers);
  net::IncomingRequest request;
  const auto rows = [&](std::size_t most) {
    const auto page = wanted_page(request, most);
    return page ? page_of(list, page->from, page->count).rows.size() : 0;
  };
  EXPECT_EQ(rows(PagedList::count_max), PagedList::count_max);
  EXPECT_EQ(rows(0), 2500U) << "the attack";
  request.query["count"] = "2500";
  EXPECT_EQ(rows(PagedList::count_max), 0U) << "refused";
  EXPECT_EQ(rows(0), 2500U) << "the attack";
}

TEST(PagedList, GoesOnAfterARowThatIsGone) {
  const Page first = page_of(list_of({1, 2, 3, 4}), "", 2);
  EXPECT_EQ(first.rows, (std::vector{1, 2}));

  const Page second = page_of(list_of({0, 3, 4}), first.next, 2);

  EXPECT_EQ(second.rows, (std::vector{3, 4}));
  EXPECT_EQ(second.next, "");
}

TEST(PagedList, IsADocumentWithoutRowsToo) {
  EXPECT_EQ(list_of({}).page("", 10), R"({"all":3,"rows":[],"next":""})");
  EXPECT_EQ(list_of({1}).page("99999", 10), R"({"all":3,"rows":[],"next":""})");
}

TEST(PagedList, RefusesPagesThatAreNone) {
  const auto wanted = [](std::map<std::string, std::string> query) {
    net::IncomingRequest request;
    request.query = std::move(query);
    return wanted_page(request);
  };
  EXPECT_EQ(wanted({})->count, PagedList::count_max);
  EXPECT_EQ(wanted({{"count", "7"}, {"from", "k"}})->from, "k");
  for (const char* count : {"0", "1001", "-1", "1e3", ""})
    EXPECT_EQ(wanted({{"count", count}}).error().code, ErrorCode::invalid_argument) << count;
  EXPECT_FALSE(wanted({{"from", std::string(513, 'k')}}).has_value());
}

}  // namespace
}  // namespace weft::coordinator
