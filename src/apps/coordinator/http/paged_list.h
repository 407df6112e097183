// A list of any length as pages of bounded size. A snapshot of it is made for all who ask within a
// quarter of a second (shared_answers.h), with each row as text; each asker gets a page of it.
//
// A page goes on after a row's key, so that rows that come and go meanwhile neither repeat nor hide
// others. Threading: a value; read from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/http/shared_answers.h"
#include "common/protocol/api.h"
#include "platform/net/http.h"
#include "platform/runtime/pool.h"

namespace weft::coordinator {

struct PagedList {
  static constexpr std::size_t count_max = protocol::api::page_rows_max;

  struct Row {
    std::string key;  // Opaque to others; of letters, digits and ':'.
    std::string json;
  };
  std::string before;     // The document up to its array: `{"sum":0,"balances":[`.
  std::vector<Row> rows;  // In the order of their keys, once sort() was called.

  void sort();
  // At most `count` rows after the key `from` (empty: from the first on), and the `next` page's
  // `from`, which is empty if there are no more.
  [[nodiscard]] std::string page(std::string_view from, std::size_t count) const;
};

using SharedList = Result<std::shared_ptr<const PagedList>>;
using SharedLists = SharedAnswers<SharedList>;

// The page that ?from=KEY&count=N ask for (at most count_max, which is the default too);
// invalid_argument for other values.
struct WantedPage {
  std::string from;
  std::size_t count = PagedList::count_max;
};
// `most`: in place of count_max; 0: no bound, which tests try.
[[nodiscard]] Result<WantedPage> wanted_page(const net::IncomingRequest& request,
                                             std::size_t most = PagedList::count_max);

// Makes the rows on a pool, off the core's thread, and hands them on in their order.
void make_list(runtime::Pool& pool, const SharedLists::Take& take, std::function<PagedList()> make);

// Answers with that page of the list `name`.
void show_page(SharedLists& lists, const std::string& name, const net::IncomingRequest& request,
               const net::Respond& respond);

}  // namespace weft::coordinator
