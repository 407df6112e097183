// Serves the files of the web page from one folder, as browsers need them: content types, entity
// tags, compression, and permanent caching of file names that carry their hash. A file is read when
// it is first requested and again when it has changed. No file outside of the folder is served.
//
// Threading: any thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "common/base/guarded.h"
#include "platform/net/http.h"

namespace weft::net {

// Returns the origin "https://host:port" of a URL, for the page's Content-Security-Policy. Empty
// for texts that are no URL and for characters that no address has.
[[nodiscard]] std::string origin_of(std::string_view url);

class StaticFiles {
 public:
  // `missing` is the page for / if the folder has no index.html. `connects` is an origin that the
  // page may contact besides this server, or empty.
  StaticFiles(std::filesystem::path folder, std::string missing, const std::string& connects);

  // Returns the requested file, or 404. A path without an extension belongs to the page's own
  // router and returns index.html.
  [[nodiscard]] Reply get(const IncomingRequest& request);

 private:
  struct File {
    std::filesystem::file_time_type changed;
    std::string etag;
    std::string body;
    std::string gzip;  // Compressed bytes; empty if they would not be fewer.
  };
  [[nodiscard]] std::shared_ptr<const File> load(const std::filesystem::path& path);

  const std::filesystem::path folder_;
  const std::string missing_;
  const std::string policy_;  // The Content-Security-Policy of the page.
  Guarded<std::map<std::filesystem::path, std::shared_ptr<const File>>> files_;
};

}  // namespace weft::net
