# cmake -DBUILD=... -DWORK=... -DPROJECT=... -DCXX=... [-DSANITIZE=...] -P install_test.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nfailed with ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect pattern)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "expected '${pattern}' in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
# The installed tree must not lean on the place where it was built or first put.
file(RENAME "${WORK}/prefix" "${WORK}/moved")

run("${CMAKE_COMMAND}" -G Ninja -S "${PROJECT}" -B "${WORK}/build" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_PREFIX_PATH=${WORK}/moved" "-DSANITIZE=${SANITIZE}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
set(ENV{XDG_CACHE_HOME} "${WORK}/cache")
run("${WORK}/build/outside")
expect("sum 4950")
run("${WORK}/moved/bin/pewter" info)
expect("clang, llvm")
