#include "apps/worker/native/tcp_lines.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/hmac.h"

namespace weft::worker {

namespace wire = protocol::serving;

namespace {

constexpr std::size_t strangers_max = 64;
constexpr Duration hello_max = std::chrono::seconds(5);
constexpr Duration call_max = std::chrono::seconds(1);

}  // namespace

Result<TcpLine> TcpLine::parse(std::string_view text) {
  const auto malformed = [&] {
    return fail(ErrorCode::invalid_argument,
                "{} is not a line of the form tcp://ADDRESS:PORT#FINGERPRINT.", text);
  };
  constexpr std::string_view scheme = "tcp://";
  const auto hash = text.find('#');
  if (!text.starts_with(scheme) || hash == std::string_view::npos) return malformed();
  std::string_view where = text.substr(scheme.size(), hash - scheme.size());
  const auto colon = where.rfind(':');
  if (colon == std::string_view::npos) return malformed();
  TcpLine out;
  const std::string_view port = where.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc() || end != port.data() + port.size() || out.port == 0) return malformed();
  where = where.substr(0, colon);
  if (where.starts_with('[') && where.ends_with(']')) where = where.substr(1, where.size() - 2);
  out.address = where;
  out.fingerprint = text.substr(hash + 1);
  if (out.address.empty() || !Hash::parse(out.fingerprint)) return malformed();
  return out;
}

std::string TcpLine::text() const {
  return weft::format("tcp://{}:{}#{}", address.contains(':') ? "[" + address + "]" : address, port,
                      fingerprint);
}

Result<std::unique_ptr<TcpLines>> TcpLines::create(Options options) {
  std::unique_ptr<TcpLines> out(new TcpLines(std::move(options)));
  const Options& o = out->options_;
  WEFT_ASSIGN(out->listener_, net::StreamListener::create(
                                  {.address = o.listen, .port = o.port, .scratch = o.scratch},
                                  [lines = out.get()](std::shared_ptr<net::Stream> stream) {
                                    lines->taken(std::move(stream));
                                  }));
  out->line_ = TcpLine{.address = o.address.empty() ? o.listen : o.address,
                       .port = o.address_port == 0 ? out->listener_->port() : o.address_port,
                       .fingerprint = out->listener_->fingerprint()}
                   .text();
  return out;
}

TcpLines::~TcpLines() { *self_ = nullptr; }

void TcpLines::open(Chain chain, Events events) {
  close(chain.chain);
  Session& session = sessions_[chain.chain];
  session = {.epoch = chain.epoch, .index = chain.index, .events = std::move(events), .lines = {}};
  std::vector<std::pair<const Other*, std::shared_ptr<Line>>> calls;
  for (const Other& other : chain.others) {
    auto line = std::make_shared<Line>();
    line->token = from_hex(other.token).value_or(ByteVector{});
    session.lines[other.member] = line;
    if (chain.index < other.member) calls.emplace_back(&other, std::move(line));
  }
  for (const auto& [other, line] : calls) call(chain.chain, other->member, other->line, line);
  for (const auto& stranger : std::list(strangers_)) let_in(stranger);
}

bool TcpLines::calls(const std::string& address) const {
  const auto peer = net::Address::parse(address);
  std::vector<net::Address> own;
  for (const std::string& text : {options_.listen, options_.address}) {
    if (const auto parsed = net::Address::parse(text)) own.push_back(*parsed);
  }
  return peer && may_call(*peer, own, options_.calls);
}

void TcpLines::call(std::uint32_t chain, std::uint32_t member, const std::string& where,
                    const std::shared_ptr<Line>& line) {
  const auto found = TcpLine::parse(where);
  const auto give_up = [weak = std::weak_ptr(self_), chain, member, line] {
    if (const auto self = weak.lock(); self && *self != nullptr) (*self)->lost(chain, member, line);
  };
  if (!found || !calls(found->address) || line->token.size() != sizeof(wire::LineHello::token))
    return options_.after(Duration::zero(), give_up);
  net::dial({.address = found->address,
             .port = found->port,
             .fingerprint = found->fingerprint,
             .patience = call_max},
            [weak = std::weak_ptr(self_), chain, member, line,
             give_up](Result<std::shared_ptr<net::Stream>> stream) {
              const auto self = weak.lock();
              if (!self || *self == nullptr || !(*self)->is_current(chain, member, line)) return;
              if (!stream) {
                log_info("No direct line to a member of the chain: {}", stream.error().message);
                return give_up();
              }
              TcpLines& lines = **self;
              const Session& session = lines.sessions_.at(chain);
              wire::LineHello hello{.chain = chain,
                                    .epoch = session.epoch,
                                    .from = static_cast<std::uint16_t>(session.index),
                                    .to = static_cast<std::uint16_t>(member)};
              std::ranges::copy(line->token, hello.token.begin());
              line->stream = std::move(*stream);
              line->stream->send(wire::encode(hello));
              lines.use(chain, member, line);
            });
}

bool TcpLines::is_current(std::uint32_t chain, std::uint32_t member,
                          const std::shared_ptr<Line>& line) const {
  const auto session = sessions_.find(chain);
  if (session == sessions_.end()) return false;
  const auto known = session->second.lines.find(member);
  return known != session->second.lines.end() && known->second == line;
}

// Handles incoming bytes: for a caller first the welcome, then frames.
void TcpLines::use(std::uint32_t chain, std::uint32_t member, const std::shared_ptr<Line>& line) {
  const std::weak_ptr<Line> kept = line;
  const auto current = [weak = std::weak_ptr(self_), chain, member, kept](auto function) {
    const auto self = weak.lock();
    const auto still = kept.lock();
    if (self && *self != nullptr && still && (*self)->is_current(chain, member, still))
      function(**self, still);
  };
  line->stream->listen({.bytes =
                            [chain, member, current](ByteSpan bytes) {
                              current([&](TcpLines& lines, const std::shared_ptr<Line>& that) {
                                if (!that->open) {
                                  if (bytes.empty()) return;
                                  if (bytes[0] != wire::line_welcome)
                                    return lines.lost(chain, member, that);
                                  bytes = bytes.subspan(1);
                                  that->open = true;
                                  const auto open = lines.sessions_.at(chain).events.open;
                                  open(member, "tcp");
                                }
                                const auto read = that->reader.read(bytes, [&](ByteVector frame) {
                                  if (!lines.is_current(chain, member, that)) return false;
                                  const auto take = lines.sessions_.at(chain).events.frame;
                                  take(member, std::move(frame));
                                  return true;
                                });
                                if (!read) {
                                  log_warning("A direct line is given up: {}",
                                              read.error().message);
                                  lines.lost(chain, member, that);
                                }
                              });
                            },
                        .closed =
                            [chain, member, current] {
                              current([&](TcpLines& lines, const std::shared_ptr<Line>& that) {
                                lines.lost(chain, member, that);
                              });
                            }});
}

void TcpLines::lost(std::uint32_t chain, std::uint32_t member, const std::shared_ptr<Line>& line) {
  if (!is_current(chain, member, line)) return;
  if (line->stream) line->stream->close();
  Session& session = sessions_.at(chain);
  session.lines.erase(member);
  const auto closed = session.events.closed;
  closed(member);
}

void TcpLines::taken(std::shared_ptr<net::Stream> stream) {
  if (strangers_.size() >= strangers_max) return stream->close();
  const auto stranger =
      std::make_shared<Stranger>(Stranger{.stream = std::move(stream), .said = {}});
  strangers_.push_back(stranger);
  const auto with = [weak = std::weak_ptr(self_), kept = std::weak_ptr(stranger)](auto function) {
    const auto self = weak.lock();
    const auto one = kept.lock();
    if (self && *self != nullptr && one) function(**self, one);
  };
  stranger->stream->listen(
      {.bytes =
           [with](ByteSpan bytes) {
             with([&](TcpLines& lines, const auto& one) { lines.on_stranger(one, bytes); });
           },
       .closed = [with] { with([](TcpLines& lines, const auto& one) { lines.drop(one); }); }});
  options_.after(hello_max,
                 [with] { with([](TcpLines& lines, const auto& one) { lines.drop(one); }); });
}

void TcpLines::drop(const std::shared_ptr<Stranger>& stranger) {
  if (std::erase(strangers_, stranger) > 0) stranger->stream->close();
}

void TcpLines::on_stranger(const std::shared_ptr<Stranger>& stranger, ByteSpan bytes) {
  // A caller sends only its hello before the welcome.
  if (stranger->said.size() + bytes.size() > wire::line_hello_bytes) return drop(stranger);
  append(stranger->said, bytes);
  if (stranger->said.size() == wire::line_hello_bytes) let_in(stranger);
}

// Checks a caller's hello. A caller may connect before this worker has linked the epoch of the
// chain: it then waits until the worker has done so, but at most hello_max.
void TcpLines::let_in(const std::shared_ptr<Stranger>& stranger) {
  if (stranger->said.size() < wire::line_hello_bytes) return;
  const auto hello = wire::decode_line_hello(stranger->said);
  if (!hello) return drop(stranger);
  const auto found = sessions_.find(hello->chain);
  if (found == sessions_.end() || found->second.epoch < hello->epoch) return;
  Session& session = found->second;
  const auto line = session.lines.find(hello->from);
  if (session.epoch != hello->epoch || session.index != hello->to || hello->from >= session.index ||
      line == session.lines.end() || line->second->stream != nullptr ||
      !crypto::equal_in_constant_time(hello->token, line->second->token)) {
    log_warning(
        "{} connects as a member of a chain, with a token that is not valid for that member.",
        stranger->stream->peer());
    return drop(stranger);
  }
  const std::shared_ptr<Line> kept = line->second;
  std::erase(strangers_, stranger);
  kept->stream = stranger->stream;
  kept->open = true;
  const std::array<std::uint8_t, 1> welcome{wire::line_welcome};
  kept->stream->send(welcome);
  use(hello->chain, hello->from, kept);
  const auto open = session.events.open;
  open(hello->from, "tcp");
}

bool TcpLines::send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) {
  const auto session = sessions_.find(chain);
  if (session == sessions_.end()) return false;
  const auto line = session->second.lines.find(member);
  if (line == session->second.lines.end() || !line->second->open) return false;
  line->second->stream->send(wire::encode_line_frame(frame));
  return true;
}

void TcpLines::close(std::uint32_t chain) {
  const auto session = sessions_.extract(chain);
  if (session.empty()) return;
  for (const auto& [member, line] : session.mapped().lines) {
    if (line->stream) line->stream->close();
  }
}

}  // namespace weft::worker
