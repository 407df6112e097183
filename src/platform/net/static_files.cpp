#include "platform/net/static_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <zlib.h>

#include "common/base/format.h"

namespace weft::net {

namespace {

constexpr std::uintmax_t file_bytes_max = std::uintmax_t{64} << 20;
constexpr std::size_t files_max = 4096;

std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;  // Adding 16 selects a gzip header instead of zlib's.
  if (deflateInit2(&stream, 6, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

// True for files whose names contain a hash from the bundler, as in app-B3kd91xQ.js: their content
// never changes.
bool carries_hash(const std::filesystem::path& path) {
  return path.parent_path().filename() == "assets";
}

std::string policy_of(const std::string& connects) {
  return weft::format(
      "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
      "connect-src 'self'{}{}; img-src 'self' data: blob:; media-src 'self' blob: https:; "
      "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'",
      connects.empty() ? "" : " ", connects);
}

}  // namespace

std::string origin_of(std::string_view url) {
  const std::size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return "";
  const std::string_view host = url.substr(scheme, url.find_first_of("/?#", scheme) - scheme);
  const bool plain = std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:[]").contains(c);
  });
  return host.empty() || !plain ? "" : std::string(url.substr(0, scheme + host.size()));
}

StaticFiles::StaticFiles(std::filesystem::path folder, std::string missing,
                         const std::string& connects)
    : folder_(std::move(folder)), missing_(std::move(missing)), policy_(policy_of(connects)) {}

std::shared_ptr<const StaticFiles::File> StaticFiles::load(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return nullptr;
  const auto changed = std::filesystem::last_write_time(path, error);
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > file_bytes_max) return nullptr;
  auto known = files_.with([&](auto& files) {
    const auto found = files.find(path);
    return found != files.end() && found->second->changed == changed ? found->second : nullptr;
  });
  if (known) return known;
  std::ifstream in(path, std::ios::binary);
  auto file = std::make_shared<File>();
  file->changed = changed;
  file->body.assign(std::istreambuf_iterator<char>(in), {});
  if (!in.good() && !in.eof()) return nullptr;
  const auto sum = crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(file->body.data()),
                         static_cast<uInt>(file->body.size()));
  file->etag = weft::format("{:08x}-{:x}", sum, file->body.size());
  const std::string_view type = content_type_of(path);
  if (type.starts_with("text/") || type.contains("json") || type.contains("svg") ||
      type.contains("wasm")) {
    file->gzip = gzip(file->body);
    if (file->gzip.size() >= file->body.size()) file->gzip.clear();
  }
  files_.with([&](auto& files) {
    if (files.size() >= files_max) files.clear();
    files[path] = file;
  });
  return file;
}

Reply StaticFiles::get(const IncomingRequest& request) {
  std::filesystem::path relative =
      std::filesystem::path(request.path).relative_path().lexically_normal();
  if (relative.empty() || relative == ".") relative = "index.html";
  const bool leaves = std::ranges::any_of(
      relative, [](const auto& part) { return part == ".." || part.string().starts_with("."); });
  auto file = leaves || folder_.empty() ? nullptr : load(folder_ / relative);
  if (!file && !relative.has_extension() && !leaves && !folder_.empty()) {
    relative = "index.html";
    file = load(folder_ / relative);
  }
  if (!file && relative == "index.html") {
    Reply page = text_reply(200, missing_, "text/html; charset=utf-8");
    page.headers["content-security-policy"] = "default-src 'none'; style-src 'unsafe-inline'";
    return page;
  }
  if (!file)
    return problem({ErrorCode::not_found, weft::format("There is nothing at {}.", request.path)});

  Reply reply;
  const bool gzipped = !file->gzip.empty() && request.header("accept-encoding").contains("gzip");
  // The compressed and the plain file are two representations, so each has its own tag.
  const std::string tag = weft::format("\"{}{}\"", file->etag, gzipped ? "-gz" : "");
  reply.headers = {{"etag", tag},
                   {"content-type", std::string(content_type_of(relative))},
                   {"vary", "accept-encoding"},
                   {"cache-control",
                    carries_hash(relative) ? "public, max-age=31536000, immutable" : "no-cache"}};
  if (relative.extension() == ".html") reply.headers["content-security-policy"] = policy_;
  if (request.header("if-none-match").contains(tag)) {
    reply.status = 304;
    return reply;
  }
  if (gzipped) reply.headers["content-encoding"] = "gzip";
  reply.body = gzipped ? file->gzip : file->body;
  return reply;
}

}  // namespace weft::net
