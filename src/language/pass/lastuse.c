/* lastuse.c: lets values end where they are used last.
 *
 * Lowering puts an IR_KEEP for every managed binding at the end of its lexical scope. While these
 * are there, a value is used there, so it lives that long: the ownership pass acquires where it could
 * move, and releases at the scope's end, as a compiler without liveness would. Without them the
 * last real use is the end.
 */
#include "language/pass/pass.h"

void pass_lastuse(ir_module *m, pass_context *context) {
    (void)context;
    for (uint32_t f = 0; f < m->function_count; f++) {
        for (uint32_t b = 0; b < m->functions[f]->block_count; b++) {
            for (ir_instr *i = m->functions[f]->blocks[b]->first, *next; i; i = next) {
                next = i->next;
                if (i->op == IR_KEEP && i->imm.i == 0)
                    ir_remove(i);
            }
        }
    }
}
