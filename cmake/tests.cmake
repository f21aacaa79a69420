# A test program is a file tests/<kind>/**/test_<name>.c; its ctest name is its path without "test_".
# Nothing is registered by hand.
find_package(cmocka REQUIRED)

# The component of docs/extending.md: its store runs the contract, and a command is linked with it.
component(shelf FOLDER tests/component/shelf TEST)
add_executable(program_with_shelf tests/install/component.c)
target_link_libraries(program_with_shelf PRIVATE sherd_shelf sherd_flags)
if(SHERD_COMMAND)
  component_command(sherd_with_shelf shelf)
  # The command of docs/extending.md: a file and a line.
  component_command(sherd_with_count)
  target_sources(sherd_with_count PRIVATE tests/component/count/count.c)
  target_compile_options(sherd_with_count PRIVATE "-DCLI_MORE_COMMANDS(X)=X(count)")
endif()

file(GLOB SHERD_TEST_SUPPORT CONFIGURE_DEPENDS tests/support/*.c)
list(FILTER SHERD_TEST_SUPPORT EXCLUDE REGEX "(fail_malloc|no_wait)\\.c$")
if(NOT TARGET sherd_s3_static)
  list(FILTER SHERD_TEST_SUPPORT EXCLUDE REGEX "/s3_[^/]*\\.c$")
endif()
add_library(sherd_test_support STATIC ${SHERD_TEST_SUPPORT})
target_include_directories(sherd_test_support PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(sherd_test_support PUBLIC sherd_shelf_static sherd_static cmocka PRIVATE sherd_flags)
if(TARGET sherd_s3_static)
  target_link_libraries(sherd_test_support PUBLIC sherd_s3_static)
  target_compile_definitions(sherd_test_support PUBLIC SHERD_HAS_S3)
endif()

# Some 240 programs hold the whole library: a quick linker, where there is one, halves what linking them takes.
include(CheckLinkerFlag)
foreach(linker mold gold)
  if(NOT SHERD_QUICK_LINK)
    check_linker_flag(C -fuse-ld=${linker} SHERD_HAS_${linker})
    if(SHERD_HAS_${linker})
      set(SHERD_QUICK_LINK -fuse-ld=${linker})
    endif()
  endif()
endforeach()
# The library is tested as users get it; what the tests themselves do need not be fast, but is most of what is compiled.
set(SHERD_QUICK_COMPILE $<$<CONFIG:RelWithDebInfo>:-O0>)

add_library(sherd_no_wait OBJECT tests/support/no_wait.c)
target_link_libraries(sherd_no_wait PRIVATE sherd_flags)

set(SHERD_FIXTURES "${PROJECT_SOURCE_DIR}/../shared/fixtures")
if(EXISTS "${SHERD_FIXTURES}")
  get_filename_component(SHERD_FIXTURES "${SHERD_FIXTURES}" ABSOLUTE)
else()
  message(STATUS "sherd: no foreign fixtures beside the checkout; tests that read them are left out")
  set(SHERD_FIXTURES "")
endif()

file(GLOB_RECURSE SHERD_TEST_PROGRAMS CONFIGURE_DEPENDS tests/*/test_*.c)
if(NOT TARGET sherd_s3_static)
  list(FILTER SHERD_TEST_PROGRAMS EXCLUDE REGEX "/unit/s3/")
endif()
foreach(source ${SHERD_TEST_PROGRAMS})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/tests ${source})
  string(REGEX REPLACE "test_([^/]*)\\.c$" "\\1" name ${path})
  string(REPLACE "/" "_" target "test_${name}")
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE sherd_test_support sherd_flags)
  target_compile_options(${target} PRIVATE ${SHERD_QUICK_COMPILE})
  target_link_options(${target} PRIVATE ${SHERD_QUICK_LINK})
  if(NOT name MATCHES "^contract/")
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:sherd_no_wait>)
  endif()
  if(name MATCHES "^unit/bench/")
    string(REGEX REPLACE "^unit/" "" part ${name})
    target_sources(${target} PRIVATE ${part}.c)
  endif()
  if(name MATCHES "^fault/")
    # Every allocation of the process can be made to fail.
    target_sources(${target} PRIVATE tests/support/fail_malloc.c)
    target_link_options(${target} PRIVATE
      -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=aligned_alloc,--wrap=posix_memalign)
  endif()
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900
    ENVIRONMENT "SHERD_SOURCE=${PROJECT_SOURCE_DIR};SHERD_BUILD=${PROJECT_BINARY_DIR};SHERD_FIXTURES=${SHERD_FIXTURES};SHERD_COMMAND=${PROJECT_BINARY_DIR}/sherd")
endforeach()

include(cmake/scripts.cmake)
