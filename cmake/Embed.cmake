# dj_embed(target files...): adds the texts of files to a target, that of player.js as the array
# `const char player_js[]`. As a script, with `from` and `to`, it writes one such array: characters
# are ASCII.

if(CMAKE_SCRIPT_MODE_FILE)
  get_filename_component(name "${from}" NAME)
  string(MAKE_C_IDENTIFIER "${name}" name)
  file(READ "${from}" text HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
  string(REGEX REPLACE "(................................................................................)"
                       "\\1\n" text "${text}")
  file(WRITE "${to}" "extern const char ${name}[];\nconst char ${name}[] = {\n${text}0};\n")
  return()
endif()

set(DJ_EMBED "${CMAKE_CURRENT_LIST_FILE}")

function(dj_embed target)
  foreach(file IN LISTS ARGN)
    get_filename_component(name "${file}" NAME)
    set(source "${CMAKE_BINARY_DIR}/embedded/${name}.c")
    add_custom_command(
      OUTPUT "${source}"
      COMMAND "${CMAKE_COMMAND}" "-Dfrom=${file}" "-Dto=${source}" -P "${DJ_EMBED}"
      DEPENDS "${file}" "${DJ_EMBED}"
      VERBATIM)
    target_sources(${target} PRIVATE "${source}")
  endforeach()
endfunction()
