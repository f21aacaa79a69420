# Optional parts: each a library of its own, so that nobody loads what only some need.
#
# component(<name> [FOLDER <folder>] [DEPENDS <pkg-config name>...] [LOADED] [TEST])
#
# src/<name> (or FOLDER) holds *.c, include/sherd/<name>.h and the export list libsherd_<name>.sym; the header declares
# sherd_<name>_component() (sherd/sys/component.h). Sources see public headers only, and of DEPENDS what they wrap.
# Gives the libraries sherd_<name> and sherd_<name>_static, and installs the shared one: find_package(sherd COMPONENTS
# <name>) has sherd::sherd_<name>, pkg-config sherd_<name>. The command is linked with it and lists it (--version).
# Left out, with a line that says why, where a dependency is missing or SHERD_<NAME> is OFF.
# LOADED: the command is not linked with it, and loads it when it finds that it needs it.
# TEST: installed only by "cmake --install --component sherd_<name>", and not linked with the command.
function(component name)
  cmake_parse_arguments(PARSE_ARGV 1 part "TEST;LOADED" "FOLDER" "DEPENDS")
  string(TOUPPER ${name} upper)
  if(NOT part_TEST)
    option(SHERD_${upper} "build the component ${name}" ON)
  endif()
  if(NOT part_TEST AND NOT SHERD_${upper})
    message(STATUS "sherd: component ${name} is left out: SHERD_${upper} is OFF")
    return()
  endif()
  set(libraries "")
  foreach(module ${part_DEPENDS})
    string(MAKE_C_IDENTIFIER SHERD_${upper}_${module} prefix)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
    if(NOT TARGET PkgConfig::${prefix})
      message(STATUS "sherd: component ${name} is left out: ${module} is not here")
      return()
    endif()
    list(APPEND libraries PkgConfig::${prefix})
  endforeach()
  if(NOT part_FOLDER)
    set(part_FOLDER src/${name})
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/${part_FOLDER})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.c)
  set(symbols ${folder}/libsherd_${name}.sym)

  add_library(sherd_${name} SHARED ${sources})
  add_library(sherd_${name}_static STATIC ${sources})
  foreach(kind "" _static)
    target_include_directories(sherd_${name}${kind} PUBLIC
      $<BUILD_INTERFACE:${folder}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(sherd_${name}${kind} PUBLIC sherd${kind} PRIVATE sherd_flags ${libraries})
    add_library(sherd::sherd_${name}${kind} ALIAS sherd_${name}${kind})
  endforeach()
  # Python's extension has the static one inside.
  set_target_properties(sherd_${name}_static PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # What a component loads by itself need not be there when a program starts.
  target_link_options(sherd_${name} PRIVATE -Wl,--as-needed -Wl,--version-script=${symbols})
  set_target_properties(sherd_${name} PROPERTIES LINK_DEPENDS ${symbols}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set_target_properties(sherd_${name} PROPERTIES
    SHERD_FOLDER ${folder} SHERD_DEPENDS "${part_DEPENDS}" SHERD_TEST ${part_TEST})
  set_property(GLOBAL APPEND PROPERTY SHERD_COMPONENTS ${name})
  if(NOT part_LOADED)
    set_property(GLOBAL APPEND PROPERTY SHERD_LINKED ${name})
  endif()
endfunction()

# For cmake/install.cmake, which knows where things go.
function(component_install name)
  get_target_property(folder sherd_${name} SHERD_FOLDER)
  get_target_property(depends sherd_${name} SHERD_DEPENDS)
  get_target_property(test sherd_${name} SHERD_TEST)
  set(when COMPONENT sherd_${name})
  if(test)
    list(APPEND when EXCLUDE_FROM_ALL)
  endif()
  set_target_properties(sherd_${name} PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS sherd_${name} EXPORT sherd-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${when})
  install(EXPORT sherd-${name} NAMESPACE sherd:: DESTINATION ${package_dir} ${when})
  # sherd-config.cmake takes in those that it finds beside it.
  file(CONFIGURE OUTPUT component-${name}.cmake
    CONTENT "include(\${CMAKE_CURRENT_LIST_DIR}/sherd-${name}.cmake)\nset(sherd_${name}_FOUND TRUE)\n" @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/component-${name}.cmake DESTINATION ${package_dir} ${when})
  list(JOIN depends " " pc_requires)
  set(pc_name ${name})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/component.pc.in sherd_${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sherd_${name}.pc DESTINATION ${pc_dir} ${when})
  install(DIRECTORY ${folder}/include/sherd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${when})
endfunction()

# component_command(<target> <name>...): the command, linked with these components.
function(component_command target)
  set(declared "")
  set(listed "")
  set(libraries "")
  foreach(name ${ARGN})
    string(APPEND declared "const sherd_component *sherd_${name}_component(void);\n")
    string(APPEND listed "sherd_${name}_component, ")
    list(APPEND libraries sherd_${name})
  endforeach()
  file(CONFIGURE OUTPUT ${target}_components.c @ONLY CONTENT
    "#include \"components.h\"\n\n@declared@\ncli_component_fn *const cli_component_list[] = {@listed@NULL};\n")
  add_executable(${target} $<TARGET_OBJECTS:sherd_command_objects> ${PROJECT_SOURCE_DIR}/cli/commands.c
    ${CMAKE_CURRENT_BINARY_DIR}/${target}_components.c)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cli)
  target_link_libraries(${target} PRIVATE ${libraries} sherd sherd_flags)
endfunction()
