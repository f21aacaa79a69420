# examples/<x>.c is what a user would write: public headers and the shared library, nothing else. ctest runs each
# with the path of an empty folder as its argument.
file(GLOB SHERD_EXAMPLES CONFIGURE_DEPENDS examples/*.c)
if(NOT TARGET sherd_mpi OR SHERD_SANITIZE) # MPI leaks, and sanitizers mind
  list(FILTER SHERD_EXAMPLES EXCLUDE REGEX "/mpi\\.c$")
endif()
foreach(source ${SHERD_EXAMPLES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE sherd sherd_flags)
  if(name STREQUAL "mpi") # by one rank here; tests/mpi has more
    target_link_libraries(example_${name} PRIVATE sherd_mpi PkgConfig::SHERD_MPI_mpi_c)
  endif()
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  add_test(NAME examples/${name}
    COMMAND sh -c "rm -rf \"$1\" && mkdir -p \"$1\" && exec \"$2\" \"$1\""
      sh ${PROJECT_BINARY_DIR}/examples/${name}.folder $<TARGET_FILE:example_${name}>)
  set_tests_properties(examples/${name} PROPERTIES TIMEOUT 300)
endforeach()
