# The layer check can fail: a clean tree passes, and each kind of violation put into it is named.
tree=$MASU_TMP/tree
put() { cat >"$MASU_TMP/clean/$1"; } # FILE, text on stdin
write_clean_tree() {
    for folder in include/masu src/base src/devices src/allocators src/planner/model src/recording src/runtime/system src/language/codegen src/language/ir src/tool bench; do
        mkdir -p "$MASU_TMP/clean/$folder"
    done
    echo '#include <stddef.h>' | put include/masu/masu.h
    echo '/* counts */' | put src/base/arena.h
    printf '#include "base/arena.h"\n#include <stdlib.h>\nvoid *masu__m(void) { return malloc(1); }\n' | put src/base/arena.c
    printf '#include <unistd.h>\nvoid f(void) { abort(); }\n' | put src/base/assert.c
    echo '#include <masu/masu.h>' | put src/devices/devices.h
    printf '#include "devices/devices.h"\n#include "base/arena.h"\n' | put src/devices/host.c
    printf '#include "devices/devices.h"\n' | put src/allocators/allocators.h
    printf '#include "allocators/allocators.h"\n#include "pool.h"\n/* malloc(1); */ // free(0)\nconst char *t = "exit(1) \\" getenv(\\"A\\")"; int c = \047"\047;\nvoid g(struct s *s) { s->free(0); s->vtable.printf(1); }\n' | put src/allocators/pool.c
    echo 'int h;' | put src/allocators/pool.h
    echo '#include "base/arena.h"' | put src/planner/model/model.h
    printf '#include "planner/model/model.h"\n#include <masu/masu.h>\n' | put src/planner/plan.c
    printf '#include "base/arena.h"\n#include <masu/masu.h>\n' | put src/recording/recording.h
    printf '#include "allocators/allocators.h"\n' | put src/runtime/runtime.h
    printf '#include "runtime/runtime.h"\n#include <cblas.h>\nvoid p(void) { printf("x"); }\n' | put src/runtime/system/print_tensor.c
    printf '#include "runtime/runtime.h"\nvoid d(void) { out = stdout; }\n' | put src/runtime/runtime.c
    printf '#include "base/arena.h"\n' | put src/language/language.h
    printf '#include "language/language.h"\n' | put src/language/ir/ir.h
    printf '#include "language/language.h"\n#include "language/ir/ir.h"\n#include <llvm-c/Core.h>\n' | put src/language/codegen/jit.c
    printf '#include "language/language.h"\n#include "runtime/runtime.h"\n#include "recording/recording.h"\nint main(void) { puts(getenv("A")); exit(1); }\n' | put src/tool/main.c
    echo '#include <masu/masu.h>' | put bench/epoch.c
}
clean_tree() {
    rm -rf "$tree"
    cp -r "$MASU_TMP/clean" "$tree"
}
write_clean_tree
clean_tree
expect_status 0 scripts/check_layers.sh "$tree"
expect_stdout ''

violation() { # FILE WHAT-IT-SAYS LINE-OF-C
    clean_tree
    echo "$3" >>"$tree/$1"
    expect_status 1 scripts/check_layers.sh "$tree"
    expect_in_stdout "$1:$(wc -l <"$tree/$1" | tr -d ' '): "
    expect_in_stdout "$2"
}
violation src/base/arena.c 'base stands below devices' '#include "devices/devices.h"'
violation src/devices/host.c 'devices stands below allocators' '#include "allocators/allocators.h"'
violation src/allocators/pool.c 'allocators stands below tool' '#include "tool/main.c"'
violation src/runtime/system/print_tensor.c 'runtime stands below language' '#include "language/language.h"'
violation src/runtime/system/print_tensor.c 'private to allocators' '#include "allocators/pool.h"'
violation src/runtime/system/print_tensor.c 'private to allocators' '#include <allocators/pool.h>'
violation src/tool/main.c 'private to allocators' '  #  include "allocators/pool.h"'
violation src/language/language.h 'language sees base' '#include "runtime/runtime.h"'
violation src/planner/plan.c 'planner sees base' '#include "devices/devices.h"'
violation src/planner/model/model.h 'planner sees base' '#include "allocators/allocators.h"'
violation src/recording/recording.h 'recording sees base' '#include "allocators/allocators.h"'
violation src/allocators/pool.c 'allocators stands below planner' '#include "planner/model/model.h"'
violation src/language/codegen/jit.c 'language sees base' '#include "devices/devices.h"'
violation src/language/codegen/jit.c 'the room codegen does not see front' '#include "language/front/front.h"'
violation src/language/ir/ir.h 'the room ir does not see codegen' '#include "language/codegen/jit.c"'
violation src/planner/model/model.h 'the room model does not see share' '#include "planner/share/share.h"'
violation src/language/language.h 'LLVM belongs to' '#include <llvm-c/Core.h>'
violation src/language/codegen/jit.c 'BLAS belongs to' '#include <cblas.h>'
violation include/masu/masu.h 'an installed header' '#include "base/arena.h"'
violation bench/epoch.c 'bench sees include/ only' '#include "base/arena.h"'
violation src/devices/host.c 'write the path from src/' '#include "../base/arena.h"'
violation src/allocators/pool.c 'malloc family' 'void *k(void) { return calloc(1, 2); }'
violation src/tool/main.c 'malloc family' 'void k(void *p) { free (p); }'
violation src/language/codegen/jit.c 'prints' 'void k(void) { fprintf(stderr, "x"); }'
violation src/runtime/runtime.c 'prints' 'void k(void) { printf("x"); }'
violation src/devices/host.c 'prints' 'void k(void) { /* a */ puts("x"); }'
violation src/runtime/runtime.h 'reads the environment' 'static inline char *k(void) { return getenv("A"); }'
violation src/allocators/pool.c 'ends the process' 'void k(void) { exit(1); }'
violation src/runtime/system/print_tensor.c 'ends the process' 'void k(void) { abort(); }'
violation src/runtime/system/print_tensor.c 'CUDA driver' 'void k(void) { cuMemFree_v2(0); }'

clean_tree
echo 'int lonely;' >"$tree/src/devices/lonely.h"
expect_status 1 scripts/check_layers.sh "$tree"
expect_in_stdout 'src/devices/lonely.h:1: no file includes this header'

# A folder that nobody announced, and a second file of one name.
clean_tree
mkdir "$tree/src/language/attic"
echo 'int old;' >"$tree/src/language/attic/attic.c"
expect_status 1 scripts/check_layers.sh "$tree"
expect_in_stdout 'src/language/attic/attic.c:1: src/language/attic is not a room of language'
clean_tree
echo 'int other;' >"$tree/src/language/ir/host.c"
expect_status 1 scripts/check_layers.sh "$tree"
expect_in_stdout 'has the name of src/devices/host.c'
