# Tests that are scripts: lint, command line, interop, install. Each gets the build through its environment.
function(sherd_script_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900
    ENVIRONMENT "SHERD_SOURCE=${PROJECT_SOURCE_DIR};SHERD_BUILD=${PROJECT_BINARY_DIR};SHERD_FIXTURES=${SHERD_FIXTURES};SHERD_COMMAND=${PROJECT_BINARY_DIR}/sherd;SHERD_SANITIZE=${SHERD_SANITIZE};CC=${CMAKE_C_COMPILER}")
endfunction()

sherd_script_test(lint/layers ${PROJECT_SOURCE_DIR}/tools/check-layers)
