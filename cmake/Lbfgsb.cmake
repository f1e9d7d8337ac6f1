# L-BFGS-B (Debian's liblbfgsb.a) as one object of the core: dj_setulb alone is visible, and what
# Fortran's runtime would do for it (printing, some of it whatever iprint says) is done, or not, by
# core/src/optimize/lbfgsb_fortran.c. So nothing is printed, and no Fortran runtime is needed.

find_library(DJ_LBFGSB NAMES liblbfgsb.a)
mark_as_advanced(DJ_LBFGSB)
if(NOT DJ_LBFGSB)
  message(FATAL_ERROR "liblbfgsb.a not found: install liblbfgsb-dev "
                      "(scripts/setup.sh installs everything)")
endif()
foreach(tool CMAKE_LINKER CMAKE_OBJCOPY)
  if(NOT ${tool})
    message(FATAL_ERROR "${tool} not found: install binutils")
  endif()
endforeach()

set(dj_lbfgsb_object "${CMAKE_BINARY_DIR}/lib/lbfgsb.o")
set(renamed --redefine-sym setulb_=dj_setulb
    --redefine-sym _gfortran_compare_string=dj_fortranCompare
    --redefine-sym _gfortran_cpu_time_4=dj_fortranTime)
foreach(what st_write st_write_done transfer_array_write transfer_character_write
             transfer_integer_write transfer_real_write)
  list(APPEND renamed --redefine-sym _gfortran_${what}=dj_fortran_${what})
endforeach()
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
add_custom_command(
  OUTPUT "${dj_lbfgsb_object}"
  COMMAND "${CMAKE_LINKER}" -r -o "${dj_lbfgsb_object}" --whole-archive "${DJ_LBFGSB}"
  COMMAND "${CMAKE_OBJCOPY}" ${renamed} "${dj_lbfgsb_object}"
  COMMAND "${CMAKE_OBJCOPY}" --keep-global-symbol=dj_setulb "${dj_lbfgsb_object}"
  DEPENDS "${DJ_LBFGSB}" "${CMAKE_CURRENT_LIST_FILE}" VERBATIM
  COMMENT "Taking L-BFGS-B into the core")
