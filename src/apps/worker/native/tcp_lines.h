// Direct links between native workers: TLS over TCP (platform/net/streams.h), with the protocol of
// common/protocol/peer_line.h. The listener is identified by the certificate fingerprint that it
// offered to the coordinator, the caller by the token that the coordinator gave to both for this
// epoch of their chain. See docs/decisions/0007.
//
// Threading: all functions run on the thread of the Client that made the object, as for all
// PeerLines. Bounds: connections that have not identified themselves (strangers_max, hello_max).
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "apps/worker/native/peer_address.h"
#include "common/protocol/peer_line.h"
#include "platform/net/streams.h"
#include "worker/inference/serving.h"

namespace weft::worker {

class TcpLines final : public PeerLines {
 public:
  struct Options {
    std::string listen = "127.0.0.1";  // Numeric address to listen at.
    std::uint16_t port = 0;            // Port to listen at; 0: a free one.
    std::string address{};             // Address that other workers are told; empty: `listen`.
    std::uint16_t address_port = 0;    // Port for other workers; 0: that of the listener.
    PeerAddressRules calls{};          // Addresses of other members that may be called.
    std::filesystem::path scratch;     // An existing folder; holds the TLS key until it is read.
    std::function<void(Duration, std::function<void()>)> after;
  };
  // Fails with invalid_argument or unavailable if the address cannot be listened at.
  [[nodiscard]] static Result<std::unique_ptr<TcpLines>> create(Options options);
  TcpLines(const TcpLines&) = delete;
  ~TcpLines() override;

  // The link that the worker offers: "tcp://127.0.0.1:4711#FINGERPRINT".
  [[nodiscard]] const std::string& line() const { return line_; }

  void open(Chain chain, Events events) override;
  void signal(std::uint32_t, std::uint32_t, std::uint32_t, std::string) override {}
  [[nodiscard]] bool send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) override;
  void close(std::uint32_t chain) override;

 private:
  struct Line {
    std::shared_ptr<net::Stream> stream;  // Null while it is being connected.
    ByteVector token;
    protocol::serving::LineReader reader;
    bool open = false;
  };
  struct Session {
    std::uint32_t epoch = 0;
    std::uint32_t index = 0;
    Events events;
    std::map<std::uint32_t, std::shared_ptr<Line>> lines;  // Links by member of the chain.
  };
  // A caller that has not said which member it is, or whose chain this worker has not linked yet.
  struct Stranger {
    std::shared_ptr<net::Stream> stream;
    ByteVector said;
  };

  explicit TcpLines(Options options) : options_(std::move(options)) {}
  [[nodiscard]] bool calls(const std::string& address) const;
  void taken(std::shared_ptr<net::Stream> stream);
  void on_stranger(const std::shared_ptr<Stranger>& stranger, ByteSpan bytes);
  void let_in(const std::shared_ptr<Stranger>& stranger);
  void drop(const std::shared_ptr<Stranger>& stranger);
  void call(std::uint32_t chain, std::uint32_t member, const std::string& where,
            const std::shared_ptr<Line>& line);
  void use(std::uint32_t chain, std::uint32_t member, const std::shared_ptr<Line>& line);
  [[nodiscard]] bool is_current(std::uint32_t chain, std::uint32_t member,
                                const std::shared_ptr<Line>& line) const;
  void lost(std::uint32_t chain, std::uint32_t member, const std::shared_ptr<Line>& line);

  const Options options_;
  std::string line_;
  std::map<std::uint32_t, Session> sessions_;  // Sessions by chain.
  std::list<std::shared_ptr<Stranger>> strangers_;
  std::unique_ptr<net::StreamListener> listener_;
  const std::shared_ptr<TcpLines*> self_ =
      std::make_shared<TcpLines*>(this);  // Callbacks that run later hold it weakly.
};

// A link "tcp://HOST:PORT#FINGERPRINT" with a numeric address (IPv6 in brackets).
struct TcpLine {
  std::string address;
  std::uint16_t port = 0;
  std::string fingerprint;

  [[nodiscard]] static Result<TcpLine> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

}  // namespace weft::worker
