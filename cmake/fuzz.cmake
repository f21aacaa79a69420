# fuzz/fuzz_<x>.c is built twice: as replay_<x>, which ctest runs over the kept inputs with any compiler, and with
# SHERD_FUZZ=ON as fuzz_<x>, the libFuzzer program.
file(GLOB SHERD_FUZZ_TARGETS CONFIGURE_DEPENDS fuzz/fuzz_*.c)
if(SHERD_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SHERD_FUZZ needs clang")
  endif()
  # The library's branches guide the fuzzer.
  target_compile_options(sherd_objects PRIVATE -fsanitize=fuzzer-no-link)
  # An input of graph_ops is a program: no part of it is ever compared with a value that the fuzzer could learn, and
  # watching all comparisons for that takes a third of the time.
  add_library(sherd_unwatched STATIC EXCLUDE_FROM_ALL ${SHERD_SOURCES})
  target_include_directories(sherd_unwatched PUBLIC include PRIVATE src)
  target_link_libraries(sherd_unwatched PUBLIC Threads::Threads ${SHERD_LIBRARIES} PRIVATE sherd_flags)
  target_compile_options(sherd_unwatched PRIVATE -O2 -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
  set(SHERD_FUZZ_LIBRARY_graph_ops sherd_unwatched)
endif()

# How inputs are changed so that lengths and checksums stay right; mutate.c is libFuzzer's way in.
file(GLOB SHERD_FUZZ_FORMS CONFIGURE_DEPENDS fuzz/form_*.c)
add_library(fuzz_forms STATIC ${SHERD_FUZZ_FORMS})
target_include_directories(fuzz_forms PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/fuzz)
target_link_libraries(fuzz_forms PRIVATE sherd_static sherd_flags)
add_library(fuzz_replay OBJECT fuzz/mutate.c fuzz/replay.c)
target_include_directories(fuzz_replay PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/fuzz)
target_link_libraries(fuzz_replay PRIVATE sherd_flags)

# What else a target is made of.
set(SHERD_FUZZ_container fuzz/bundle.c)
set(SHERD_FUZZ_gguf fuzz/bundle.c)
set(SHERD_FUZZ_set fuzz/bundle.c)
set(SHERD_FUZZ_graph_ops fuzz/ops_model.c)

foreach(source ${SHERD_FUZZ_TARGETS})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${name})
  add_executable(replay_${name} ${source} ${SHERD_FUZZ_${name}} $<TARGET_OBJECTS:fuzz_replay>)
  target_include_directories(replay_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/fuzz)
  target_link_libraries(replay_${name} PRIVATE fuzz_forms sherd_static sherd_flags)
  target_link_options(replay_${name} PRIVATE ${SHERD_QUICK_LINK})
  # Fails when neither folder holds an input.
  add_test(NAME fuzz/${name} COMMAND replay_${name}
    ${PROJECT_SOURCE_DIR}/tests/corpus/${name} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
  set_tests_properties(fuzz/${name} PROPERTIES TIMEOUT 900)
  if(SHERD_FUZZ)
    add_executable(fuzz_${name} ${source} ${SHERD_FUZZ_${name}} fuzz/mutate.c)
    target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/fuzz)
    target_link_libraries(fuzz_${name} PRIVATE ${SHERD_FUZZ_LIBRARY_${name}} fuzz_forms sherd_static sherd_flags)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()
