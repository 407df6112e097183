# The language, warnings, optimisation and sanitizers, which are the same for all targets of this repository.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

set(WEFT_SANITIZE "" CACHE STRING "Sanitizers for every target: 'address,undefined' or 'thread'")
option(WEFT_FUZZ "Build the fuzzers with libFuzzer (clang only), and everything under sanitizers and so that libFuzzer sees what an input reached" OFF)
option(WEFT_SANITIZE_TESTS "Sanitizers for the sources of tests too, not only for what they test" ON)
option(WEFT_DAWN "Build the Dawn backend and what needs it" ON)
option(WEFT_WERROR "Warnings are errors" ON)
option(WEFT_UNITY "Compile several sources of a folder together" OFF)
option(WEFT_PARTS "Compile single sources of folders into the programs that need no others (see weft_parts)" OFF)
option(WEFT_PCH "Parse the standard library once (precompiled headers)" ON)

# The optimisation is -O2, except for folders that say OPTIMISE 3 or OPTIMISE 1 (see weft_library).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

# GCC collects its own unused memory only when it uses more than this (in KiB), which saves a tenth to a quarter of the
# compile time. The largest process stays below 1.5 GiB.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>)
endif()

# Sources of tests are not optimised. This halves their compile time and does not make the tests slower, because the
# tested libraries are optimised. The checks of the standard library are on in tests: they find values that do not exist
# and indices past the end.
set(weft_test_options -D_GLIBCXX_ASSERTIONS)
if(CMAKE_BUILD_TYPE STREQUAL Release OR WEFT_SANITIZE)
  list(APPEND weft_test_options -O0)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With CCACHE_BASEDIR one cache serves several checkouts, and with CCACHE_NOHASHDIR the folder's name does not belong
  # to the key. ccache needs the first two values of CCACHE_SLOPPINESS for precompiled headers.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=time_macros,pch_defines,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(weft_compile_options INTERFACE)
target_include_directories(weft_compile_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(weft_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${WEFT_WERROR}>:-Werror>)
if(WEFT_UNITY)
  # In a batch, these warnings report names of different sources, which are otherwise never compiled together. The `dev`
  # preset compiles each source alone and has the warnings on.
  target_compile_options(weft_compile_options INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(EMSCRIPTEN)
  target_compile_options(weft_compile_options INTERFACE -fno-exceptions -msimd128 -Wno-shorten-64-to-32)
else()
  # After inlining, GCC reports these warnings inside its own library; all of them have been wrong.
  target_compile_options(weft_compile_options INTERFACE -Wno-maybe-uninitialized -Wno-dangling-reference -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict)
  target_compile_options(weft_compile_options INTERFACE -fstack-protector-strong)
  if(CCACHE AND WEFT_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)  # ccache needs this option to find the precompiled header.
  endif()
endif()
if(WEFT_FUZZ)
  set(WEFT_SANITIZE fuzzer-no-link,address,undefined)
  add_compile_options(-D_GLIBCXX_ASSERTIONS)
endif()
if(WEFT_SANITIZE)
  set(weft_sanitizers -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer -g1)
  if(WEFT_SANITIZE MATCHES undefined)
    list(APPEND weft_sanitizers -fno-sanitize-recover=undefined)
  endif()
  # Targets with the property WEFT_PLAIN are compiled without sanitizers (see weft_library).
  add_compile_options("$<$<NOT:$<BOOL:$<TARGET_PROPERTY:WEFT_PLAIN>>>:${weft_sanitizers}>")
  add_link_options(-fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE MATCHES thread)
    # The thread sanitizer does not support atomic_thread_fence, which libstdc++ uses, and GCC warns about each use.
    add_compile_options(-Wno-tsan)
  endif()
endif()
