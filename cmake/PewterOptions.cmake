# Compiler settings shared by every target.
option(PEWTER_TESTS "Build the tests" ON)
option(PEWTER_BENCHMARKS "Build the benchmarks" OFF)
option(PEWTER_FUZZERS "Build the fuzzers of input; takes Clang" OFF)
set(PEWTER_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Dev: optimised, asserts on, line tables for backtraces but no full debug information, which would double the build.
set(CMAKE_CXX_FLAGS_DEV "-O2 -g1")

find_program(PEWTER_CCACHE ccache)
if(PEWTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PEWTER_CCACHE}")
endif()

# Warnings are errors in our own code; headers of others are SYSTEM.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # At -O3 GCC 12 sees copies within std::string overlap that do not.
  add_compile_options($<$<CONFIG:Release>:-Wno-restrict>)
endif()
if(PEWTER_SANITIZE)
  # The checks cost more to optimise than they gain: -O1 builds a third quicker.
  set(CMAKE_CXX_FLAGS_DEV "-O1 -g1")
  add_compile_options(-fsanitize=${PEWTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PEWTER_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With the thread sanitizer's calls in between, GCC 12 no longer sees what an optional is initialized by.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
if(PEWTER_FUZZERS)
  # Coverage for libFuzzer; LLVM has no type information for classes of its own.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=vptr,function)
endif()
