/* lower_scope.c: bindings as IR variables, patterns, and the lexical scopes that end in IR_KEEP.
 *
 * Every managed leaf of a binding is kept alive to the end of its scope, on each way out: falling out of it, break,
 * continue, return. The pass `lastuse` removes the keeps; with it switched off, values live exactly as long as
 * their names do.
 */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "language/lower/lowering.h"

/* ---- variables --------------------------------------------------------------------------------------------------- */

/* variable.field.field, as far as there is room: of structs deep inside one another the names would be most of the
 * IR. */
static const char *leaf_name(lower_fn *fn, const type *t, const char *name, uint32_t leaf) {
    enum { MOST_BYTES = 128 };
    char text[MOST_BYTES];
    if (!name || lower_field_count(t) == 0)
        return name;
    size_t length = masu__min(strlen(name), sizeof text - 1);
    memcpy(text, name, length);
    while (lower_field_count(t) > 0 && !lower_has_cell(t) && length + 1 < sizeof text) {
        uint32_t field = 0;
        for (;; field++) {
            uint32_t count = lower_leaf_count(fn->l, lower_field_type(t, field));
            if (leaf < count)
                break;
            leaf -= count;
        }
        char number[16];
        const char *part = t->kind == TYPE_STRUCT ? t->structure->fields[field].name : number;
        if (part == number)
            snprintf(number, sizeof number, "%u", field);
        text[length++] = '.';
        size_t more = masu__min(strlen(part), sizeof text - 1 - length);
        memcpy(text + length, part, more);
        length += more;
        t = lower_field_type(t, field);
    }
    const char *copy = masu__arena_strndup(fn->l->m->arena, text, length);
    if (!copy)
        fn->l->m->out_of_memory = true;
    return copy;
}

ir_variable lower_variables(lower_fn *fn, const type *t, const char *name, source_span span) {
    uint32_t count;
    ir_type *types = lower_types_of(fn->l, t, &count);
    if (!types)
        return 0;
    ir_variable first = 0;
    for (uint32_t i = 0; i < count; i++) {
        ir_variable v = ir_variable_new(fn->b, types[i], name ? leaf_name(fn, t, name, i) : NULL, span);
        if (i == 0)
            first = v;
    }
    return first;
}

void lower_read(lower_fn *fn, ir_variable first, uint32_t count, ir_value *out, source_span span) {
    for (uint32_t i = 0; i < count && lower_open(fn); i++)
        out[i] = ir_read(fn->b, first + i, span);
}

void lower_write(lower_fn *fn, ir_variable first, uint32_t count, const ir_value *values) {
    for (uint32_t i = 0; i < count && lower_open(fn); i++)
        ir_write(fn->b, first + i, values[i]);
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

void lower_push_kept(lower_fn *fn, kept_leaf leaf) {
    MASU_ARENA_PUSH(fn->l->scratch, fn->kept, fn->kept_count, fn->kept_capacity, leaf, fn->l->m->out_of_memory = true);
}

/* The last leaf is the first to end; so of what has destructors the leaves lie on the stack in reverse order. */
static void keep_managed(lower_fn *fn, const type *t, ir_variable first, bool drops) {
    uint32_t count;
    ir_type *types = lower_types_of(fn->l, t, &count);
    if (!types)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (ir_type_managed(types[drops ? count - 1 - i : i]))
            lower_push_kept(fn, (kept_leaf){.variable = first + (drops ? count - 1 - i : i), .drops = drops});
}

void lower_keep_values(lower_fn *fn, const type *t, ir_variable first) {
    keep_managed(fn, t, first, true);
}

/* The name owns what is bound to it, and that has a destructor. */
static bool owns_destructor(lower_fn *fn, const binding *b) {
    if (!fn->owns || b->name[0] == '<' || !lower_drops(fn->l, b->type))
        return false;
    bool lent = b->kind == BINDING_SELF ? b->is_lent || b->is_shared || fn->item->is_closure
                                        : b->comes_back || (b->annotation && b->annotation->is_place);
    return !lent && (!lower_marked(fn, b->span, MARK_LENT) || lower_marked(fn, b->span, MARK_EXTENDED));
}

/* A value that has no name yet takes the variable's, and of one that has this is another: listings are read by
 * people. */
void lower_name_values(lower_fn *fn, ir_variable first, uint32_t count, const ir_value *values, source_span span) {
    for (uint32_t i = 0; i < count; i++) {
        ir_value_info *info = values[i] ? &fn->f->values[values[i]] : NULL;
        const char *name = ir_variable_name(fn->b, first + i);
        if (!info || !name || (info->def && info->def->op == IR_CONST))
            continue;
        if (!info->name || (info->name[0] == '<' && name[0] != '<'))
            info->name = name;
        else if (ir_type_managed(info->type) && strcmp(info->name, name) != 0)
            ir_function_alias(fn->f, values[i], name, span);
    }
}

void lower_bind(lower_fn *fn, const binding *b, const ir_value *values) {
    if (!lower_open(fn))
        return;
    if (b->in_cell) {
        ir_value cell = lower_cell_new(fn, b->type, values, b->span);
        ir_variable lies = ir_variable_new(fn->b, IR_OBJECT, b->name, b->span);
        fn->variables[b->id] = lies;
        if (!lower_open(fn))
            return;
        ir_write_last(fn->b, lies, cell);
        lower_push_kept(fn, (kept_leaf){.variable = lies, .drops = owns_destructor(fn, b)});
        return;
    }
    uint32_t count = lower_leaf_count(fn->l, b->type);
    ir_variable first = lower_variables(fn, b->type, b->name, b->span);
    fn->variables[b->id] = first;
    lower_name_values(fn, first, count, values, b->span);
    bool owns = owns_destructor(fn, b), written = b->is_written || (fn->owns && lower_drops(fn->l, b->type));
    for (uint32_t i = 0; i < count; i++)
        (written ? ir_write : ir_write_last)(fn->b, first + i, values[i]);
    keep_managed(fn, b->type, first, owns);
}

static void keep_leaf(lower_fn *fn, const kept_leaf *leaf, int64_t how, source_span span) {
    if (leaf->is_offset) {
        lower_arena_close(fn, leaf->variable, span);
        return;
    }
    ir_value v = ir_read(fn->b, leaf->variable, span);
    ir_instr *keep = ir_emit(fn->b, IR_KEEP, &v, 1, NULL, 0, span);
    if (keep)
        keep->imm.i = how;
}

void lower_keep(lower_fn *fn, uint32_t mark, source_span span) {
    for (uint32_t i = fn->kept_count; i > mark && lower_open(fn); i--)
        keep_leaf(fn, &fn->kept[i - 1], fn->kept[i - 1].drops, span);
}

void lower_keep_past(lower_fn *fn, bool goes_on, source_span span) {
    for (uint32_t i = fn->kept_count; i > 0 && lower_open(fn); i--)
        if (fn->kept[i - 1].drops)
            keep_leaf(fn, &fn->kept[i - 1], goes_on ? 2 : 1, span);
}

uint32_t lower_scope_open(lower_fn *fn) {
    fn->scope_depth++;
    return fn->kept_count;
}

void lower_scope_close(lower_fn *fn, uint32_t mark, source_span span) {
    lower_keep(fn, mark, span);
    fn->kept_count = mark;
    fn->scope_depth--;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* The leaves that the parts of p are matched with: those of its type, out of their cell where they lie in one. */
static const ir_value *parts_of(lower_fn *fn, const pattern *p, const ir_value *values) {
    if (!lower_has_cell(p->type))
        return values;
    ir_value *inside = lower_room(fn, lower_leaf_count(fn->l, lower_inside(p->type)));
    if (inside)
        lower_out_of_cell(fn, p->type, values[0], inside, p->span);
    return inside ? inside : values;
}

static uint32_t part_offset(const lower_fn *fn, const pattern *p, uint32_t part) {
    return lower_field_offset(fn->l, p->type, p->kind == PATTERN_VARIANT ? p->part_fields[part] : part);
}

static bool has_parts(const pattern *p) {
    return p->kind == PATTERN_TUPLE || p->kind == PATTERN_VARIANT;
}

/* <at> @ parts of a reference: the parts are those of what it leads to (check_refer.c). */
static bool is_behind(const pattern *p) {
    return p->kind == PATTERN_BOUND && type_is_reference(p->type) && !type_is_reference(p->parts[0]->type);
}

static const ir_value *behind_of(lower_fn *fn, const pattern *p, const ir_value *values) {
    return is_behind(p) ? lower_read_behind(fn, p->parts[0]->type, values, p->span) : values;
}

static bool binds(const pattern *p, void *context) {
    (void)context;
    return p->kind == PATTERN_NAME || p->kind == PATTERN_BOUND;
}

void lower_pattern_bind(lower_fn *fn, const pattern *p, const ir_value *values) {
    if (p->kind == PATTERN_NAME || p->kind == PATTERN_BOUND)
        lower_bind(fn, p->binding, values);
    if (p->kind == PATTERN_BOUND && (!is_behind(p) || pattern_any(p->parts[0], binds, NULL)))
        lower_pattern_bind(fn, p->parts[0], behind_of(fn, p, values));
    if (has_parts(p) && lower_open(fn))
        values = parts_of(fn, p, values);
    for (uint32_t i = 0; has_parts(p) && i < p->part_count; i++)
        lower_pattern_bind(fn, p->parts[i], values + part_offset(fn, p, i));
}

static ir_value literal_equals(lower_fn *fn, const pattern *p, ir_opcode op, const expr *literal, ir_value v) {
    ir_value wanted = lower_scalar(fn, literal);
    if (literal->type->kind == TYPE_STRING)
        return lower_abi(fn, TL_FN_tl_string_equal, (ir_value[]){v, wanted}, 2, p->span);
    return lower_op2(fn, op, IR_BOOL, v, wanted, p->span);
}

static ir_value range_test(lower_fn *fn, const pattern *p, ir_value v) {
    ir_value low = p->low ? literal_equals(fn, p, IR_GE, p->low, v) : 0;
    ir_value high = p->high ? literal_equals(fn, p, p->inclusive ? IR_LE : IR_LT, p->high, v) : 0;
    return !high ? low : !low ? high : lower_op2(fn, IR_AND, IR_BOOL, low, high, p->span);
}

/* The values of parts of another variant are nothing; tests of texts and behind references look into what they compare,
 * so the tag is asked first and alone. */
static ir_value and_then(lower_fn *fn, ir_value first, const pattern *rest, const ir_value *values, source_span span) {
    ir_block *yes = lower_block_new(fn), *no = lower_block_new(fn), *met = lower_block_new(fn);
    ir_variable result = ir_variable_new(fn->b, IR_BOOL, NULL, span);
    lower_branch(fn, first, yes, no, span);
    lower_enter_block(fn, yes);
    ir_value second = lower_pattern_test(fn, rest, values);
    lower_write(fn, result, 1, &second);
    lower_jump(fn, met, span);
    lower_enter_block(fn, no);
    ir_value never = lower_int(fn, IR_BOOL, 0, span);
    lower_write(fn, result, 1, &never);
    lower_jump(fn, met, span);
    lower_enter_block(fn, met);
    ir_value both = 0;
    lower_read(fn, result, 1, &both, span);
    return both;
}

static bool looks_inside(const pattern *p, void *context) { /* of a text, or behind a reference */
    (void)context;
    return (p->kind == PATTERN_LITERAL && p->low->type->kind == TYPE_STRING) || is_behind(p);
}

static ir_value parts_test(lower_fn *fn, const pattern *p, const ir_value *values, ir_value all) {
    for (uint32_t i = 0; i < p->part_count; i++) {
        const ir_value *part_values = values + part_offset(fn, p, i);
        if (all && pattern_any(p->parts[i], looks_inside, NULL)) {
            all = and_then(fn, all, p->parts[i], part_values, p->span);
            continue;
        }
        ir_value part = lower_pattern_test(fn, p->parts[i], part_values);
        if (part)
            all = all ? lower_op2(fn, IR_AND, IR_BOOL, all, part, p->span) : part;
    }
    return all;
}

static ir_value variant_test(lower_fn *fn, const pattern *p, const ir_value *values) {
    const struct_item *s = p->type->structure;
    ir_value tag = 0;
    if (s->is_enum && s->variant_count > 1)
        tag = lower_op2(fn, IR_EQ, IR_BOOL, values[0], lower_int(fn, IR_I64, s->variants[p->variant].tag, p->span),
                        p->span);
    return parts_test(fn, p, values, tag);
}

static ir_value any_test(lower_fn *fn, const pattern *p, const ir_value *values) {
    ir_value any = 0;
    for (uint32_t i = 0; i < p->part_count; i++) {
        ir_value part = lower_pattern_test(fn, p->parts[i], values);
        if (!part)
            return 0;
        any = any ? lower_op2(fn, IR_OR, IR_BOOL, any, part, p->span) : part;
    }
    return any;
}

ir_value lower_pattern_test(lower_fn *fn, const pattern *p, const ir_value *values) {
    switch (p->kind) {
    case PATTERN_LITERAL:
        return literal_equals(fn, p, IR_EQ, p->low, values[0]);
    case PATTERN_RANGE:
        return range_test(fn, p, values[0]);
    case PATTERN_TUPLE:
        return parts_test(fn, p, values, 0);
    case PATTERN_VARIANT:
        return variant_test(fn, p, parts_of(fn, p, values));
    case PATTERN_BOUND:
        return lower_pattern_test(fn, p->parts[0], behind_of(fn, p, values));
    case PATTERN_OR:
        return any_test(fn, p, values);
    default:
        return 0;
    }
}
