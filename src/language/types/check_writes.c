/* check_writes.c: what is a place, and who may write it.
 *
 * Assignable: `let mut`; parameters (they are the function's own values); self (it is the caller's
 * place). A tensor operation that replaces its receiver, such as enable_grad(), is allowed on any
 * tensor; fields of what a `let` holds are assignable with a warning.
 */
#include "language/types/check_writes.h"
#include "base/assert.h"
#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_operation.h"
#include "language/types/check_operator_types.h"
#include "language/types/check_written.h"

/* A place behind a reference, or a part of one: not a variable's own. */
static bool is_behind(const expr *e) {
    while (!e->is_copied && (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX)) {
        if (e->kind == EXPR_INDEX && e->index.base->type != NULL && type_is_reference(e->index.base->type))
            return true;
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    }
    return false;
}

bool check_is_place(const expr *e) {
    return check_root(e) != NULL || is_behind(e);
}

binding *check_root(const expr *e) {
    while (!e->is_copied && (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX)) {
        if (e->kind == EXPR_INDEX && e->index.base->type != NULL && type_is_reference(e->index.base->type))
            return NULL;
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    }
    return e->kind == EXPR_NAME && !e->is_copied ? e->name.binding : NULL;
}

/* Programs of the time before `mut` write to fields, and call methods that do, of what a `let` holds: a warning. The
 * binding itself and the elements of a tensor or array in it stay what they are. */
static bool is_tolerated(const binding *b, write_kind kind) {
    return b->kind == BINDING_LET && (kind == WRITE_FIELD || kind == WRITE_METHOD);
}

bool check_is_shared(const binding *b) {
    return (b->kind == BINDING_SELF && b->is_shared) ||
           (b->kind == BINDING_PARAMETER && b->annotation != NULL && b->annotation->is_shared);
}

static void report_shared(checker *c, const binding *b, source_span span) {
    diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(behind_shared_is_written), b->name);
    diagnostics_note(c->diagnostics, d, b->span,
                     b->kind == BINDING_SELF ? "a method that changes its value takes `&mut self`"
                                             : "a function that changes what it is given takes `&mut T`");
}

static void report_immutable(checker *c, const binding *b, source_span span, write_kind kind) {
    bool method = kind == WRITE_METHOD;
    if (check_is_shared(b)) {
        report_shared(c, b, span);
        return;
    }
    diagnostic *d = is_tolerated(b, kind)
                        ? diagnostics_say(
                              c->diagnostics, span,
                              SAY_IF(method, method_writes_to_field_of_immutable, field_of_immutable_is_written),
                              b->name)
                        : diagnostics_say(c->diagnostics, span,
                                          SAY_IF(method, method_writes_to_immutable, immutable_is_written), b->name);
    switch (b->kind) {
    case BINDING_LET:
        diagnostics_note(c->diagnostics, d, b->span, "make it mutable: `let mut %s`", b->name);
        break;
    case BINDING_INDEX:
        diagnostics_note(c->diagnostics, d, b->span, "it is an index of a comprehension");
        break;
    case BINDING_LOOP:
        diagnostics_note(
            c->diagnostics, d, b->span,
            "it is a copy, and `mut %s` lets it change alone; loop over `&mut list`, match `&mut value` to "
            "write where it comes from",
            b->name);
        break;
    default:
        diagnostics_note(c->diagnostics, d, b->span, "make it mutable: `mut %s`", b->name);
        break;
    }
}

static bool may_write(const binding *root, write_kind kind) {
    bool mutable = root->is_mutable && (!root->is_once || kind == WRITE_ASSIGN);
    bool given = (root->kind == BINDING_SELF || root->kind == BINDING_PARAMETER) && !check_is_shared(root);
    return given || mutable || kind == WRITE_TENSOR;
}

static void report_captured(checker *c, const binding *root, source_span span) {
    diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(body_of_comprehension_cannot_write_to), root->name);
    diagnostics_note(c->diagnostics, d, root->span, "it is declared outside");
}

/* A user's method turned out to write to self: so its receiver is written. */
static void check_method_write(checker *c, binding *root, source_span span, bool captured) {
    root->is_written = true;
    if (!captured && check_dyn_signature(root->type) != NULL)
        return; /* whether a `dyn Fn` has something to write to depends on which one it is */
    if (captured)
        report_captured(c, root, span);
    else if (!may_write(root, WRITE_METHOD))
        report_immutable(c, root, span, WRITE_METHOD);
}

bool check_comes_back(const binding *parameter) {
    return parameter->kind == BINDING_PARAMETER && !parameter->by_reference &&
           (parameter->comes_back || (parameter->annotation != NULL && parameter->annotation->is_place));
}

bool check_captured_write(checker *c, const expr *place, source_span span) {
    const expr *part = place;
    while (part->kind == EXPR_FIELD || part->kind == EXPR_TUPLE_FIELD || part->kind == EXPR_INDEX) {
        const expr *base = part->kind == EXPR_INDEX ? part->index.base : part->field.base;
        if (base->kind == EXPR_NAME)
            break;
        part = base;
    }
    if (part->kind != EXPR_FIELD)
        return true;
    struct_field *field = &c->function->owner->fields[part->field.index];
    binding *b = field->captured;
    field->is_written = true;
    b->is_written = true;
    if (may_write(b, WRITE_ASSIGN))
        return true;
    report_immutable(c, b, span, WRITE_ASSIGN);
    return false;
}

/* The variable that holds the reference in a list, tuple or struct: Rust wants `mut` there, too. */
static void ask_for_mut(const expr *e) {
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX)
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    if (e->kind == EXPR_NAME && e->name.binding != NULL)
        e->name.binding->asks_for_mut = true;
}

bool check_write(checker *c, const expr *place, source_span span, write_kind kind) {
    binding *root = check_root(place);
    if (root == NULL) {
        ask_for_mut(place);
        return is_behind(place);
    }
    root->is_written = true;
    if (c->nest->comprehension != NULL && root->id < c->nest->comprehension->first_binding) {
        report_captured(c, root, span);
        return false;
    }
    if (root->kind == BINDING_SELF) {
        c->function->writes_self = true;
        if (c->function->is_closure && !check_captured_write(c, place, span))
            return false;
    }
    bool part = root->is_once && place->kind != EXPR_NAME; /* what gets its value later is assigned as a whole */
    if (may_write(root, kind) && !part)
        return true;
    report_immutable(c, root, span, kind);
    return is_tolerated(root, kind);
}

/* May be written twice: no effects, and little work. */
bool check_is_harmless(const expr *e, int depth) {
    if (depth > 4)
        return false;
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_NAME:
        return true;
    case EXPR_UNARY:
        return check_is_harmless(e->unary.operand, depth + 1);
    case EXPR_CAST: /* of an index */
        return check_is_harmless(e->cast.operand, depth + 1);
    case EXPR_BINARY:
        return check_is_harmless(e->binary.left, depth + 1) && check_is_harmless(e->binary.right, depth + 1);
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return check_is_harmless(e->field.base, depth + 1);
    default:
        return false;
    }
}

expr *check_copy_place(checker *c, const expr *e) {
    expr *copy = check_new(c, e->kind, e->span, NULL);
    *copy = *e;
    switch (e->kind) {
    case EXPR_UNARY:
        copy->unary.operand = check_copy_place(c, e->unary.operand);
        break;
    case EXPR_CAST: /* an index that was converted */
        copy->cast.operand = check_copy_place(c, e->cast.operand);
        break;
    case EXPR_BINARY:
        copy->binary.left = check_copy_place(c, e->binary.left);
        copy->binary.right = check_copy_place(c, e->binary.right);
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        copy->field.base = check_copy_place(c, e->field.base);
        break;
    case EXPR_INDEX:
        copy->index.base = check_copy_place(c, e->index.base);
        copy->index.indices = CHECK_ARRAY(c, expr *, e->index.count);
        for (uint32_t i = 0; i < e->index.count; i++)
            copy->index.indices[i] = check_copy_place(c, e->index.indices[i]);
        break;
    default:
        break;
    }
    return copy;
}

/* ---- methods that write to self --------------------------------------------------------------
 *
 * writes_self spreads from callee to caller along calls on (a part of) the caller's own self. Uses
 * are grouped by callee; each function is visited once.
 */

expr *check_call_of_use(const method_use *use) {
    expr *e = use->call;
    while (e->kind == EXPR_CAST)
        e = e->cast.operand;
    MASU_DEBUG_ASSERT(e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION);
    return e;
}

static uint32_t *group_by_callee(checker *c, uint32_t **first) {
    uint32_t *next = CHECK_ARRAY(c, uint32_t, c->writes->use_count + 1);
    *first = CHECK_ARRAY(c, uint32_t, c->tree->function_count);
    for (uint32_t i = 0; i < c->writes->use_count; i++) { /* 0 ends a chain: entries count from 1 */
        uint32_t callee = check_call_of_use(&c->writes->uses[i])->call.function->index;
        next[i + 1] = (*first)[callee];
        (*first)[callee] = i + 1;
    }
    return next;
}

/* The part of what its closure captured that the caller calls the method on; NULL: of no closure that copies. */
static struct_field *captured_by_use(const method_use *use) {
    function_item *f = use->caller;
    if (!f->is_closure || use->root != f->parameters[0])
        return NULL;
    const expr *place = check_call_of_use(use)->call.operands[0];
    while (place->kind != EXPR_FIELD || place->field.base->kind != EXPR_NAME)
        place = place->kind == EXPR_INDEX ? place->index.base : place->field.base;
    struct_field *field = &f->owner->fields[place->field.index];
    return f->is_move && !field->is_lent ? NULL : field;
}

/* The function whose self the closure that calls the method captured; NULL: of no such call. */
static function_item *captured_from(const method_use *use) {
    const struct_field *field = captured_by_use(use);
    function_item *f = use->caller;
    while (field != NULL && field->captured->kind == BINDING_SELF && f != NULL && !check_is_own(f, field->captured))
        f = f->outer;
    return f == use->caller ? NULL : f;
}

static uint32_t add_writer(function_item **work, uint32_t count, function_item *f) {
    if (f == NULL || f->writes_self)
        return count;
    f->writes_self = true;
    work[count] = f;
    return count + 1;
}

static void spread_writes(checker *c) {
    uint32_t *first, *next = group_by_callee(c, &first), count = 0;
    function_item **work = CHECK_ARRAY(c, function_item *, c->tree->function_count);
    for (uint32_t i = 0; i < c->tree->function_count; i++)
        if (c->tree->functions[i]->writes_self)
            work[count++] = c->tree->functions[i];
    while (count > 0) {
        for (uint32_t i = first[work[--count]->index]; i != 0; i = next[i]) {
            const method_use *use = &c->writes->uses[i - 1];
            if (use->root == NULL || use->root->kind != BINDING_SELF)
                continue;
            count = add_writer(work, count, use->caller);
            count = add_writer(work, count, captured_from(use));
        }
    }
}

/* A closure holds a copy of what it captured, unless its body was seen to write it: of what turns out to be written
 * now, a reference. */
static void refer_late(checker *c, const method_use *use) {
    struct_field *field = captured_by_use(use);
    if (field == NULL || field->is_written || field->by_reference)
        return;
    if (field->captured->kind == BINDING_LET && !field->captured->is_mutable) {
        diagnostics_say(c->diagnostics, check_call_of_use(use)->call.name_span, SAY(method_writes_to_immutable),
                        field->name);
    }
    check_refer_field(c, use->caller, field);
}

/* fn next(mut self): the receiver is given away, whatever it was. */
static bool takes_receiver(const function_item *f) {
    const binding *self = f->has_self ? f->parameters[0] : NULL;
    return self != NULL && self->kind == BINDING_SELF && self->is_mutable && !self->is_lent && !self->is_shared &&
           !f->is_closure;
}

static void settle_uses(checker *c) {
    for (uint32_t i = 0; i < c->writes->use_count; i++) {
        const method_use *use = &c->writes->uses[i];
        if (!check_call_of_use(use)->call.function->writes_self ||
            !check_is_place(check_call_of_use(use)->call.operands[0]))
            continue;
        check_call_of_use(use)->call.writes_receiver = true;
        if (use->root == NULL) /* behind a reference */
            continue;
        if (takes_receiver(check_call_of_use(use)->call.function)) {
            use->root->is_written = true;
            continue;
        }
        check_method_write(c, use->root, check_call_of_use(use)->call.name_span, use->captured);
        refer_late(c, use);
    }
}

static type_verdict is_function(const type *t, void *context) {
    (void)context;
    if (t->kind != TYPE_STRUCT)
        return TYPE_LOOK_INSIDE;
    const bool dyn = t->structure->dyn != NULL && t->structure->dyn->trait == NULL;
    return dyn || t->structure->closure != NULL ? TYPE_HAS : t->structure->dyn != NULL ? TYPE_LACKS : TYPE_LOOK_INSIDE;
}

/* Whether a closure made in f may stay when f has returned: in its result, in what a parameter leads to, or in a cell
 * or list that one holds. A function that f is given holds nothing of f. */
static bool keeps_functions(checker *c, const function_item *f) {
    bool keeps = f->result != NULL && type_any(c->types, f->result, is_function, NULL);
    for (uint32_t i = 0; i < f->parameter_count && !keeps; i++) {
        const binding *p = f->parameters[i];
        const type *t = p->type == NULL ? NULL : type_resolve(c->types, p->type);
        while (t != NULL && type_is_box(t))
            t = type_resolve(c->types, t->vec.element);
        const bool given = t != NULL && !check_comes_back(p) && !p->by_reference && is_function(t, NULL) == TYPE_HAS;
        keeps = t != NULL && !given && type_any(c->types, t, is_function, NULL);
    }
    return keeps;
}

/* fn f(x: &mut T) -> impl FnMut() { move || x.push(1) }: x comes back when f returns, and later writes have no place.
 * The same of a closure that goes into a list or a field of a parameter; where x is a reference itself, nothing would
 * see that its place outlives the closure. */
static void judge_results(checker *c) {
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        bool hands_on = false;
        for (const function_item *around = f; f->is_closure && f->is_move && around->is_closure && !hands_on;) {
            around = around->outer;
            if (around == NULL)
                break;
            hands_on = keeps_functions(c, around);
        }
        for (uint32_t k = 0; hands_on && k < f->owner->field_count; k++)
            if (f->owner->fields[k].is_lent && f->owner->fields[k].is_written)
                diagnostics_say(c->diagnostics, f->span, SAY(closure_writes_when_all_is_over),
                                f->owner->fields[k].name);
    }
}

void check_settle_writes(checker *c) {
    spread_writes(c);
    settle_uses(c);
    judge_results(c);
}

/* f(&mut x): x becomes what f made of its parameter. noted: of which that was seen to before; NULL: of none. */
void check_note_writes_back(checker *c, expr *e, const function_item *f, const function_item *noted) {
    for (uint32_t i = 0; i < f->parameter_count && i < e->call.operand_count; i++) {
        expr *place = e->call.operands[i];
        if ((noted != NULL && check_comes_back(noted->parameters[i])) || !check_comes_back(f->parameters[i]) ||
            !check_is_place(place) || !check_write(c, place, place->span, WRITE_METHOD))
            continue;
        if (e->call.writes_back == NULL)
            e->call.writes_back = CHECK_ARRAY(c, bool, e->call.operand_count);
        e->call.writes_back[i] = true;
    }
}

/* The call was finished with the generic function; what it lends is known by the instance. */
void check_finish_pending(checker *c, expr *e, function_item *made) {
    check_note_writes_back(c, e, made, e->call.function);
    e->call.function = made;
    e->type = made->never_returns ? check_scalar(c, TYPE_NEVER) : check_result_of(c, made, e);
}
