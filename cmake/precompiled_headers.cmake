# Precompiled headers that all targets share: one of the standard library and common/base for libraries and programs,
# the same at -O1 (GCC accepts a precompiled header only with the optimisation with which it was made), and one that
# also has GoogleTest, for tests. A target uses them with weft_precompiled(TARGET), weft_precompiled_cold(TARGET) or
# weft_precompiled_test(TARGET). Sources still include all headers that they use: the `dev` preset builds without
# precompiled headers, so that a missing include is an error there.
set(weft_standard_headers
  <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <compare> <condition_variable> <coroutine> <cstddef>
  <cstdint> <cstdio> <cstdlib> <cstring> <deque> <expected> <filesystem> <format> <fstream> <functional> <limits> <list>
  <map> <memory> <mutex> <numeric> <optional> <queue> <random> <set> <source_location> <span> <sstream> <string>
  <string_view> <thread> <tuple> <type_traits> <unordered_map> <unordered_set> <utility> <variant> <vector>)
if(EMSCRIPTEN)
  # The part of the code that runs in browsers uses neither threads nor files.
  list(REMOVE_ITEM weft_standard_headers <condition_variable> <filesystem> <fstream> <mutex> <thread>)
endif()

if(WEFT_PCH)
  set(stub ${CMAKE_BINARY_DIR}/precompiled.cpp)
  file(CONFIGURE OUTPUT ${stub} CONTENT "// Owns a precompiled header.\n")
  add_library(weft_precompiled OBJECT ${stub})
  target_link_libraries(weft_precompiled PRIVATE weft_compile_options)
  target_precompile_headers(weft_precompiled PRIVATE ${weft_standard_headers} ${CMAKE_SOURCE_DIR}/src/common/base/result.h)
  if(NOT EMSCRIPTEN)
    if(CMAKE_BUILD_TYPE STREQUAL Release)
      add_library(weft_precompiled_cold OBJECT ${stub})
      target_link_libraries(weft_precompiled_cold PRIVATE weft_compile_options)
      target_compile_options(weft_precompiled_cold PRIVATE -O1)
      target_precompile_headers(weft_precompiled_cold PRIVATE ${weft_standard_headers} ${CMAKE_SOURCE_DIR}/src/common/base/result.h)
    endif()
    add_library(weft_precompiled_test OBJECT ${stub})
    target_link_libraries(weft_precompiled_test PRIVATE weft_compile_options GTest::gtest GTest::gmock)
    target_compile_options(weft_precompiled_test PRIVATE ${weft_test_options})
    if(NOT WEFT_SANITIZE_TESTS)
      set_property(TARGET weft_precompiled_test PROPERTY WEFT_PLAIN ON)
    endif()
    target_precompile_headers(weft_precompiled_test PRIVATE ${weft_standard_headers} <gtest/gtest.h> <gmock/gmock.h>
      ${CMAKE_SOURCE_DIR}/src/common/base/result.h)
  endif()
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    # A precompiled header contains a checksum of each file with `#pragma once`, including its comments. ccache compares
    # preprocessed texts, so that it would return the header of a checkout with other comments; the compiler would then
    # read such a file again and find each declaration twice. With these variables, ccache's keys contain the unchanged
    # text of the two files of common/base, and the comments of the other files. The files are part of the manifest's
    # key as well, so that entries from before this rule are not found.
    set(base_headers ${CMAKE_SOURCE_DIR}/src/common/base/format.h:${CMAKE_SOURCE_DIR}/src/common/base/result.h)
    list(TRANSFORM CMAKE_CXX_COMPILER_LAUNCHER
      REPLACE "^CCACHE_NOHASHDIR=1$" "CCACHE_NOHASHDIR=1;CCACHE_COMMENTS=1;CCACHE_EXTRAFILES=${base_headers}"
      OUTPUT_VARIABLE launcher_of_headers)
    foreach(target IN ITEMS weft_precompiled weft_precompiled_cold weft_precompiled_test)
      if(TARGET ${target})
        set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher_of_headers}")
      endif()
    endforeach()
  endif()
endif()

function(weft_precompiled target)
  if(WEFT_PCH)
    target_precompile_headers(${target} REUSE_FROM weft_precompiled)
  endif()
endfunction()
function(weft_precompiled_cold target)
  if(TARGET weft_precompiled_cold)
    target_precompile_headers(${target} REUSE_FROM weft_precompiled_cold)
  else()
    weft_precompiled(${target})
  endif()
endfunction()
# A program that compiles the tested sources itself has sanitizers even if tests have none, and then uses no precompiled
# header.
function(weft_precompiled_test target)
  get_target_property(plain ${target} WEFT_PLAIN)
  if(WEFT_PCH AND (WEFT_SANITIZE_TESTS OR plain))
    target_precompile_headers(${target} REUSE_FROM weft_precompiled_test)
  endif()
endfunction()
