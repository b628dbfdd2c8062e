# Fails where a kernel module refers to a symbol that it does not define (libc, compiler runtime).
execute_process(COMMAND ${NM} --undefined-only ${BITCODE} OUTPUT_VARIABLE undefined RESULT_VARIABLE rc)
if(rc OR NOT undefined STREQUAL "")
  file(REMOVE ${BITCODE})
  message(FATAL_ERROR "${BITCODE}: kernels may call nothing outside, but need:\n${undefined}")
endif()
