# Writes the files TEXT, one behind the other, as a C array NAME, and NAME_bytes, into OUT:
#     cmake -DTEXT=… -DNAME=… -DHEADER=… -DOUT=… -P embed_text.cmake
# A script that includes this one may have set BYTES, hexadecimal digits that come before them.
set(bytes "${BYTES}")
foreach(file ${TEXT})
    file(READ ${file} text HEX)
    string(APPEND bytes "${text}")
endforeach()
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nconst char ${NAME}[] = {\n${bytes}0};\nconst size_t ${NAME}_bytes = sizeof ${NAME} - 1;\n")
