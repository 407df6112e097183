// Checks of this folder in a Worker of a real browser: SHA-256 and Ed25519 through WebCrypto give
// the published results, and the key outlives the object that holds it.
#include <cstdio>

#include <emscripten/emscripten.h>

#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"

namespace weft::crypto {
namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "ok     " : "FAILED ", what);
  failures += holds ? 0 : 1;
}

// RFC 8032, section 7.1, test 3, as an id.json.
constexpr const char* rfc_wallet =
    "[197,170,141,244,63,159,131,123,237,183,68,47,49,220,183,177,102,211,133,53,7,111,9,75,133,"
    "206,58,46,11,68,88,247,"
    "252,81,205,142,98,24,161,163,141,164,126,208,2,48,240,88,8,22,237,19,186,51,3,172,93,235,145,"
    "21,72,144,128,37]";
constexpr const char* rfc_signature =
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6"
    "594a7c15e9716ed28dc027beceea1ec40a";

Async<> check_all() {
  expect(sha256(as_bytes(std::string_view("abc"))).text() ==
             "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
         "SHA-256 of \"abc\"");
  Sha256 digest;
  for (int i = 0; i < 1'000'000; ++i) digest.update(as_bytes(std::string_view("a")));
  expect(
      digest.finish().text() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
      "SHA-256 of a million times \"a\", byte by byte");

  const auto made = co_await BrowserKey::load_or_create();
  expect(made.has_value(), made ? "a key is made" : made.error().message.c_str());
  if (!made) co_return;
  const auto again = co_await BrowserKey::load_or_create();
  expect(again.has_value() && (*again)->public_key() == (*made)->public_key(),
         "the same key is there the next time");
  const ByteVector message = {0xaf, 0x82};
  const auto signature = co_await (*made)->sign(message);
  expect(signature.has_value(), "it signs");
  if (!signature) co_return;
  expect((co_await verify((*again)->public_key(), message, *signature)).value_or(false),
         "its signature fits");
  expect(!(co_await verify((*again)->public_key(), {0xaf}, *signature)).value_or(true),
         "not another message");
  Signature wrong = *signature;
  wrong.bytes[3] ^= 1;
  expect(!(co_await verify((*again)->public_key(), message, wrong)).value_or(true),
         "nor a changed signature");
  PublicKey no_point;
  no_point.bytes.fill(0xff);
  expect(!(co_await verify(no_point, message, *signature)).value_or(true),
         "nor a key that is not a point of the curve");
  const auto exported = co_await (*made)->export_wallet();
  expect(!exported && exported.error().code == ErrorCode::permission_denied,
         "it cannot be exported");

  const auto imported = co_await BrowserKey::import_wallet(rfc_wallet);
  expect(imported.has_value(),
         imported ? "RFC 8032's key is imported" : imported.error().message.c_str());
  if (!imported) co_return;
  expect(to_hex((*imported)->public_key().span()) ==
             "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
         "it has RFC 8032's public key");
  const auto rfc = co_await (*imported)->sign(message);
  expect(rfc.has_value() && to_hex(rfc->span()) == rfc_signature, "it gives RFC 8032's signature");
  const auto kept = co_await BrowserKey::load_or_create();
  expect(kept.has_value() && (*kept)->public_key() == (*imported)->public_key(),
         "it takes the place of the key before");
  const auto imported_back = co_await (*kept)->export_wallet();
  expect(!imported_back && imported_back.error().code == ErrorCode::permission_denied,
         "nor can one that was imported");

  std::string mixed = rfc_wallet;
  mixed.replace(1, 3, "196");
  const auto refused = co_await BrowserKey::import_wallet(mixed);
  expect(!refused && refused.error().code == ErrorCode::invalid_argument,
         "a key that is not its seed's is refused");
  expect(!(co_await BrowserKey::import_wallet("[1,2,3]")), "and what is not a wallet");

  Hash a;
  Hash b;
  random_bytes(a.bytes);
  random_bytes(b.bytes);
  expect(a != b, "random bytes differ");
}

}  // namespace
}  // namespace weft::crypto

int main() {
  weft::start<bool>(
      []() -> weft::Async<bool> {
        co_await weft::crypto::check_all();
        co_return weft::crypto::failures == 0;
      }(),
      [](bool passed) { emscripten_force_exit(passed ? 0 : 1); });
}
