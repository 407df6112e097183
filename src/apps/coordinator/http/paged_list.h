// A list of any length as pages of bounded size. One snapshot with all rows as text is made for all
// clients that ask within a quarter of a second (shared_answers.h); each client gets a page of it.
//
// A page continues after the key of a row, so that rows that appear or vanish meanwhile do not make
// others appear twice or be skipped. Threading: a value; read from any thread.
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
    std::string key;  // Place of the row: letters, digits and ':'; opaque to clients.
    std::string json;
  };
  std::string before;     // Text before the document's array: `{"sum":0,"balances":[`.
  std::vector<Row> rows;  // Rows, ordered by key once sort() was called.

  void sort();
  // Returns at most `count` rows after the key `from` as JSON; an empty `from` begins with the
  // first row. The document's member `next` is the `from` of the next page, or empty after the last
  // page.
  [[nodiscard]] std::string page(std::string_view from, std::size_t count) const;
};

using SharedList = Result<std::shared_ptr<const PagedList>>;
using SharedLists = SharedAnswers<SharedList>;

// The page that the query ?from=KEY&count=N asks for.
struct WantedPage {
  std::string from;
  std::size_t count = PagedList::count_max;
};
// Reads the query. `most` bounds the count and is its default; 0 removes the bound, in tests only.
// Fails with invalid_argument for other values.
[[nodiscard]] Result<WantedPage> wanted_page(const net::IncomingRequest& request,
                                             std::size_t most = PagedList::count_max);

// Makes the rows on a pool, off the core's thread, sorts them, and passes them to `take`.
void make_list(runtime::Pool& pool, const SharedLists::Take& take, std::function<PagedList()> make);

// Responds with the page of the list `name` that the request asks for.
void show_page(SharedLists& lists, const std::string& name, const net::IncomingRequest& request,
               const net::Respond& respond);

}  // namespace weft::coordinator
