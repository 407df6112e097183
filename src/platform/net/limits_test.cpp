// Bounds on the resources that strangers can take from a server, tested with real sockets against a
// server in a child process (Drogon allows one server for each process). Each attack is tried
// twice: with the defaults, and with the field turned off that stops it.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "platform/net/server.h"
#include "platform/net/tls.h"

namespace weft::net {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Parses the fields that a test changes from the text of an environment variable.
Limits limits_from(const std::string& words) {
  Limits limits;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto value = std::stoull(word.substr(equals + 1));
    const auto time = std::chrono::milliseconds(value);
    if (name == "connections_per_address") limits.connections_per_address = value;
    if (name == "connections_max") limits.connections_max = value;
    if (name == "known_percent") limits.known_share = static_cast<double>(value) / 100;
    if (name == "largest_gives_way") limits.largest_gives_way = value != 0;
    if (name == "handshake_max") limits.handshake_max = time;
    if (name == "head_max") limits.head_max = time;
    if (name == "silent_max") limits.silent_max = time;
    if (name == "body_max") limits.body_max = time;
    if (name == "body_bytes_per_second") limits.body_bytes_per_second = value;
    if (name == "pipelined_max") limits.pipelined_max = value;
    if (name == "bodies_by_route") limits.bodies_by_route = value != 0;
    if (name == "greeting_max") limits.greeting_max = time;
    if (name == "greeting_bytes_max") limits.greeting_bytes_max = value;
    if (name == "greeting_sockets_max") limits.greeting_sockets_max = value;
    if (name == "lengths_after_upgrade") limits.lengths_after_upgrade = value != 0;
    if (name == "strangers_rates") limits.strangers_rates = static_cast<double>(value);
    if (name == "newcomer_burst") limits.newcomer_burst = static_cast<double>(value);
    if (name == "newcomers_rates") limits.newcomers_rates = static_cast<double>(value);
    if (name == "strangers_connections") limits.strangers_connections = static_cast<double>(value);
    if (name == "refusals_at_once") limits.refusals_at_once = value;
    if (name == "refusal_wait_max") limits.refusal_wait_max = time;
  }
  return limits;
}

// This is not a test: it runs the server of the other tests in a child process (see AServer).
TEST(LimitsChild, DISABLED_Serves) {
  const char* const folder = std::getenv("WEFT_LIMITS_FOLDER");
  ASSERT_NE(folder, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const fs::path at(folder);
  Server::Options options{.scratch = at / "incoming",
                          .limits = limits_from(std::getenv("WEFT_LIMITS")),
                          .rate_limit = std::nullopt};
  if (const char* const rate = std::getenv("WEFT_LIMITS_RATE"); rate != nullptr)
    options.rate_limit =
        RateLimit::Options{.per_second = std::atof(rate), .burst = 4 * std::atof(rate)};
  // If the server has one thread, the order of events in one round of the loop is known.
  if (std::getenv("WEFT_LIMITS_ONE_THREAD") != nullptr) options.threads = 1;
  if (std::getenv("WEFT_LIMITS_TLS") != nullptr)
    options.tls = self_signed(at / "tls", {"127.0.0.1"}, unix_now()).value();
  auto server = Server::create(std::move(options)).value();
  // A route that is answered only when its connection ends.
  server->route({.method = "GET",
                 .pattern = "/v1/slow",
                 .handle =
                     [](const IncomingRequest&, const Respond& respond) {
                       static std::vector<Respond> kept;
                       kept.push_back(respond);
                     },
                 .cost = 0});
  server->route({.method = "GET",
                 .pattern = "/v1/here",
                 .handle = [](const IncomingRequest&,
                              const Respond& respond) { respond(text_reply(200, "here")); },
                 .cost = 0});
  // The header names the client in this test, without a signature.
  server->known_clients([](const std::string& client) { return client == "funded"; });
  server->route({.method = "GET",
                 .pattern = "/v1/identified",
                 .handle =
                     [](const IncomingRequest& request, const Respond& respond) {
                       request.identify(std::string(request.header("weft-client")));
                       respond(text_reply(200, "identified"));
                     },
                 .cost = 1});
  server->route({.method = "GET",
                 .pattern = "/v1/counted",
                 .handle = [](const IncomingRequest&,
                              const Respond& respond) { respond(text_reply(200, "counted")); },
                 .cost = 1});
  server->route({.method = "POST",
                 .pattern = "/v1/large",
                 .handle =
                     [](const IncomingRequest& request, const Respond& respond) {
                       respond(text_reply(200, std::to_string(request.body.size())));
                     },
                 .cost = 0,
                 .body_bytes_max = 32 << 20});
  // Routes for an answer that is sent in parts and has no end of its own: /v1/end ends it, and
  // /v1/wait blocks the loop until a file exists.
  static std::shared_ptr<ReplyStream> bits;
  server->route({.method = "GET",
                 .pattern = "/v1/bits",
                 .handle =
                     [at](const IncomingRequest&, const Respond& respond) {
                       Reply reply{.headers = {{"content-type", "text/event-stream"}}};
                       reply.stream = [at](std::shared_ptr<ReplyStream> stream) {
                         (void)stream->send("first bit, ");
                         bits = std::move(stream);
                         std::ofstream(at / "begun");
                       };
                       respond(std::move(reply));
                     },
                 .cost = 0});
  server->route({.method = "GET",
                 .pattern = "/v1/end",
                 .handle =
                     [](const IncomingRequest&, const Respond& respond) {
                       std::thread([] {
                         (void)bits->send("last bit");
                         bits->close();
                       }).join();
                       respond(text_reply(200, "ended"));
                     },
                 .cost = 0});
  server->route({.method = "GET",
                 .pattern = "/v1/wait",
                 .handle =
                     [at](const IncomingRequest&, const Respond& respond) {
                       std::ofstream(at / "waits");
                       while (!fs::exists(at / "go")) std::this_thread::yield();
                       respond(text_reply(200, "waited"));
                     },
                 .cost = 0});
  server->socket(
      {.path = "/v1/greet",
       .greets = true,
       .opened = [](const std::shared_ptr<Peer>&) {},
       .text =
           [](const std::shared_ptr<Peer>& peer, const std::string& text) {
             if (text == "hello") peer->admit();
             if (text == "known") peer->recognise();
             peer->send_text(text.size() > 100 ? "long" : "heard " + text);
           },
       .binary = [](const std::shared_ptr<Peer>&, const std::string&) {},
       .oversized = [](const std::shared_ptr<Peer>& peer, std::size_t) { peer->close("too long"); },
       .closed = [](const std::shared_ptr<Peer>&) {},
       .cost = 0});
  ASSERT_TRUE(server->start().has_value());
  std::ofstream(at / "port.new") << server->port();
  fs::rename(at / "port.new", at / "port");
  for (;;) pause();
}

class AServer {
 public:
  // `rate` is the rate of one address in requests a second; null: no rate limit.
  explicit AServer(const std::string& limits, bool tls = false, bool one_thread = false,
                   const char* rate = nullptr) {
    std::string pattern = (fs::temp_directory_path() / "weft-limits-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    child_ = fork();
    if (child_ == 0) {
      setenv("WEFT_LIMITS", limits.c_str(), 1);
      setenv("WEFT_LIMITS_FOLDER", folder_.c_str(), 1);
      if (tls) setenv("WEFT_LIMITS_TLS", "1", 1);
      if (one_thread) setenv("WEFT_LIMITS_ONE_THREAD", "1", 1);
      if (rate != nullptr) setenv("WEFT_LIMITS_RATE", rate, 1);
      execl(self.c_str(), self.c_str(), "--gtest_filter=LimitsChild.*",
            "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
      _exit(127);
    }
    for (const Instant give_up = now() + 30s; port_ == 0 && now() < give_up;) {
      std::ifstream(folder_ / "port") >> port_;
      if (port_ == 0) std::this_thread::sleep_for(5ms);
    }
    EXPECT_NE(port_, 0);
  }
  ~AServer() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  AServer(const AServer&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const fs::path& folder() const { return folder_; }
  [[nodiscard]] bool lives() const { return waitpid(child_, nullptr, WNOHANG) == 0; }
  [[nodiscard]] std::uint64_t resident_kib() const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/statm");
    std::uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
  }
  [[nodiscard]] std::uintmax_t scratch_bytes() const {
    std::uintmax_t sum = 0;
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "incoming", ignored))
      if (entry.is_regular_file(ignored)) sum += entry.file_size(ignored);
    return sum;
  }

 private:
  fs::path folder_;
  pid_t child_ = 0;
  std::uint16_t port_ = 0;
};

// A TCP connection that sends and reads raw bytes.
class Bytes {
 public:
  // `from` may be any loopback address.
  explicit Bytes(const AServer& server, const char* from = nullptr) {
    file_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (from != nullptr) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      EXPECT_EQ(inet_pton(AF_INET, from, &own.sin_addr), 1);
      EXPECT_EQ(::bind(file_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  Bytes(Bytes&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Bytes& operator=(Bytes&&) = delete;
  ~Bytes() {
    if (file_ >= 0) close(file_);
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Reads until the bytes contain `until`, the server closes, or the time is over.
  std::string read(std::string_view until, Duration patience = 30s) {
    std::string out;
    const Instant give_up = now() + patience;
    while (!out.contains(until) || until.empty()) {
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(give_up - now());
      if (left.count() <= 0) return out;
      const timeval time{.tv_sec = left.count() / 1'000'000, .tv_usec = left.count() % 1'000'000};
      setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
      char part[4096];
      const ssize_t count = recv(file_, part, sizeof part, 0);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        closed_ = true;
        return out;
      }
      if (count > 0) out.append(part, static_cast<std::size_t>(count));
    }
    return out;
  }
  // True if the server closes the connection within the time.
  bool ends(Duration patience = 30s) {
    while (!closed_ && patience > Duration::zero()) {
      const Instant begun = now();
      (void)read("", patience);
      patience -= now() - begun;
    }
    return closed_;
  }
  bool is_open() { return !ends(500ms); }

 private:
  int file_ = -1;
  bool closed_ = false;
};

const std::string host = "Host: 127.0.0.1\r\n";
const std::string here = "GET /v1/here HTTP/1.1\r\n" + host + "\r\n";
const std::string upgrade =
    "GET /v1/greet HTTP/1.1\r\n" + host +
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

bool answers(const AServer& server) {
  Bytes other(server);
  return other.send(here) && other.read("here").contains(" 200 ");
}

// A masked text frame (the mask is 0).
std::string frame(std::string_view text) {
  std::string out = "\x81";
  if (text.size() < 126) {
    out += static_cast<char>(0x80 | text.size());
  } else {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(text.size() >> 8);
    out += static_cast<char>(text.size() & 0xff);
  }
  return out + std::string(4, '\0') + std::string(text);
}

// trantor ends the process when it removes a connection that still listens for an event. In an
// earlier version, an answer that ended on another thread just as its connection ended made the
// connection listen.
TEST(ReplyStreams, AnAnswerThatEndsWithItsConnectionEndsNoServer) {
  const AServer server("", false, true);
  std::optional<Bytes> reader(std::in_place, server);
  ASSERT_TRUE(reader->send("GET /v1/bits HTTP/1.1\r\n" + host + "\r\n"));
  ASSERT_TRUE(reader->read("first bit").contains("first bit"));
  Bytes waiting(server), ending(server);
  ASSERT_TRUE(ending.send(here) && ending.read("here").contains("200"));
  ASSERT_TRUE(waiting.send("GET /v1/wait HTTP/1.1\r\n" + host + "\r\n"));
  while (!fs::exists(server.folder() / "waits")) std::this_thread::yield();
  // The requests "end" and the end of the reader reach the loop in its next round, in this order.
  ASSERT_TRUE(ending.send("GET /v1/end HTTP/1.1\r\n" + host + "\r\n"));
  reader.reset();
  std::ofstream(server.folder() / "go");
  EXPECT_TRUE(ending.read("ended").contains("ended"));
  EXPECT_TRUE(answers(server));
  EXPECT_TRUE(server.lives());
}

TEST(ReplyStreams, ConnectionsThatEndWithTheirAnswerHaveItWhole) {
  for (const bool old : {false, true}) {
    const AServer server("");
    Bytes reader(server);
    ASSERT_TRUE(
        reader.send(old ? "GET /v1/bits HTTP/1.0\r\n" + host + "\r\n"
                        : "GET /v1/bits HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n"));
    std::string answer = old ? "" : reader.read("first bit");
    EXPECT_EQ(answer.contains("first bit"), !old) << answer;
    Bytes ending(server);
    do {  // The answer's handler may not have run yet.
      ASSERT_TRUE(ending.send(here) && ending.read("here").contains("200"));
    } while (old && !fs::exists(server.folder() / "begun"));
    ASSERT_TRUE(ending.send("GET /v1/end HTTP/1.1\r\n" + host + "\r\n"));
    answer += reader.read("");
    EXPECT_TRUE(reader.ends());
    EXPECT_TRUE(answer.starts_with("HTTP/1.")) << answer;
    EXPECT_TRUE(answer.contains("last bit")) << answer;
    EXPECT_EQ(answer.contains("\r\n\r\nfirst bit, last bit"), old) << answer;
    EXPECT_EQ(answer.contains("chunked"), !old) << answer;
    EXPECT_TRUE(answer.contains("connection: close")) << answer;
    EXPECT_EQ(answer.ends_with("0\r\n\r\n"), !old) << answer;
  }
}

const std::string counted = "GET /v1/counted HTTP/1.1\r\n" + host + "\r\n";

std::string address_of(int attacker) { return "127.64.0." + std::to_string(attacker + 1); }

// Sends requests one by one, each on a connection of its own, and returns how many of them are
// answered.
int answered(const AServer& server, const std::string& from, int requests) {
  int count = 0;
  for (int i = 0; i < requests; ++i) {
    Bytes connection(server, from.c_str());
    if (connection.send(counted) && connection.read("counted").contains(" 200 ")) ++count;
  }
  return count;
}

TEST(Limits, StrangersThatAttackTogetherLeaveRoomForANewcomerAndAKnownPeer) {
  const auto attack = [](const AServer& server) {
    // The test's server knows a peer that sends "known".
    Bytes known(server, "127.66.0.1");
    EXPECT_TRUE(known.send(upgrade) && known.read("\r\n\r\n").contains(" 101 "));
    EXPECT_TRUE(known.send(frame("known")) && known.read("heard known").contains("heard known"));
    int taken = 0;
    for (int i = 0; i < 30; ++i) taken += answered(server, address_of(i), 30);
    EXPECT_EQ(answered(server, "127.65.0.1", 4), 4) << "the newcomer";
    EXPECT_EQ(answered(server, "127.66.0.1", 40), 40) << "the known one";
    return taken;
  };
  // The rate of one address alone is 10 requests a second, and 40 at once.
  const std::string limits = "strangers_connections=0 newcomers_rates=0 refusal_wait_max=0 ";
  EXPECT_LT(attack(AServer(limits + "strangers_rates=1", false, false, "10")), 800);
  EXPECT_EQ(attack(AServer(limits + "strangers_rates=0", false, false, "10")), 900) << "the attack";
}

TEST(Limits, AConnectionThatIsSilentForLongEnds) {
  const auto ends = [](const AServer& server) {
    Bytes asked(server);
    EXPECT_TRUE(asked.send(here) && asked.read("here").contains(" 200 "));
    return asked.ends(5s);
  };
  EXPECT_TRUE(ends(AServer("silent_max=100")));
  EXPECT_FALSE(ends(AServer("silent_max=0"))) << "the attack";
}

// A connection that has ended leaves nothing in memory; otherwise an attacker that opens thousands
// a second would fill it.
TEST(Limits, ConnectionsThatHaveEndedLeaveNothing) {
  const AServer server("");
  const auto open_and_end = [&] {
    for (int i = 0; i < 3000; ++i) {
      Bytes connection(server);
      EXPECT_TRUE(connection.send(here) && connection.read("here").contains(" 200 "));
    }
    return server.resident_kib();
  };
  (void)open_and_end();
  const std::uint64_t before = open_and_end();
  EXPECT_LT(open_and_end(), before + 1024);
}

TEST(Limits, AnIdentifiedClientThatIsKnownKeepsTheRateOfItsAddress) {
  // A stranger has one token at first, and almost none later.
  const AServer server(
      "strangers_connections=0 strangers_rates=1 refusal_wait_max=0 newcomer_burst=1", false, false,
      "10");
  for (int i = 0; i < 60; ++i) (void)answered(server, address_of(i), 1);
  const auto answers_of = [&](const char* from, const std::string& client) {
    Bytes connection(server, from);
    EXPECT_TRUE(connection.send("GET /v1/identified HTTP/1.1\r\n" + host +
                                "Weft-Client: " + client + "\r\n\r\n"));
    EXPECT_TRUE(connection.read("identified").contains(" 200 ")) << client;
    return answered(server, from, 20);
  };

  EXPECT_EQ(answers_of("127.65.0.1", "funded"), 20);
  EXPECT_LT(answers_of("127.65.0.2", "another"), 20);
}

TEST(Limits, APeerThatIsRefusedAgainAndAgainWaits) {
  const std::string wrong = "GET /v1/here HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n";
  const auto refused_at_once = [&](const std::string& limits) {
    const AServer server(limits, false, false, "1000");
    for (int i = 0; i < 3; ++i) {
      Bytes connection(server, "127.64.0.1");
      EXPECT_TRUE(connection.send(wrong));
      EXPECT_TRUE(connection.read("\r\n\r\n").contains(" 421 ")) << i;
    }
    Bytes fourth(server, "127.64.0.1");
    EXPECT_TRUE(fourth.send(wrong));
    const bool at_once = !fourth.read("\r\n\r\n", 200ms).empty();
    if (!at_once) {
      EXPECT_TRUE(fourth.send(here)) << "not looked at";
      EXPECT_EQ(answered(server, "127.65.0.1", 1), 1) << "another address";
      EXPECT_TRUE(fourth.read("\r\n\r\n").contains(" 421 ")) << "later";
    }
    EXPECT_TRUE(fourth.ends());
    return at_once;
  };
  EXPECT_FALSE(refused_at_once("refusals_at_once=3"));
  EXPECT_TRUE(refused_at_once("refusals_at_once=3 refusal_wait_max=0")) << "the attack";
}

TEST(Limits, AHeadThatIsTooLongWaitsForItsRefusalToo) {
  const AServer server("refusals_at_once=0", false, false, "1000");
  Bytes connection(server, "127.64.0.1");
  ASSERT_TRUE(connection.send("GET /v1/here HTTP/1.1\r\nX: " + std::string(64 << 10, 'a')));
  EXPECT_EQ(connection.read("\r\n\r\n", 300ms), "");
  EXPECT_TRUE(connection.read("\r\n\r\n").contains(" 431 "));
  Bytes tls(server, "127.64.0.2");
  ASSERT_TRUE(tls.send("\x16\x03\x01 a handshake of TLS"));
  EXPECT_EQ(tls.read("\r\n\r\n", 300ms), "");
  EXPECT_TRUE(tls.read("\r\n\r\n").contains(" 400 "));
}

TEST(Limits, WhatIsSentBehindARefusalThatWaitsIsBounded) {
  const AServer server("refusals_at_once=0", false, false, "1000");
  Bytes connection(server, "127.64.0.1");
  ASSERT_TRUE(connection.send("GET /v1/here HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"));
  const Instant give_up = now() + 30s;
  const std::string part(16 << 10, 'x');
  while (now() < give_up && connection.send(part)) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(connection.send(part)) << "it is ended before its answer";
}

TEST(Limits, NewConnectionsOfStrangersHaveARate) {
  const auto taken = [](const AServer& server) {
    int count = 0;
    for (int i = 0; i < 40; ++i) {
      Bytes connection(server, "127.64.0.1");
      if (connection.send(here) && connection.read("here").contains(" 200 ")) ++count;
    }
    return count;
  };
  EXPECT_LT(taken(AServer("strangers_connections=1", false, false, "1")), 40);
  EXPECT_EQ(taken(AServer("strangers_connections=0", false, false, "1")), 40) << "the attack";
}

TEST(Limits, OneAddressHoldsSoManyConnections) {
  const auto flood = [](const AServer& server, std::size_t count) {
    std::vector<Bytes> held;
    for (std::size_t i = 0; i < count; ++i) {
      held.emplace_back(server);
      (void)held.back().send("GET /v1/here HTTP/1.1\r\nX: ");
    }
    return static_cast<std::size_t>(
        std::ranges::count_if(held, [](Bytes& one) { return !one.ends(20ms); }));
  };
  const AServer server("connections_per_address=20");
  EXPECT_EQ(flood(server, 40), 20u);
  const AServer open("connections_per_address=0");
  EXPECT_EQ(flood(open, 40), 40u) << "the attack";
}

// Strangers hold every connection. (In this test they all have one address.)
TEST(Limits, AKnownPeerComesInWhereStrangersHoldAllConnections) {
  const auto hoard = [](const AServer& server, std::vector<Bytes>& held) {
    for (int i = 0; i < 40; ++i) {
      held.emplace_back(server);
      (void)held.back().send("GET /v1/here HTTP/1.1\r\nX: ");
    }
    // The server accepts every connection and, because of the bound, then closes the new one or an
    // older one.
    const std::ptrdiff_t over = std::ssize(held) - 20;
    for (const Instant give_up = now() + 30s; now() < give_up;) {
      if (std::ranges::count_if(held, [](Bytes& one) { return one.ends(1ms); }) >= over) return;
    }
    ADD_FAILURE() << "more than 20 connections are open";
  };
  const std::string limits = "connections_max=20 connections_per_address=0 head_max=0";
  const AServer server(limits);
  std::vector<Bytes> held;
  hoard(server, held);
  Bytes known(server);
  ASSERT_TRUE(known.send(upgrade));
  ASSERT_TRUE(known.read("\r\n\r\n").contains(" 101 "));
  ASSERT_TRUE(known.send(frame("hello") + frame("known")));
  ASSERT_TRUE(known.read("heard known").contains("heard known"));
  hoard(server, held);
  EXPECT_TRUE(known.is_open());
  ASSERT_TRUE(known.send(frame("again")));
  EXPECT_TRUE(known.read("heard again").contains("heard again"));

  const AServer open(limits + " known_percent=0 largest_gives_way=0");
  std::vector<Bytes> kept;
  hoard(open, kept);
  Bytes late(open);
  EXPECT_TRUE(late.ends()) << "the attack";
}

TEST(Limits, ConnectionsOfTlsCountBeforeTheirHandshakeAndEndWithoutIt) {
  const AServer server("connections_per_address=5 handshake_max=300", true);
  std::vector<Bytes> held;
  for (int i = 0; i < 8; ++i) held.emplace_back(server);
  EXPECT_EQ(std::ranges::count_if(held, [](Bytes& one) { return one.ends(100ms); }), 3);
  for (Bytes& one : held) EXPECT_TRUE(one.ends());

  const AServer open("connections_per_address=0 handshake_max=0", true);
  std::vector<Bytes> kept;
  for (int i = 0; i < 8; ++i) kept.emplace_back(open);
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(std::ranges::count_if(kept, [](Bytes& one) { return one.ends(20ms); }), 0)
      << "the attack";
}

TEST(Limits, AHeadThatDoesNotEndIsNotWaitedFor) {
  const AServer server("head_max=300");
  Bytes first(server);
  ASSERT_TRUE(first.send("GET /v1/here HT"));
  EXPECT_TRUE(first.ends());
  Bytes silent(server);
  EXPECT_TRUE(silent.ends()) << "nor one that does not begin";
  Bytes second(server);
  ASSERT_TRUE(second.send(here));
  ASSERT_TRUE(second.read("here").contains(" 200 "));
  ASSERT_TRUE(second.send("GET /v1/here HT"));
  EXPECT_TRUE(second.ends()) << "nor a second one";
  EXPECT_TRUE(answers(server));

  const AServer open("head_max=0");
  Bytes held(open);
  ASSERT_TRUE(held.send("GET /v1/here HT"));
  EXPECT_FALSE(held.ends(1500ms)) << "the attack";
}

TEST(Limits, ABodyThatTricklesIsNotWaitedFor) {
  const std::string head = "POST /v1/large HTTP/1.1\r\n" + host +
                           "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\nabc";
  const AServer server("body_max=300");
  Bytes slow(server);
  ASSERT_TRUE(slow.send(head));
  EXPECT_TRUE(slow.ends());
  Bytes whole(server);
  ASSERT_TRUE(whole.send(head + std::string(997, 'x')));
  EXPECT_TRUE(whole.read("1000").contains(" 200 "));

  const AServer open("body_max=0");
  Bytes held(open);
  ASSERT_TRUE(held.send(head));
  EXPECT_FALSE(held.ends(1500ms)) << "the attack";
}

TEST(Limits, ABodyThatNoRouteWantsNeverComesToTheDisk) {
  const std::string head = "PUT /anything HTTP/1.1\r\n" + host + "Content-Length: 20000000\r\n\r\n";
  const auto written = [&](const AServer& server) {
    Bytes attacker(server);
    EXPECT_TRUE(attacker.send(head));
    std::uintmax_t most = 0;
    for (int i = 0; i < 19; ++i) {
      if (!attacker.send(std::string(1'000'000, 'x'))) break;
      most = std::max(most, server.scratch_bytes());
    }
    for (const Instant give_up = now() + 300ms; most == 0 && now() < give_up;)
      most = std::max(most, server.scratch_bytes());
    return most;
  };
  const AServer server("");
  EXPECT_EQ(written(server), 0u);
  EXPECT_TRUE(answers(server));
  Bytes polite(server);
  ASSERT_TRUE(polite.send(head));
  EXPECT_TRUE(polite.read("}").starts_with("HTTP/1.1 404 ")) << "at the head";
}

TEST(Limits, SoManyRequestsWaitOnOneConnection) {
  const auto requests = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "GET /v1/slow HTTP/1.1\r\n" + host + "\r\n";
    return text;
  };
  const std::string many = requests(17);
  const AServer server("");
  Bytes modest(server);
  ASSERT_TRUE(modest.send(requests(16)));
  Bytes greedy(server);
  ASSERT_TRUE(greedy.send(many));
  EXPECT_TRUE(greedy.ends());
  EXPECT_FALSE(modest.ends(500ms)) << "16 may wait";
  EXPECT_TRUE(answers(server));

  const AServer open("pipelined_max=0");
  Bytes held(open);
  ASSERT_TRUE(held.send(many));
  EXPECT_TRUE(held.is_open()) << "the attack";
}

TEST(Limits, ASocketThatDoesNotGreetIsEnded) {
  const AServer server("greeting_max=300");
  Bytes silent(server);
  ASSERT_TRUE(silent.send(upgrade));
  ASSERT_TRUE(silent.read("\r\n\r\n").contains(" 101 "));
  EXPECT_TRUE(silent.ends());
  Bytes known(server);
  ASSERT_TRUE(known.send(upgrade));
  ASSERT_TRUE(known.read("\r\n\r\n").contains(" 101 "));
  ASSERT_TRUE(known.send(frame("hello")));
  ASSERT_TRUE(known.read("heard hello").contains("heard hello"));
  EXPECT_FALSE(known.ends(1500ms)) << "one that is admitted stays";

  const AServer open("greeting_max=0");
  Bytes held(open);
  ASSERT_TRUE(held.send(upgrade));
  EXPECT_FALSE(held.ends(1500ms)) << "the attack";
}

TEST(Limits, ASocketThatDoesNotGreetHoldsFourKibibytes) {
  const AServer server("");
  Bytes attacker(server);
  ASSERT_TRUE(attacker.send(upgrade));
  ASSERT_TRUE(attacker.read("\r\n\r\n").contains(" 101 "));
  ASSERT_TRUE(attacker.send(frame(std::string(9000, 'x')).substr(0, 6000)));
  EXPECT_TRUE(attacker.ends(4s));
  Bytes known(server);
  ASSERT_TRUE(known.send(upgrade));
  ASSERT_TRUE(known.read("\r\n\r\n").contains(" 101 "));
  ASSERT_TRUE(known.send(frame("hello")));
  ASSERT_TRUE(known.read("heard hello").contains("heard hello"));
  ASSERT_TRUE(known.send(frame(std::string(9000, 'x'))));
  EXPECT_TRUE(known.read("long").contains("long")) << "one that is admitted may say more";

  const AServer open("greeting_bytes_max=0 greeting_max=0");
  Bytes held(open);
  ASSERT_TRUE(held.send(upgrade));
  ASSERT_TRUE(held.read("\r\n\r\n").contains(" 101 "));
  ASSERT_TRUE(held.send(frame(std::string(9000, 'x')).substr(0, 6000)));
  EXPECT_TRUE(held.is_open()) << "the attack";
}

TEST(Limits, SoManySocketsMayBeAboutToGreet) {
  const auto flood = [](const AServer& server, Duration patience) {
    std::vector<Bytes> held;
    for (int i = 0; i < 12; ++i) {
      held.emplace_back(server);
      EXPECT_TRUE(held.back().send(upgrade));
      (void)held.back().read("\r\n\r\n");
    }
    const auto open = [&] {
      return std::ranges::count_if(held, [](Bytes& one) { return !one.ends(50ms); });
    };
    // Waits, because on a busy machine it may take a while until a replaced socket is closed.
    const auto give_up = std::chrono::steady_clock::now() + patience;
    auto left = open();
    while (left > 4 && std::chrono::steady_clock::now() < give_up) left = open();
    return left;
  };
  // greeting_max=0: sockets are not closed for greeting late, however slow the machine is.
  const AServer server("greeting_sockets_max=4 greeting_max=0");
  EXPECT_EQ(flood(server, 30s), 4);
  const AServer open("greeting_sockets_max=0 greeting_max=0");
  EXPECT_EQ(flood(open, 2s), 12) << "the attack";
}

TEST(Limits, SilentSocketsKeepNoneFromGreeting) {
  const AServer server("greeting_sockets_max=4");
  std::vector<Bytes> held;
  for (int i = 0; i < 8; ++i) {
    held.emplace_back(server);
    ASSERT_TRUE(held.back().send(upgrade));
    (void)held.back().read("\r\n\r\n");
  }
  Bytes one(server);
  ASSERT_TRUE(one.send(upgrade));
  ASSERT_TRUE(one.read("\r\n\r\n").contains(" 101 "));
  ASSERT_TRUE(one.send(frame("hello")));
  EXPECT_TRUE(one.read("heard hello").contains("heard hello"));
}

TEST(Limits, TwoLengthsAreFoundBehindAnUpgradeThatDidNotHappen) {
  const std::string twice = "POST /v1/large HTTP/1.1\r\n" + host +
                            "Content-Type: application/json\r\nContent-Length: 2\r\n"
                            "Content-Length: 9\r\n\r\n{}";
  const auto answer = [&](const AServer& server) {
    Bytes one(server);
    EXPECT_TRUE(one.send("GET /v1/here HTTP/1.1\r\n" + host + "Upgrade: websocket\r\n\r\n"));
    EXPECT_TRUE(one.read("here").contains(" 200 "));
    EXPECT_TRUE(one.send(twice));
    return one.read("\r\n\r\n").substr(0, 12);
  };
  const AServer server("");
  EXPECT_EQ(answer(server), "HTTP/1.1 400");
  const AServer open("lengths_after_upgrade=0");
  EXPECT_EQ(answer(open), "HTTP/1.1 200") << "the attack";
}

}  // namespace
}  // namespace weft::net
