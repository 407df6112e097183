# Writes one WGSL file as a C++ header: cmake -DINPUT=a.wgsl -DOUTPUT=a.wgsl.h -P embed_wgsl_file.cmake
cmake_path(GET INPUT FILENAME file)
string(REPLACE "." "_" name ${file})
file(READ ${INPUT} text)
string(FIND "${text}" ")wgsl\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${INPUT} contains )wgsl\", the end of the string that it is put into.")
endif()
# The text is one raw string. GCC and clang accept raw strings of megabytes.
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY NEWLINE_STYLE LF CONTENT
"// Made from @file@ by cmake/embed_wgsl.cmake.
#pragma once

#include <string_view>

namespace weft::wgsl {
inline constexpr std::string_view @name@ = R\"wgsl(@text@)wgsl\";
}  // namespace weft::wgsl
")
