#include "platform/net/drogon_setup.h"

#include <atomic>
#include <mutex>
#include <string_view>

#include <drogon/HttpAppFramework.h>
#include <trantor/utils/Logger.h>

#include "common/base/log.h"

namespace weft::net {

namespace {
std::atomic<bool> loud = false;
}

void let_drogon_complain(bool on) { loud = on; }

void set_up_drogon_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    // trantor's messages are about single connections (a reset, a bad frame): they help only in a
    // search for an error.
    trantor::Logger::setLogLevel(trantor::Logger::kWarn);
    trantor::Logger::setOutputFunction(
        [](const char* text, std::uint64_t size) {
          std::string_view line(text, size);
          while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
            line.remove_suffix(1);
          if (loud) {
            log_error("{}", line);
          } else {
            log_debug("{}", line);
          }
        },
        [] {});
    drogon::app().setClientMaxWebSocketMessageSize(drogon_message_bytes_max);
  });
}

}  // namespace weft::net
