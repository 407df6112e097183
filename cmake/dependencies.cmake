# The packages that provide the libraries. All are Debian packages that scripts/setup installs; nothing is downloaded.
#
#   Dawn        libwebgpu-dawn-dev   WebGPU natively                      engine/gpu/native
#   Drogon      libdrogon-dev        HTTP, WebSocket, TLS                 platform/net
#   SQLite      libsqlite3-dev       durable state                        platform/store
#   OpenSSL     libssl-dev           SHA-256, Ed25519                     common/crypto
#   libsodium   libsodium-dev        Ed25519 in half the time             common/crypto; without it OpenSSL does
#   libseccomp  libseccomp-dev       filter of system calls               worker/sandbox
#   glaze       libglaze-dev         JSON (header only)                   common/json
#   protozero   libprotozero-dev     protobuf (header only)              engine/onnx
#   libpng      libpng-dev           pictures of outputs                  apps/cli
#   libjpeg     libjpeg62-turbo-dev  pictures for detectors               apps/cli
#   CLI11       libcli11-dev         command line                         apps/cli
#   spdlog      libspdlog-dev        log                                  common/base, native only
#   GoogleTest  libgtest-dev         tests
if(EMSCRIPTEN)
  # Header-only packages, without the rest of /usr/include, which would hide Emscripten's own C library.
  set(weft_web_include ${CMAKE_BINARY_DIR}/include)
  file(MAKE_DIRECTORY ${weft_web_include})
  foreach(name glaze protozero)
    if(EXISTS /usr/include/${name})
      file(CREATE_LINK /usr/include/${name} ${weft_web_include}/${name} SYMBOLIC)
    endif()
  endforeach()
  add_library(weft_glaze INTERFACE)
  target_include_directories(weft_glaze SYSTEM INTERFACE ${weft_web_include})
else()
  find_package(Threads REQUIRED)
  find_package(OpenSSL 3 REQUIRED)
  find_path(WEFT_SODIUM_INCLUDE sodium.h)
  find_library(WEFT_SODIUM_LIBRARY sodium)
  if(WEFT_SODIUM_INCLUDE AND WEFT_SODIUM_LIBRARY)
    add_library(weft_sodium INTERFACE)
    target_link_libraries(weft_sodium INTERFACE ${WEFT_SODIUM_LIBRARY})
    target_compile_definitions(weft_sodium INTERFACE WEFT_SODIUM)
  endif()
  find_package(SQLite3 REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(CLI11 REQUIRED)
  # CLI11's headers only declare its functions. cmake/cli11.cpp compiles them, once for the whole program.
  add_library(weft_cli11 STATIC ${CMAKE_SOURCE_DIR}/cmake/cli11.cpp)
  target_link_libraries(weft_cli11 PUBLIC CLI11::CLI11)
  target_compile_definitions(weft_cli11 PUBLIC CLI11_COMPILE)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(weft_cli11 PRIVATE -O1)
  endif()
  find_package(GTest REQUIRED)
  find_package(Drogon REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(PNG REQUIRED)
  find_package(JPEG REQUIRED)
  find_library(WEFT_SECCOMP_LIBRARY seccomp REQUIRED)
  if(WEFT_DAWN)
    find_package(Dawn REQUIRED)
  endif()
  add_library(weft_glaze INTERFACE)
  target_include_directories(weft_glaze SYSTEM INTERFACE /usr/include)
endif()
# glaze does not force the compiler to inline its functions, because that costs a third to a half of the compile time of
# common/protocol (docs/performance.md, "Compile time").
target_compile_definitions(weft_glaze INTERFACE GLZ_DISABLE_ALWAYS_INLINE)
