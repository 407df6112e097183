// WEFT_SIMD_CLONES before a function: GCC on x86-64 compiles it for AVX-512, AVX2 and plain SSE2,
// and the loader chooses one. WebAssembly has one kind of SIMD, which the compiler uses everywhere.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WEFT_SIMD_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WEFT_SIMD_CLONES
#endif
