# weft_library(common/manifest
#   SOURCES manifest.cpp split.cpp        the sources, relative to the folder
#   NEIGHBOURS common/base common/json    libraries of this repository that it may include; no others (see check_arrows.cmake)
#   OUTSIDE weft_glaze                    libraries of other projects, linked privately
#   TESTS manifest_test.cpp               sources of the folder's one GoogleTest program, manifest_test (for src/worker: worker_tasks_test)
#   TEST_NEIGHBOURS engine/gpu/null       further neighbours, only for the tests
#   TEST_OUTSIDE ...                      further libraries of other projects, only for the tests
#   OPTIMISE 3                            -O3 for a folder that needs it according to measurements; -O1 (half the compile time) for a
#                                         folder whose speed does not matter; otherwise -O2
#   ALONE manifest.cpp                    sources that are never compiled together with others (see WEFT_UNITY)
#   COLD documents.cpp)                   sources that are compiled with -O1, each alone
# makes the target weft_common_manifest with the alias weft::manifest.
function(weft_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;NEIGHBOURS;OUTSIDE;TESTS;TEST_NEIGHBOURS;TEST_OUTSIDE;OPTIMISE;ALONE;COLD")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_library(${folder}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  weft_target_name(${folder} target)
  cmake_path(GET folder FILENAME name)
  set(kind INTERFACE)
  set(scope INTERFACE)
  if(arg_SOURCES)
    set(kind STATIC)
    set(scope PUBLIC)
  endif()
  add_library(${target} ${kind})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/${folder}/ OUTPUT_VARIABLE sources)
  foreach(source ${arg_ALONE} ${arg_COLD})
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${folder}/${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    foreach(source ${arg_COLD})  # GCC accepts a precompiled header only with the optimisation with which it was made.
      set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${folder}/${source} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
    endforeach()
  endif()
  if(arg_SOURCES)
    target_sources(${target} PRIVATE ${sources})
    target_link_libraries(${target} PRIVATE ${arg_OUTSIDE})
    if(arg_OPTIMISE AND CMAKE_BUILD_TYPE STREQUAL Release)
      target_compile_options(${target} PRIVATE -O${arg_OPTIMISE})
    endif()
    if(arg_OPTIMISE EQUAL 1)
      weft_precompiled_cold(${target})
    else()
      weft_precompiled(${target})
    endif()
    weft_unity(${target} 8)
  else()
    target_link_libraries(${target} INTERFACE ${arg_OUTSIDE})
  endif()
  target_link_libraries(${target} ${scope} weft_compile_options)
  foreach(neighbour ${arg_NEIGHBOURS})
    weft_target_name(${neighbour} neighbour_target)
    target_link_libraries(${target} ${scope} ${neighbour_target})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY WEFT_FOLDERS ${folder})
  set_property(GLOBAL PROPERTY WEFT_NEIGHBOURS_${folder} "${arg_NEIGHBOURS}")
  set_property(GLOBAL PROPERTY WEFT_TEST_NEIGHBOURS_${folder} "${arg_TEST_NEIGHBOURS}")
  set_property(GLOBAL PROPERTY WEFT_TESTS_${folder} "${arg_TESTS}")

  if(arg_TESTS AND NOT EMSCRIPTEN)
    string(REPLACE "/" "_" test_name ${folder})
    string(REGEX REPLACE "^(common|engine|decisions|platform|bindings|apps)_" "" test_name ${test_name})
    set(test ${test_name}_test)
    list(TRANSFORM arg_TESTS PREPEND ${CMAKE_SOURCE_DIR}/src/${folder}/ OUTPUT_VARIABLE test_sources)
    add_executable(${test} ${test_sources})
    target_link_libraries(${test} PRIVATE ${target} GTest::gtest GTest::gmock GTest::gtest_main ${arg_TEST_OUTSIDE})
    foreach(neighbour ${arg_TEST_NEIGHBOURS})
      weft_target_name(${neighbour} neighbour_target)
      target_link_libraries(${test} PRIVATE ${neighbour_target})
    endforeach()
    target_compile_definitions(${test} PRIVATE WEFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_compile_options(${test} PRIVATE ${weft_test_options})
    if(NOT WEFT_SANITIZE_TESTS)
      # With sanitizers, half of the compile time of tests is that of the tests' own sources, which therefore have no
      # sanitizers. The tested library is linked first and as a whole: if the library and the test contain the same
      # function of a header, the linker takes the one with sanitizers.
      set_property(TARGET ${test} PROPERTY WEFT_PLAIN ON)
      if(arg_SOURCES)
        target_link_options(${test} PRIVATE "SHELL:-Wl,--whole-archive $<TARGET_FILE:${target}> -Wl,--no-whole-archive")
      endif()
    endif()
    weft_precompiled_test(${test})
    weft_unity(${test} 6)
    set_target_properties(${test} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${test} COMMAND ${test} --gtest_brief=0)
    set_tests_properties(${test} PROPERTIES WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} LABELS folder:${folder})
    if(folder MATCHES "${weft_sanitized_folders}")
      weft_sanitized(${test} ${test})
    endif()
  endif()
endfunction()

# Every test run also runs the tests of these folders under the address and undefined-behaviour sanitizers (the target
# `sanitized` of the preset `sanitized`): money, decisions, and all code that reads data from strangers. The simulations
# are not among them, because they compute statistics for minutes with code that has its own tests here.
set(weft_sanitized_folders "^common/|^decisions/[a-z]+$|^engine/(gguf|grammar|jinja|onnx|schema|tokenizer|unicode)$")
add_custom_target(sanitized)
function(weft_sanitized target test)
  add_dependencies(sanitized ${target})
  set_property(TEST ${test} APPEND PROPERTY LABELS sanitized)
endfunction()

# weft_parts(TARGET SOURCES src/platform/net/http.cpp ... NEIGHBOURS common/json ...) If WEFT_PARTS is on, it compiles
# these sources of other folders as sources of TARGET. So the `sanitized` preset does not compile whole folders, and all
# folders below them, for a few sources. If WEFT_PARTS is off, it links the folders of the sources.
function(weft_parts target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;NEIGHBOURS")
  foreach(source ${arg_SOURCES})
    if(WEFT_PARTS)
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/${source})
    else()
      cmake_path(GET source PARENT_PATH folder)
      string(REGEX REPLACE "^src/" "" folder ${folder})
      weft_target_name(${folder} neighbour)
      target_link_libraries(${target} PRIVATE ${neighbour})
    endif()
  endforeach()
  foreach(folder ${arg_NEIGHBOURS})
    weft_target_name(${folder} neighbour)
    target_link_libraries(${target} PRIVATE ${neighbour})
  endforeach()
endfunction()

# If WEFT_UNITY is on, the sources of a target are compiled in batches of `batch` sources. The names in the unnamed
# namespaces of a folder must then differ. A source that cannot be in a batch is listed under ALONE.
function(weft_unity target batch)
  if(WEFT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

function(weft_target_name folder out)
  string(REPLACE "/" "_" flat ${folder})
  set(${out} weft_${flat} PARENT_SCOPE)
endfunction()

# Runs a library's tests again on SwiftShader, which is a part of Chromium: it has subgroups of 4, no f16 and no
# subgroup matrices. An optional filter for GoogleTest after the name selects some of the tests.
function(weft_test_on_swiftshader test)
  set(driver /usr/lib/chromium/vk_swiftshader_icd.json)
  if(TARGET ${test} AND EXISTS ${driver})
    set(filter "")
    if(ARGN)
      set(filter --gtest_filter=${ARGN})
    endif()
    add_test(NAME ${test}_swiftshader COMMAND ${test} ${filter})
    # The results have their own name. GTEST_OUTPUT names a folder, in which two results of one program would be counted
    # as a repetition.
    set_tests_properties(${test}_swiftshader PROPERTIES TIMEOUT 600 ENVIRONMENT VK_DRIVER_FILES=${driver}
      ENVIRONMENT_MODIFICATION GTEST_OUTPUT=string_append:${test}_swiftshader.json)
  endif()
endfunction()

# Writes which folders each folder may include, for the test that compares this list with the sources.
function(weft_write_arrows)
  get_property(folders GLOBAL PROPERTY WEFT_FOLDERS)
  set(text "")
  foreach(folder ${folders})
    get_property(neighbours GLOBAL PROPERTY WEFT_NEIGHBOURS_${folder})
    get_property(test_neighbours GLOBAL PROPERTY WEFT_TEST_NEIGHBOURS_${folder})
    list(JOIN neighbours " " neighbours)
    list(JOIN test_neighbours " " test_neighbours)
    get_property(tests GLOBAL PROPERTY WEFT_TESTS_${folder})
    list(LENGTH tests tests)
    string(APPEND text "${folder}|${neighbours}|${test_neighbours}|${tests}\n")
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/arrows.txt "${text}")
  if(WEFT_DAWN)  # Without Dawn, folders have other neighbours than the lists in their files.
    set(check ${CMAKE_COMMAND} -DARROWS=${CMAKE_BINARY_DIR}/arrows.txt -DROOT=${CMAKE_SOURCE_DIR}/src -P ${CMAKE_SOURCE_DIR}/cmake/check_arrows.cmake)
    add_test(NAME arrows COMMAND ${check})
    add_custom_target(arrows ALL COMMAND ${check} COMMENT "Includes of every folder" VERBATIM)  # So a wrong include is found by a build, before tests run.
    add_test(NAME arrows_refused COMMAND ${CMAKE_COMMAND} -DSCRATCH=${CMAKE_BINARY_DIR}/arrows_refused -P ${CMAKE_SOURCE_DIR}/cmake/check_arrows_test.cmake)
  endif()
endfunction()
