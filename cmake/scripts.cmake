# Tests that are scripts: lint, command line, interop, install. Each gets the build through its environment.
find_program(SHERD_CXX NAMES c++ g++ clang++ REQUIRED DOC "a C++ compiler, to try the headers with")

# What a program has to be built with to link an instrumented library.
set(SHERD_INSTRUMENT "")
if(SHERD_SANITIZE)
  string(APPEND SHERD_INSTRUMENT " -fsanitize=${SHERD_SANITIZE}")
endif()
if(SHERD_COVERAGE)
  string(APPEND SHERD_INSTRUMENT " --coverage")
endif()
# A sanitizer's runtime is its compiler's own: g++ cannot link what clang instrumented.
set(script_cxx ${SHERD_CXX})
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  find_program(SHERD_CLANGXX NAMES clang++ REQUIRED)
  set(script_cxx ${SHERD_CLANGXX})
endif()

function(sherd_script_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900
    ENVIRONMENT "SHERD_SOURCE=${PROJECT_SOURCE_DIR};SHERD_BUILD=${PROJECT_BINARY_DIR};SHERD_FIXTURES=${SHERD_FIXTURES};SHERD_COMMAND=${PROJECT_BINARY_DIR}/sherd;SHERD_SANITIZE=${SHERD_SANITIZE};SHERD_INSTRUMENT=${SHERD_INSTRUMENT};CC=${CMAKE_C_COMPILER};CXX=${script_cxx}")
endfunction()

foreach(check layers interface names size text reasons)
  sherd_script_test(lint/${check} ${PROJECT_SOURCE_DIR}/tools/check-${check})
endforeach()
sherd_script_test(lint/symbols ${PROJECT_SOURCE_DIR}/tools/symbols --check ${PROJECT_BINARY_DIR})
sherd_script_test(lint/pure ${PROJECT_SOURCE_DIR}/tools/check-pure ${PROJECT_BINARY_DIR})

# tests/lint/<name>-test.sh: <name> itself is checked, or what needs no tool of its own.
file(GLOB SHERD_LINT_TESTS CONFIGURE_DEPENDS tests/lint/*-test.sh)
foreach(script ${SHERD_LINT_TESTS})
  get_filename_component(name ${script} NAME_WE)
  sherd_script_test(lint/${name} ${script})
endforeach()

find_program(SHERD_MANDOC mandoc DOC "checks the man pages")
file(GLOB SHERD_MAN_PAGES CONFIGURE_DEPENDS man/*.[1-9])
if(NOT SHERD_MANDOC)
  message(STATUS "sherd: no mandoc here; lint/man is left out")
elseif(SHERD_MAN_PAGES)
  sherd_script_test(lint/man ${SHERD_MANDOC} -T lint -W warning ${SHERD_MAN_PAGES})
endif()

sherd_script_test(install/consumer ${PROJECT_SOURCE_DIR}/tests/install/consumer.sh)
sherd_script_test(install/component ${PROJECT_SOURCE_DIR}/tests/install/component.sh)
sherd_script_test(component/command ${PROJECT_SOURCE_DIR}/tests/component/command.sh)
sherd_script_test(install/subproject ${PROJECT_SOURCE_DIR}/tests/install/subproject.sh)

# Ranks of MPI, where it is installed (tools/deps mpi).
find_program(SHERD_MPIRUN NAMES mpirun DOC "runs the tests of the component mpi")
if(TARGET sherd_mpi AND SHERD_SANITIZE)
  message(STATUS "sherd: MPI leaks, and sanitizers mind: mpi/ranks and examples/mpi are left out")
elseif(TARGET sherd_mpi AND SHERD_MPIRUN)
  foreach(program pairs killed)
    add_executable(mpi_${program} tests/mpi/${program}.c)
    target_link_libraries(mpi_${program} PRIVATE sherd_mpi PkgConfig::SHERD_MPI_mpi_c sherd_flags)
  endforeach()
  sherd_script_test(mpi/ranks env SHERD_MPIRUN=${SHERD_MPIRUN} sh ${PROJECT_SOURCE_DIR}/tests/mpi/ranks.sh)
else()
  message(STATUS "sherd: no MPI here; mpi/ranks is left out (make interop-mpi installs it and runs it)")
endif()

# A reader and a writer in Python, made from docs/formats alone, against the library.
find_program(SHERD_PYTHON NAMES python3 DOC "runs the interop tests")
if(SHERD_PYTHON)
  add_executable(interop_checkpoint tests/interop/checkpoint.c)
  target_link_libraries(interop_checkpoint PRIVATE sherd_static sherd_flags)
  sherd_script_test(interop/checkpoint ${SHERD_PYTHON} ${PROJECT_SOURCE_DIR}/tests/interop/checkpoint.py
    $<TARGET_FILE:interop_checkpoint>)
  # tests/interop/<x>.py by itself; read_<x>.py and write_<x>.py are what they use.
  file(GLOB SHERD_INTEROP CONFIGURE_DEPENDS tests/interop/*.py)
  list(FILTER SHERD_INTEROP EXCLUDE REGEX "/(read_[^/]*|write_[^/]*|checkpoint)\\.py$")
  foreach(script ${SHERD_INTEROP})
    get_filename_component(name ${script} NAME_WE)
    sherd_script_test(interop/${name} ${SHERD_PYTHON} ${script})
  endforeach()
  sherd_script_test(crash/storm ${SHERD_PYTHON} ${PROJECT_SOURCE_DIR}/tests/crash/storm.py)
else()
  message(STATUS "sherd: no python3 here; interop tests and crash/storm are left out")
endif()

# tests/cli/<topic>/: scripts with what they must print beside them (tests/cli/run).
file(GLOB SHERD_CLI_TOPICS CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/tests/cli tests/cli/*)
list(REMOVE_ITEM SHERD_CLI_TOPICS lib run)
if(NOT SHERD_FIXTURES)
  list(REMOVE_ITEM SHERD_CLI_TOPICS fixtures)
endif()
foreach(topic ${SHERD_CLI_TOPICS})
  sherd_script_test(cli/${topic} ${PROJECT_SOURCE_DIR}/tests/cli/run ${topic})
endforeach()

# Completion in the shells that are here; bash is asked by cli/usage.
foreach(shell zsh fish)
  find_program(SHERD_${shell} ${shell} DOC "tests its completion")
  if(SHERD_${shell})
    sherd_script_test(completion/${shell} ${PROJECT_SOURCE_DIR}/tests/completion/${shell}.sh)
  else()
    message(STATUS "sherd: no ${shell} here; completion/${shell} is left out")
  endif()
endforeach()

sherd_script_test(cli/demo ${PROJECT_SOURCE_DIR}/tools/demo ${PROJECT_BINARY_DIR})

# Those that take seconds begin first, so that at the end no core waits for one of them.
foreach(slow
    cli/rows fault/graph unit/engine/graph/corruption unit/engine/rows/resident cli/graph crash/cut interop/rows
    crash/graph crash/storm fault/store cli/save cli/verify cli/errors cli/model cli/cat cli/load unit/engine/model/container_huge
    install/consumer interop/container interop/checkpoint interop/samediff unit/engine/graph/hostile cli/convert
    thread/graph_turns cli/ranks unit/engine/model/container_corruption unit/engine/graph/cancel crash/graph_kill cli/usage)
  if(TEST ${slow})
    set_tests_properties(${slow} PROPERTIES COST 10)
  endif()
endforeach()
