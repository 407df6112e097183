// The functions of worker_web.js that the browser's worker calls, and the functions that
// worker_web.js calls back.
//
// A callback is created with new and passed as a pointer. It is called once (that of a socket for
// each event) and deleted by its last call. Text and bytes are passed as pointer and length, valid
// during the call. Sizes are passed as double.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/bytes.h"

namespace weft::worker::web {

enum class SocketNews : int { open = 0, text = 1, binary = 2, closed = 3 };
// Deleted after `closed`, which is always the last event.
struct SocketCallback {
  std::function<void(SocketNews news, ByteSpan data)> call;
};
// `code` is empty for success. Otherwise it is the name of an ErrorCode, and `data` is the message.
struct FetchCallback {
  std::function<void(std::string_view code, ByteSpan data)> call;
};
struct TimerCallback {
  std::function<void()> call;
};

}  // namespace weft::worker::web

extern "C" {
// Returns the socket's handle; its first event comes later.
std::uint32_t weft_socket_open(void* callback, const char* url, std::uint32_t url_size);
void weft_socket_send_text(std::uint32_t socket, const char* text, std::uint32_t size);
void weft_socket_send_bytes(std::uint32_t socket, const void* bytes, std::uint32_t size);
// Sends the queued data and closes; then `closed` is called.
void weft_socket_close(std::uint32_t socket);
void weft_blob_get(void* callback, const char* url, std::uint32_t url_size, const char* token,
                   std::uint32_t token_size, double bytes_max);
void weft_blob_put(void* callback, const char* url, std::uint32_t url_size, const char* token,
                   std::uint32_t token_size, const void* bytes, double size);
// `key` is 56 bytes: coordinator, job, index and attempt. The callback is a FetchCallback, whose
// data begins with one byte of answer (signing_web.js).
void weft_signed_admit(void* callback, const void* key, const void* root,
                       std::uint32_t entries_max);
void weft_timer(void* callback, double milliseconds);
double weft_random_share();
// Sends one event to the page, as JSON.
void weft_emit(const char* json, std::uint32_t size);
// Answers the page's call number `call` with a text, or with an error message.
void weft_answer(std::uint32_t call, int ok, const char* text, std::uint32_t size);
// Sends bytes that belong to the answer of the page's call number `call`; the answer comes after
// them.
void weft_answer_bytes(std::uint32_t call, const void* bytes, double size);
}
