# The package `sherd` for Python: the extension sherd._core, for the limited API of CPython 3.11, with the libraries
# inside. In the build folder it stands beside a link to the sources (python/sherd), so that tests run without
# installing; the wheel is made by scikit-build-core (python/pyproject.toml), which installs the component `python`.
option(SHERD_PYTHON_PACKAGE "build the package for Python" ${PROJECT_IS_TOP_LEVEL})
if(NOT SHERD_PYTHON_PACKAGE)
  message(STATUS "sherd: the package for Python is left out: SHERD_PYTHON_PACKAGE is OFF")
  return()
endif()
if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3) # of the distribution, as numpy and pytest are
endif()
find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.SABIModule Development.Module)
if(NOT Python_Development.Module_FOUND)
  message(STATUS "sherd: the package for Python is left out: no headers of Python 3.11 or later are here")
  return()
endif()

file(GLOB SHERD_PYTHON_SOURCES CONFIGURE_DEPENDS python/src/*.c)
add_library(sherd_python MODULE ${SHERD_PYTHON_SOURCES})
target_include_directories(sherd_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(sherd_python PRIVATE sherd_static sherd_flags)
if(TARGET sherd_s3_static)
  target_link_libraries(sherd_python PRIVATE sherd_s3_static)
  target_compile_definitions(sherd_python PRIVATE SHERD_HAS_S3)
endif()
# Only the module's entry: what is linked into it must not meet another libsherd of the process.
target_link_options(sherd_python PRIVATE -Wl,--exclude-libs,ALL)
set(SHERD_PYTHON_TREE ${PROJECT_BINARY_DIR}/python)
set_target_properties(sherd_python PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so
  LIBRARY_OUTPUT_DIRECTORY ${SHERD_PYTHON_TREE}/sherd)
# Every file is linked, not the folder: the extension stands among them.
file(GLOB SHERD_PYTHON_FILES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/sherd
  python/sherd/*.py python/sherd/*.pyi python/sherd/py.typed)
file(MAKE_DIRECTORY ${SHERD_PYTHON_TREE}/sherd)
foreach(name ${SHERD_PYTHON_FILES})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/sherd/${name} ${SHERD_PYTHON_TREE}/sherd/${name} SYMBOLIC)
endforeach()

install(TARGETS sherd_python LIBRARY DESTINATION sherd COMPONENT python EXCLUDE_FROM_ALL)

# pytest of the distribution; the tests that need torch are run by tools/interop-python.
if(NOT SHERD_TESTS)
  return()
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -c "import numpy, pytest" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message(STATUS "sherd: numpy or pytest is not here; python/pytest is left out")
elseif(SHERD_SANITIZE AND NOT (SHERD_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU"))
  message(STATUS "sherd: python/pytest is left out: the interpreter has no runtime for ${SHERD_SANITIZE}")
else()
  set(environment PYTHONPATH=${SHERD_PYTHON_TREE} PYTHONDONTWRITEBYTECODE=1 SHERD_SOURCE=${PROJECT_SOURCE_DIR}
    SHERD_COMMAND=${PROJECT_BINARY_DIR}/sherd)
  if(SHERD_SANITIZE)
    # The runtime has to be there before the interpreter, which leaks by design.
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE runtime
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND environment LD_PRELOAD=${runtime} ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1)
  endif()
  add_test(NAME python/pytest COMMAND ${CMAKE_COMMAND} -E env ${environment}
    ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider --ignore=${PROJECT_SOURCE_DIR}/python/tests/torch
    ${PROJECT_SOURCE_DIR}/python/tests)
  set_tests_properties(python/pytest PROPERTIES TIMEOUT 900 COST 10)
endif()
