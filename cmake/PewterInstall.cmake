# What `cmake --install` puts where, and the package that find_package(pewter) finds.
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/pewter")

install(TARGETS pewter pewter_metal_headers pewter_api_headers EXPORT pewterTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY pewter/metal/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/pewter/metal")
install(DIRECTORY pewter/api/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

# The compiler is opened at run time, from beside libpewter; its data lies in pewter/ beside it.
install(TARGETS pewter_compiler LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pewter"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}")

set_target_properties(pewter_tool PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS pewter_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
# The names of Apple's tools, in a folder of their own for those who put it into PATH.
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/apple\")
  file(MAKE_DIRECTORY \"\${folder}\")
  foreach(tool metal metallib metal-ar metal-nm metal-objdump xcrun)
    file(CREATE_LINK ../pewter \"\${folder}/\${tool}\" SYMBOLIC)
  endforeach()")

install(EXPORT pewterTargets NAMESPACE pewter:: DESTINATION "${package_folder}")
configure_package_config_file(cmake/pewterConfig.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/pewterConfig.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/pewterConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pewterConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/pewterConfigVersion.cmake"
        DESTINATION "${package_folder}")
