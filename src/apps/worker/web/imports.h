// What worker_web.js does for the browser's worker, and what it calls back.
//
// A callback is made with new, crosses as a pointer, is called once (a socket's as often as there
// is news) and deleted by the call that ends it. Text and bytes are pointer and length, valid
// during the call. Sizes cross as double.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/bytes.h"

namespace weft::worker::web {

enum class SocketNews : int { open = 0, text = 1, binary = 2, closed = 3 };
// After `closed`, which always comes last, it is deleted.
struct SocketCallback {
  std::function<void(SocketNews news, ByteSpan data)> call;
};
// `code` is empty for success, else an ErrorCode as a word, and `data` its message.
struct FetchCallback {
  std::function<void(std::string_view code, ByteSpan data)> call;
};
struct TimerCallback {
  std::function<void()> call;
};

}  // namespace weft::worker::web

extern "C" {
// The socket's handle; its first news comes later.
std::uint32_t weft_socket_open(void* callback, const char* url, std::uint32_t url_size);
void weft_socket_send_text(std::uint32_t socket, const char* text, std::uint32_t size);
void weft_socket_send_bytes(std::uint32_t socket, const void* bytes, std::uint32_t size);
void weft_socket_close(std::uint32_t socket);  // Sends what is queued; `closed` follows.
void weft_blob_get(void* callback, const char* url, std::uint32_t url_size, const char* token,
                   std::uint32_t token_size, double bytes_max);
void weft_blob_put(void* callback, const char* url, std::uint32_t url_size, const char* token,
                   std::uint32_t token_size, const void* bytes, double size);
// 56 bytes of coordinator, job, index and attempt, and a root; a FetchCallback, whose data are one
// byte (signing_web.js).
void weft_signed_admit(void* callback, const void* key, const void* root,
                       std::uint32_t entries_max);
void weft_timer(void* callback, double milliseconds);
double weft_random_share();
// One event for the page, as JSON.
void weft_emit(const char* json, std::uint32_t size);
// The answer to call number `call` of the page: a text, or one sentence about what went wrong.
void weft_answer(std::uint32_t call, int ok, const char* text, std::uint32_t size);
// Bytes that belong to the answer of call number `call`, which comes after all of them.
void weft_answer_bytes(std::uint32_t call, const void* bytes, double size);
}
