# weft_embed_wgsl(engine/kernels matmul_i8.wgsl ...) makes the header "engine/kernels/matmul_i8.wgsl.h", which has
# `inline constexpr std::string_view matmul_i8_wgsl` in the namespace weft::wgsl, for the folder's library and its test.
# So native code, WebAssembly and tests use the same text.
function(weft_embed_wgsl folder)
  weft_target_name(${folder} target)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  foreach(file ${ARGN})
    set(input ${CMAKE_SOURCE_DIR}/src/${folder}/${file})
    set(output ${generated}/${folder}/${file}.h)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/cmake/embed_wgsl_file.cmake
      DEPENDS ${input} ${CMAKE_SOURCE_DIR}/cmake/embed_wgsl_file.cmake
      VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endforeach()
  target_include_directories(${target} PUBLIC ${generated})
endfunction()
