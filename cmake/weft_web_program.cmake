# weft_web_program(name main.cpp ...) makes build/web/bin/NAME.mjs: a module whose default export starts the program. It
# runs in a dedicated Worker; tests/web/run.mjs runs it in headless Chromium.
function(weft_web_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES SUFFIX .mjs RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  target_link_options(${name} PRIVATE -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=worker -sALLOW_MEMORY_GROWTH)
endfunction()
