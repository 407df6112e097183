// What serving_web.js does for serving language models in a browser, and what it calls back; the
// rules are those of imports.h.
#pragma once

#include <cstdint>

extern "C" {
// Bytes [first, first + count) of a blob, through a FetchCallback.
void weft_range_get(void* callback, const char* url, std::uint32_t url_size, const char* token,
                    std::uint32_t token_size, double first, double count);
// A model's chunk that was kept; not_found if there is none. Through a FetchCallback.
void weft_chunk_read(void* callback, const char* model, std::uint32_t model_size,
                     std::uint32_t chunk);
// Keeps it for this visit for certain, and for later ones where the browser has room.
void weft_chunk_write(void* callback, const char* model, std::uint32_t model_size,
                      std::uint32_t chunk, const void* bytes, std::uint32_t size);
// Synchronous, of a chunk that was read or written before. 0: it is not there.
int weft_chunk_view(const char* model, std::uint32_t model_size, std::uint32_t chunk,
                    std::uint32_t first, void* out, std::uint32_t size);
// Calls a TimerCallback behind all messages that wait already, without a timer's least delay.
void weft_turn(void* callback);

// Lines to other tabs: the page opens them (it alone may), and their channels come here.
int weft_lines_there(void);  // Whether the page can open any.
// members: "1,2"; ice: a JSON array of RTCIceServer.
void weft_lines_open(std::uint32_t chain, std::uint32_t epoch, std::uint32_t index,
                     const char* members, std::uint32_t members_size, const char* ice,
                     std::uint32_t ice_size);
void weft_lines_signal(std::uint32_t chain, std::uint32_t epoch, std::uint32_t from,
                       const char* text, std::uint32_t size);
int weft_lines_send(std::uint32_t chain, std::uint32_t member, const void* bytes,
                    std::uint32_t size);  // 0: there is no line.
void weft_lines_close(std::uint32_t chain);
}
