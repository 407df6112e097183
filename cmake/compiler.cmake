# The language, the warnings, the optimisation and the sanitizers, the same for every target of ours.
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

# -O2, except for folders that say OPTIMISE 3 or OPTIMISE 1 (see weft_library).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

# GCC's collector of the compiler's own memory waits until this much is used (KiB), which saves a tenth to a quarter of the compile
# time. The largest process stays below 1.5 GiB.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>)
endif()

# Sources of tests are not optimised, which halves their compile time and costs none when they run: what they test is. They have
# the library's own checks on: a value that is not there, an index past the end.
set(weft_test_options -D_GLIBCXX_ASSERTIONS)
if(CMAKE_BUILD_TYPE STREQUAL Release OR WEFT_SANITIZE)
  list(APPEND weft_test_options -O0)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # base_dir lets the cache serve several checkouts; hash_dir off keeps the folder's name out of the key. The last two
  # are what ccache asks for where precompiled headers are used.
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
  # In a batch these name neighbours that never meet otherwise; the `dev` preset compiles each source alone and has them on.
  target_compile_options(weft_compile_options INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(EMSCRIPTEN)
  target_compile_options(weft_compile_options INTERFACE -fno-exceptions -msimd128 -Wno-shorten-64-to-32)
else()
  # GCC reports these inside its own library after inlining; they have been false every time.
  target_compile_options(weft_compile_options INTERFACE -Wno-maybe-uninitialized -Wno-dangling-reference -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict)
  target_compile_options(weft_compile_options INTERFACE -fstack-protector-strong)
  if(CCACHE AND WEFT_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)  # ccache finds the precompiled header by it.
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
  # Targets with the property WEFT_PLAIN are compiled without (see weft_library).
  add_compile_options("$<$<NOT:$<BOOL:$<TARGET_PROPERTY:WEFT_PLAIN>>>:${weft_sanitizers}>")
  add_link_options(-fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE MATCHES thread)
    # libstdc++'s atomic_thread_fence is not understood by tsan; GCC warns where it is used.
    add_compile_options(-Wno-tsan)
  endif()
endif()
