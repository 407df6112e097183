# Tests check_arrows.cmake: it must refuse a small tree that breaks one rule, with a sentence that names the problem.
# Usage: cmake -DSCRATCH=FOLDER -P check_arrows_test.cmake
set(checker ${CMAKE_CURRENT_LIST_DIR}/check_arrows.cmake)

# Checks one tree: `rows` are those of arrows.txt; `include` and `test_include` are the texts of decisions/rules and of
# its test. The check must print `sentence`; an empty sentence means that it must succeed.
function(expect sentence rows include test_include)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/src/decisions/rules/rules.cpp "${include}\n")
  file(WRITE ${SCRATCH}/src/decisions/rules/rules_test.cpp "${test_include}\n")
  list(JOIN rows "\n" text)
  file(WRITE ${SCRATCH}/arrows.txt "${text}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DARROWS=${SCRATCH}/arrows.txt -DROOT=${SCRATCH}/src -P ${checker}
    OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake breaks long messages into lines.
  string(FIND "${said}" "${sentence}" at)
  if(sentence STREQUAL "" AND NOT code EQUAL 0)
    message(SEND_ERROR "A good tree is refused: ${said}")
  elseif(NOT sentence STREQUAL "" AND (code EQUAL 0 OR at EQUAL -1))
    message(SEND_ERROR "Not said: ${sentence}\nSaid (${code}): ${said}")
  endif()
endfunction()

set(others "common/base|||1" "platform/store|common/base||1")
set(base "#include \"common/base/ids.h\"")
set(store "#include \"platform/store/store.h\"")
expect("" "decisions/rules|common/base||1;${others}" "${base}" "${base}")
expect("rules.cpp includes from platform/store, which decisions/rules does not list"
  "decisions/rules|common/base||1;${others}" "${store}" "${base}")
expect("decisions/rules lists platform/store: arrows point down"
  "decisions/rules|common/base platform/store||1;${others}" "${store}" "${base}")
expect("rules_test.cpp includes from platform/store, which decisions/rules does not list"
  "decisions/rules|common/base||1;${others}" "${base}" "${store}")
expect("decisions/rules lists platform/store: arrows point down"
  "decisions/rules|common/base|platform/store|1;${others}" "${base}" "${store}")
expect("decisions/rules lists common/gone, which is no folder"
  "decisions/rules|common/base common/gone||1;${others}" "${base}" "${base}")
expect("decisions/rules lists common/gone, which is no folder"
  "decisions/rules|common/base|common/gone|1;${others}" "${base}" "${base}")
expect("decisions/rules has no test program" "decisions/rules|common/base||0;${others}" "${base}" "${base}")
expect("other/rules belongs to no part" "other/rules|common/base||1;${others}" "${base}" "${base}")
file(REMOVE_RECURSE ${SCRATCH})
