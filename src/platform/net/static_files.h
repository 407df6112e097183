// The files of the web page, from one folder, with what browsers need: types, entity tags,
// compression, and permanent caching of names that carry their hash. A file is read when first
// asked for and again when it has changed. Never leaves the folder.
//
// Threading: any.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "common/base/guarded.h"
#include "platform/net/http.h"

namespace weft::net {

// "https://host:port" of an address, for the page's Content-Security-Policy; empty for other texts
// and for letters that addresses do not have.
[[nodiscard]] std::string origin_of(std::string_view url);

class StaticFiles {
 public:
  // `missing` is the page that is shown for / where the folder has no index.html; `connects` an
  // origin that the page may ask besides this server, or empty.
  StaticFiles(std::filesystem::path folder, std::string missing, const std::string& connects);

  // 404 for what is not there; paths without an extension are the page's own, and get index.html.
  [[nodiscard]] Reply get(const IncomingRequest& request);

 private:
  struct File {
    std::filesystem::file_time_type changed;
    std::string etag;
    std::string body;
    std::string gzip;  // Empty where it would not be smaller.
  };
  [[nodiscard]] std::shared_ptr<const File> load(const std::filesystem::path& path);

  const std::filesystem::path folder_;
  const std::string missing_;
  const std::string policy_;  // Content-Security-Policy of the page.
  Guarded<std::map<std::filesystem::path, std::shared_ptr<const File>>> files_;
};

}  // namespace weft::net
