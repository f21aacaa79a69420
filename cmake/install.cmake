# The installed package: both libraries, headers, pkg-config file, CMake package, command, man pages, completion.
# Everything in it finds its neighbours by relative paths, so the tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sherd)
# Two sets, since only the static library asks its user for the libraries beneath.
install(TARGETS sherd EXPORT sherd-shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sherd_static EXPORT sherd-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sherd-shared NAMESPACE sherd:: DESTINATION ${package_dir})
install(EXPORT sherd-static NAMESPACE sherd:: DESTINATION ${package_dir})
configure_file(cmake/sherd-config.cmake.in sherd-config.cmake @ONLY)
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(sherd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sherd-config.cmake ${PROJECT_BINARY_DIR}/sherd-config-version.cmake
  DESTINATION ${package_dir})

set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /prefix/${pc_dir} /prefix)
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/sherd.pc.in sherd.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sherd.pc DESTINATION ${pc_dir})

get_property(components GLOBAL PROPERTY SHERD_COMPONENTS)
foreach(name ${components})
  component_install(${name})
endforeach()

install(DIRECTORY include/sherd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET sherd_command)
  file(RELATIVE_PATH bin_to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(sherd_command PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  install(TARGETS sherd_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/completion/sherd.bash)
  install(FILES completion/sherd.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sherd)
endif()
