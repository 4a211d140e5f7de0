/* check_warn.c: what is allowed but hardly meant. Looked for when the whole program is checked: only then is
 * known which methods write to self.
 *
 *     let mut x that nothing writes to
 *     let x that nothing reads, or that is written and never read, statements that nothing reaches
 *     a tensor made by an operation and dropped
 *     x[0].fill_(5.0), x.view([4]).add_(y), x.relu_().neg_(): what is written is a value that ends there
 *     total = total + loss, total += loss, list.push(loss), log.add(loss) in a loop that calls loss.backward(): what is
 *         gathered holds the history of all before it
 *     state = f(state, w) in a loop that reads w.grad(): the next backward() meets what this one has let go of
 *
 * Prelude and instances of generic functions are left out: what one instance does not need another may.
 */
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/types/check_context.h"
#include "language/types/check_operation.h"
#include "language/types/check_written.h"

/* ---- let mut --------------------------------------------------------------------------------- */

static bool refers(const checker *c, const binding *b) { /* what is written lies behind it */
    return b->type != NULL && type_is_reference(type_resolve(c->types, b->type));
}

static void warn_of_mut(checker *c, const function_item *f) {
    for (uint32_t i = 0; i < f->binding_count; i++) {
        const binding *b = f->bindings[i];
        if (b->kind == BINDING_LET && b->is_mutable && b->alias == NULL && !refers(c, b) && !b->is_written &&
            !b->asks_for_mut && b->name[0] != '<' && b->name[0] != '_')
            diagnostics_say(c->diagnostics, b->span, SAY(nothing_writes_to_needs_no_mut), b->name);
    }
}

/* ---- unused variables ------------------------------------------------------------------------ */

static void warn_of_unread(checker *c, const function_item *f) {
    for (uint32_t i = 0; i < f->binding_count; i++) {
        const binding *b = f->bindings[i];
        bool counts = b->kind == BINDING_LET && !b->is_read && !b->is_written;
        if (!counts || b->name[0] == '<' || b->name[0] == '_' || b->type->kind == TYPE_NEVER)
            continue;
        diagnostic *d = diagnostics_say(c->diagnostics, b->span, SAY(variable_is_never_used), b->name);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write `_%s` if this is intentional", b->name);
    }
}

/* ---- variables that are only written ----------------------------------------------------------- */

typedef struct read_search {
    checker *c;
    uint32_t *reads; /* by the number of the binding */
    const source_span
        *target; /* of the variable that the assignment around this writes: `x += 1` reads it for itself */
} read_search;

static bool same_place(const source_span *a, const source_span *b) {
    return a != NULL && a->file == b->file && a->offset == b->offset;
}

static void find_read(expr *e, void *context);

/* The variable of a place, and what is read to find the place in it; NULL: it lies behind a reference. */
static const expr *find_written(expr *place, read_search *s) {
    while (place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD || place->kind == EXPR_INDEX) {
        expr *base = place->kind == EXPR_INDEX ? place->index.base : place->field.base;
        if (type_is_reference(type_resolve(s->c->types, base->type)))
            return NULL;
        for (uint32_t i = 0; place->kind == EXPR_INDEX && i < place->index.count; i++)
            find_read(place->index.indices[i], s);
        place = base;
    }
    return place->kind == EXPR_NAME ? place : NULL;
}

static void find_read(expr *e, void *context) {
    read_search *s = context;
    if (e->kind == EXPR_NAME && e->name.binding != NULL && !same_place(s->target, &e->span))
        s->reads[e->name.binding->id]++;
    const expr *written = e->kind == EXPR_ASSIGN ? find_written(e->assign.target, s) : NULL;
    if (written == NULL) {
        expr_each_child(e, find_read, s);
        return;
    }
    read_search inside = *s;
    inside.target = &written->span;
    find_read(e->assign.value, &inside);
}

static bool writes_receiver_in_place(const expr *e) {
    if (e->call.kind == CALL_ABI)
        return (tl_abi_functions[e->call.abi].effects & REPLACES) != 0;
    return e->call.kind == CALL_FUNCTION && e->call.function->has_self && e->call.function->writes_self;
}

/* `x.fill_(3.0);`, `x.push(3);`: all that the library's method does with the variable is to write it. A list of the
 * function's own may be there to keep what it holds. */
static void take_back_receivers(const block *b, read_search *s) {
    for (const stmt *st = b->first; st != NULL; st = st->next) {
        const expr *e = st->value;
        bool call = st->kind == STMT_EXPR && e != NULL && e->kind == EXPR_CALL && e->call.operand_count > 0;
        if (!call || !(e->call.kind == CALL_VEC_PUSH || writes_receiver_in_place(e)) ||
            (e->call.kind == CALL_FUNCTION && e->call.function->span.file != s->c->tree->prelude))
            continue;
        const binding *root = check_root(e->call.operands[0]);
        bool lost = root != NULL && (root->kind == BINDING_PARAMETER || e->call.operands[0]->type->kind == TYPE_TENSOR);
        if (lost && s->reads[root->id] > 0)
            s->reads[root->id]--;
    }
}

static void find_block(expr *e, void *context) {
    if (e->kind == EXPR_BLOCK)
        take_back_receivers(e->block, context);
    else if (e->kind == EXPR_IF)
        take_back_receivers(e->branch.then, context);
    else if (e->kind == EXPR_FOR || e->kind == EXPR_WHILE || e->kind == EXPR_LOOP)
        take_back_receivers(e->loop->body, context);
    expr_each_child(e, find_block, context);
}

static bool is_own_value(checker *c, const binding *b) {
    if (b->kind == BINDING_LET || b->kind == BINDING_LOOP)
        return b->is_mutable && b->alias == NULL && !refers(c, b);
    return b->kind == BINDING_PARAMETER && !b->by_reference && !check_comes_back(b) && !check_is_shared(b) &&
           !refers(c, b);
}

static void say_only_written(checker *c, const binding *b) {
    diagnostic *d = diagnostics_say(c->diagnostics, b->span, SAY(variable_is_never_read), b->name);
    if (b->kind == BINDING_LOOP)
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "it is a copy; loop over `&mut list`, match `&mut value` to write where it comes from");
    else if (b->kind == BINDING_PARAMETER)
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "it is the function's own value; `%s: &mut %s` writes the caller's", b->name,
                         check_type_text(c, b->type));
    else
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write `_%s` if this is intentional", b->name);
}

static void warn_of_only_written(checker *c, const function_item *f) {
    read_search s = {.c = c, .reads = CHECK_ARRAY(c, uint32_t, f->binding_count + 1)};
    expr body = {.kind = EXPR_BLOCK, .block = f->body};
    expr_each_child(&body, find_read, &s);
    find_block(&body, &s);
    for (uint32_t i = 0; i < f->binding_count; i++) {
        const binding *b = f->bindings[i];
        if (b->is_written && s.reads[b->id] == 0 && is_own_value(c, b) && b->name[0] != '<' && b->name[0] != '_')
            say_only_written(c, b);
    }
}

/* ---- unreachable statements ------------------------------------------------------------------ */

static void warn_of_unreached(checker *c, const block *b) {
    for (const stmt *s = b->first; s != NULL; s = s->next) {
        if (s->kind != STMT_EXPR || s->value == NULL || s->value->type->kind != TYPE_NEVER)
            continue;
        source_span behind = s->next != NULL ? s->next->span : b->result != NULL ? b->result->span : (source_span){0};
        if (behind.file != NULL && behind.offset > s->span.offset) {
            diagnostic *d = diagnostics_say(c->diagnostics, behind, SAY(nothing_reaches_this));
            diagnostics_note(c->diagnostics, d, s->span, "it never goes on behind this");
        }
        return;
    }
}

/* ---- dropped tensors ------------------------------------------------------------------------- */

/* Rows, views and results are values: a write into one reaches no variable. */
static void warn_of_unseen(checker *c, const stmt *s) {
    const expr *e = s->value;
    if (s->kind != STMT_EXPR || e == NULL || e->kind != EXPR_CALL || e->call.writes_receiver ||
        e->call.operand_count == 0 || e->type->kind != TYPE_TENSOR || !writes_receiver_in_place(e))
        return;
    const expr *receiver = e->call.operands[0];
    if (receiver->type->kind != TYPE_TENSOR || check_is_place(receiver))
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(write_reaches_no_variable));
    diagnostics_note(c->diagnostics, d, receiver->span,
                     "this is a value of its own; assign to the part (`x[0] = …`), or name the result");
}

static void warn_of_dropped(checker *c, const stmt *s) {
    const expr *e = s->value;
    if (s->kind != STMT_EXPR || e == NULL || e->kind != EXPR_CALL || e->call.kind != CALL_ABI ||
        e->type->kind != TYPE_TENSOR || e->call.writes_receiver)
        return;
    if ((tl_abi_functions[e->call.abi].effects & PURE) != 0) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(this_tensor_is_not_used));
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "operations yield a new tensor; they do not change their operand");
    }
}

/* a + b; as a statement, or at the end of a function that yields nothing. */
static void warn_of_unused(checker *c, const stmt *s) {
    const expr *e = s->value;
    if (s->kind != STMT_EXPR || e == NULL || type_is_silent(e->type) || e->type->kind == TYPE_VOID)
        return;
    const bool operation = e->kind == EXPR_BINARY && e->binary.op != BINARY_AND && e->binary.op != BINARY_OR;
    const bool turned = e->kind == EXPR_UNARY && (e->unary.op == UNARY_NEG || e->unary.op == UNARY_NOT);
    const bool literal = e->kind == EXPR_INT || e->kind == EXPR_FLOAT || e->kind == EXPR_BOOL || e->kind == EXPR_STRING;
    if (!operation && !turned && !literal)
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(this_value_is_not_used));
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     "a function yields its last value where its type is written: `-> %s`",
                     check_type_text(c, e->type));
}

/* ---- histories that grow --------------------------------------------------------------------- */

typedef struct loop_scan {
    checker *c;
    block *body;
    const binding *losses[8]; /* of which backward() is called in the loop */
    uint32_t count;
    const binding *weights[8]; /* of which, or of a field of which, grad() is read there */
    uint32_t weight_count;
    uint32_t depth; /* of methods that are looked into */
    bool calls_backward;
} loop_scan;

static void find_losses(expr *e, void *context) {
    loop_scan *s = context;
    if (e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_tensor_backward &&
        e->call.operands[0]->kind == EXPR_NAME && s->count < 8)
        s->losses[s->count++] = e->call.operands[0]->name.binding;
    if (e->kind == EXPR_CALL && e->call.kind == CALL_ABI) {
        s->calls_backward |= e->call.abi == TL_FN_tl_tensor_backward;
        const binding *root = e->call.abi == TL_FN_tl_tensor_grad ? check_root(e->call.operands[0]) : NULL;
        if (root != NULL && s->weight_count < 8)
            s->weights[s->weight_count++] = root;
    }
    expr_each_child(e, find_losses, s);
}

typedef struct sum_search {
    const loop_scan *scan;
    const binding *total;
    bool adds_loss, adds_itself;
} sum_search;

static void find_summands(expr *e, void *context) {
    sum_search *s = context;
    bool part = e->kind == EXPR_NAME || e->kind == EXPR_FIELD || e->kind == EXPR_INDEX;
    const binding *root = part && e->type->kind == TYPE_TENSOR ? check_root(e) : NULL;
    s->adds_itself |= root != NULL && root == s->total;
    for (uint32_t i = 0; root != NULL && e->kind == EXPR_NAME && i < s->scan->count; i++)
        s->adds_loss |= root == s->scan->losses[i];
    if (e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->type->kind == TYPE_TENSOR &&
        e->call.abi != TL_FN_tl_tensor_detach)
        expr_each_child(e, find_summands, s);
}

static bool holds_loss(const loop_scan *scan, expr *e) {
    sum_search s = {.scan = scan};
    find_summands(e, &s);
    return s.adds_loss;
}

static const binding *method_that_gathers(const loop_scan *scan, const expr *e);

/* The variable into which the expression puts a loss beside what was there; NULL: it does nothing like that. */
static const binding *gathers_loss(const loop_scan *scan, const expr *e) {
    if (e->kind == EXPR_ASSIGN && e->assign.target->type->kind == TYPE_TENSOR) { /* total = total + loss */
        sum_search s = {.scan = scan, .total = check_root(e->assign.target)};
        find_summands(e->assign.value, &s);
        return s.adds_loss && s.adds_itself ? s.total : NULL;
    }
    if (e->kind != EXPR_CALL || e->call.operand_count < 2)
        return NULL;
    bool in_place = e->call.kind == CALL_ABI && e->call.writes_receiver &&
                    (tl_abi_functions[e->call.abi].effects & REPLACES) != 0; /* total += loss */
    if (in_place || e->call.kind == CALL_VEC_PUSH)
        return holds_loss(scan, e->call.operands[1]) ? check_root(e->call.operands[0]) : NULL;
    return e->call.kind == CALL_FUNCTION ? method_that_gathers(scan, e) : NULL;
}

static bool gathers_into_self(const expr *e, void *scan) {
    const binding *into = gathers_loss(scan, e);
    return into != NULL && into->kind == BINDING_SELF;
}

/* log.add(loss) of a method that does so with its parameter. */
static const binding *method_that_gathers(const loop_scan *scan, const expr *e) {
    const function_item *f = e->call.function;
    const binding *into = f->has_self && f->body != NULL && scan->depth < 3 ? check_root(e->call.operands[0]) : NULL;
    bool gathers = false;
    for (uint32_t i = 1; into != NULL && !gathers && i < e->call.operand_count && i < f->parameter_count; i++) {
        loop_scan inside = {.c = scan->c, .losses = {f->parameters[i]}, .count = 1, .depth = scan->depth + 1};
        gathers = holds_loss(scan, e->call.operands[i]) && block_any(f->body, gathers_into_self, &inside);
    }
    return gathers ? into : NULL;
}

static void find_growing(expr *e, void *context) {
    loop_scan *scan = context;
    const binding *total = gathers_loss(scan, e);
    bool outlives = total != NULL && (total->span.offset < scan->body->span.offset ||
                                      total->span.offset >= scan->body->span.offset + scan->body->span.length);
    if (outlives) {
        diagnostic *d = diagnostics_say(scan->c->diagnostics, e->span, SAY(keeps_history_of_every_iteration),
                                        total->name);
        diagnostics_note(scan->c->diagnostics, d, (source_span){0}, "add `loss.item()` or `loss.detach(false)`");
    }
    expr_each_child(e, find_growing, scan);
}

/* ---- states that take their history along ------------------------------------------------------ */

typedef struct state_search {
    const loop_scan *scan;
    const binding *state;
    bool has_state, has_weight, detaches;
} state_search;

static bool detaches(const expr *e, void *context) {
    (void)context;
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI &&
           (e->call.abi == TL_FN_tl_tensor_detach || e->call.abi == TL_FN_tl_tensor_item);
}

static void find_carried(expr *e, void *context) {
    state_search *s = context;
    bool whole = e->kind == EXPR_NAME || e->kind == EXPR_FIELD;
    const binding *root = whole ? check_root(e) : NULL;
    s->has_state |= root != NULL && root == s->state;
    for (uint32_t i = 0; i < s->scan->weight_count; i++)
        s->has_weight |= root != NULL && root == s->scan->weights[i];
    if (e->kind == EXPR_CAST) /* written, or where more is stated than is known */
        expr_each_child(e, find_carried, s);
    if (e->kind != EXPR_CALL)
        return;
    s->detaches |= e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_tensor_detach;
    s->detaches |= e->call.kind == CALL_FUNCTION &&
                   (e->call.function->body == NULL || block_any(e->call.function->body, detaches, NULL));
    if ((e->call.kind == CALL_ABI && e->type->kind == TYPE_TENSOR) || e->call.kind == CALL_FUNCTION)
        expr_each_child(e, find_carried, s);
}

/* An assignment that begins the state again. */
static bool restarts(const expr *e, void *context) {
    const state_search *of = context;
    if (e->kind != EXPR_ASSIGN || e->assign.target->kind != EXPR_NAME || e->assign.target->name.binding != of->state)
        return false;
    state_search s = {.scan = of->scan, .state = of->state};
    find_carried(e->assign.value, &s);
    return !s.has_state || s.detaches;
}

static void find_states(expr *e, void *context) {
    loop_scan *scan = context;
    if (e->kind == EXPR_ASSIGN && e->assign.target->kind == EXPR_NAME && e->assign.target->type->kind == TYPE_TENSOR) {
        const binding *state = e->assign.target->name.binding;
        bool outlives = state->span.file != scan->body->span.file || state->span.offset < scan->body->span.offset ||
                        state->span.offset >= scan->body->span.offset + scan->body->span.length;
        for (uint32_t i = 0; i < scan->weight_count; i++)
            outlives &= state != scan->weights[i];
        state_search s = {.scan = scan, .state = state};
        find_carried(e->assign.value, &s);
        if (outlives && s.has_state && s.has_weight && !s.detaches && !block_any(scan->body, restarts, &s)) {
            diagnostic *d = diagnostics_say(scan->c->diagnostics, e->span, SAY(takes_its_history_into_next_iteration),
                                            state->name);
            diagnostics_note(scan->c->diagnostics, d, (source_span){0},
                             "`backward()` lets go of it there: `%s = ….detach(false)` ends it", state->name);
        }
    }
    expr_each_child(e, find_states, scan);
}

static void warn_of_history(checker *c, block *body) {
    loop_scan scan = {.c = c, .body = body};
    block_each_child(body, find_losses, &scan);
    if (scan.count > 0)
        block_each_child(body, find_growing, &scan);
    if (scan.calls_backward && scan.weight_count > 0)
        block_each_child(body, find_states, &scan);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void look_at(expr *e, void *context);

static void look_at_block(checker *c, block *b) {
    warn_of_unreached(c, b);
    for (stmt *s = b->first; s != NULL; s = s->next) {
        warn_of_dropped(c, s);
        warn_of_unused(c, s);
        warn_of_unseen(c, s);
    }
}

static void look_at(expr *e, void *context) {
    checker *c = context;
    switch (e->kind) {
    case EXPR_BLOCK:
        look_at_block(c, e->block);
        break;
    case EXPR_IF:
        look_at_block(c, e->branch.then);
        break;
    case EXPR_FOR:
    case EXPR_WHILE:
    case EXPR_LOOP:
        look_at_block(c, e->loop->body);
        warn_of_history(c, e->loop->body);
        break;
    default:
        break;
    }
    expr_each_child(e, look_at, c);
}

void check_warnings(checker *c) {
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        function_item *f = c->tree->functions[i];
        bool own = f->span.file != c->tree->prelude && f->template == NULL && !f->is_template;
        if (own && f->body != NULL && (!f->is_closure || f->body_is_checked)) {
            warn_of_mut(c, f);
            warn_of_unread(c, f);
            warn_of_only_written(c, f);
            expr body = {.kind = EXPR_BLOCK, .block = f->body};
            look_at(&body, c);
        }
    }
}
