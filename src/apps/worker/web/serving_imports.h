// The functions of serving_web.js for serving language models in a browser, and the functions that
// it calls back. The rules of imports.h apply.
#pragma once

#include <cstdint>

extern "C" {
// Fetches the bytes [first, first + count) of a blob, through a FetchCallback.
void weft_range_get(void* callback, const char* url, std::uint32_t url_size, const char* token,
                    std::uint32_t token_size, double first, double count);
// Reads a stored chunk of a model, through a FetchCallback; not_found if it is not stored.
void weft_chunk_read(void* callback, const char* model, std::uint32_t model_size,
                     std::uint32_t chunk);
// Stores a chunk: always for this visit, and for later visits if the browser has room.
void weft_chunk_write(void* callback, const char* model, std::uint32_t model_size,
                      std::uint32_t chunk, const void* bytes, std::uint32_t size);
// Reads synchronously from a chunk that was read or written before. Returns 0 if it is not stored.
int weft_chunk_view(const char* model, std::uint32_t model_size, std::uint32_t chunk,
                    std::uint32_t first, void* out, std::uint32_t size);
// Calls a TimerCallback after all messages that wait already, without the minimum delay of a timer.
void weft_turn(void* callback);

// Links to other tabs. Only the page can open them; it passes their channels to this Worker.
int weft_lines_there(void);  // 1 if the page can open links.
// `members` is a text like "1,2"; `ice` is a JSON array of RTCIceServer.
void weft_lines_open(std::uint32_t chain, std::uint32_t epoch, std::uint32_t index,
                     const char* members, std::uint32_t members_size, const char* ice,
                     std::uint32_t ice_size);
void weft_lines_signal(std::uint32_t chain, std::uint32_t epoch, std::uint32_t from,
                       const char* text, std::uint32_t size);
int weft_lines_send(std::uint32_t chain, std::uint32_t member, const void* bytes,
                    std::uint32_t size);  // Returns 0 if there is no link.
void weft_lines_close(std::uint32_t chain);
}
