/* check_closure.c: closures.
 *
 *     let k = 3;                         struct <closure> { k: i64 }
 *     let f = |x| x * k;         ─►      fn <closure>::call(self, x: i64) -> i64 { x * self.k }
 *     f(2)                               let f = <closure> { k: k };  <closure>::call(f, 2)
 *
 * A closure is a struct of copies of what its body reads from outside, so ownership treats it like any other
 * struct; each closure has a type of its own, and functions that take one are generic. The body is checked as
 * soon as the types of the parameters are known: where the closure is made when they are written out or
 * where it is passed says so, else at the first call. Then the names that were visible where it was made are
 * visible again: scopes only grow, and a closure that leaves a block undecided keeps the block's names.
 *
 * A body that writes to a variable from outside writes to the copy; a call from the function that the
 * variable belongs to copies it in before and out after. Handed on, such a closure holds references (check_capture.c).
 */
#include "language/front/check_closure.h"
#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

static const char self_name[] = "<closure>";

/* ---- making one ------------------------------------------------------------------------------ */

static function_item *new_closure_function(checker *c, expr *e) {
    function_item *f = CHECK_ARRAY(c, function_item, 1);
    uint32_t count = e->closure.parameter_count;
    *f = (function_item){.name = "call",
                         .qualified = "closure",
                         .span = e->span,
                         .is_closure = true,
                         .has_self = true,
                         .outer = c->function,
                         .is_checked = true,
                         .result_annotation = e->closure.result,
                         .is_move = e->closure.is_move,
                         .parameter_count = count + 1,
                         .index = c->tree->function_count};
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, f);
    f->parameters = CHECK_ARRAY(c, binding *, count + 1);
    f->parameters[0] = CHECK_ARRAY(c, binding, 1);
    *f->parameters[0] = (binding){.name = self_name, .span = e->span, .kind = BINDING_SELF, .is_mutable = true};
    for (uint32_t i = 0; i < count; i++)
        f->parameters[i + 1] = e->closure.parameters[i];
    f->owner = check_new_closure_struct(c, e, f);
    f->parameters[0]->type = f->owner->type;
    return f;
}

/* ---- its body -------------------------------------------------------------------------------- */

typedef struct outside { /* what the function around was doing */
    function_item *function;
    loop_context *loop;
    comprehension_context *comprehension;
    names_away names;
} outside;

static outside leave_function(checker *c, function_item *f, uint32_t scope_mark) {
    outside o = {c->function, c->nest->loop, c->nest->comprehension, names_leave(c->names, scope_mark)};
    c->function = f;
    c->nest->loop = NULL;
    c->nest->comprehension = NULL;
    return o;
}

static void return_to(checker *c, const outside *o) {
    c->function = o->function;
    c->nest->loop = o->loop;
    c->nest->comprehension = o->comprehension;
    names_return(c->names, &o->names);
}

static block *body_block(checker *c, expr *body) {
    if (body->kind == EXPR_BLOCK)
        return body->block;
    block *b = CHECK_ARRAY(c, block, 1);
    b->span = body->span;
    b->result = body;
    return b;
}

static void declare_parameters(checker *c, function_item *f, const closure_signature *s) {
    check_declare(c, f->parameters[0], f->owner->type);
    for (uint32_t i = 1; i < f->parameter_count; i++) {
        binding *b = f->parameters[i];
        const type *t = b->annotation != NULL ? check_type(c, b->annotation)
                        : i - 1 < s->count    ? s->parameters[i - 1]
                                              : check_scalar(c, TYPE_ERROR);
        if (b->annotation != NULL && i - 1 < s->count)
            check_fits(c, t, s->parameters[i - 1]);
        b->comes_back |= s->places != NULL && i - 1 < s->count && s->places[i - 1];
        check_declare(c, b, type_resolve(c->types, t));
    }
}

/* The captured variables, as the function around sees them, also where another closure calls this one first. */
static void fill_captures(checker *c, struct_item *s) {
    expr *e = s->made_by;
    function_item *caller = c->function;
    c->function = s->closure->outer;
    source_span span = e->span;
    expr **operands = CHECK_ARRAY(c, expr *, s->field_count + 1);
    for (uint32_t i = 0; i < s->field_count; i++) {
        binding *b = s->fields[i].captured;
        expr *name = check_new_name(c, span, b->name);
        name->name.binding = b;
        name->type = b->type;
        operands[i] = name;
        if (!check_is_own(c->function, b)) {
            name->type = NULL;
            name->name.scope = NULL;
            check_captured_name(c, &operands[i]);
        } else {
            check_use_binding(c, b);
        }
    }
    e->kind = EXPR_CALL;
    e->call = (call_expr){
        .kind = CALL_STRUCT, .name_span = span, .structure = s, .operands = operands, .operand_count = s->field_count};
    e->type = s->type;
    uint32_t size = 1;
    for (uint32_t i = 0; i < s->field_count; i++) {
        uint32_t part = s->fields[i].type->size;
        size = part > UINT32_MAX - size ? UINT32_MAX : size + part;
    }
    type_set_size(s->type, size);
    c->function = caller;
}

static void yield_unit(checker *c, block *body) {
    expr *unit = check_new(c, EXPR_TUPLE, body->span, NULL);
    if (check_unit_value(c, &unit)) {
        body->result = unit;
        body->type = unit->type;
    }
}

static void check_body(checker *c, struct_item *s, const closure_signature *signature) {
    function_item *f = s->closure;
    outside o = leave_function(c, f, f->scope_mark);
    uint32_t mark = check_scope_open(c);
    for (uint32_t i = 0; i < f->kept_count; i++)
        names_show(c->names, f->kept[i]);
    f->body_is_open = true;
    declare_parameters(c, f, signature);
    f->result = f->result_annotation != NULL                                  ? check_type(c, f->result_annotation)
                : signature->is_known && signature->result->kind != TYPE_OPEN ? signature->result
                                                                              : NULL;
    f->body = body_block(c, f->body_expression);
    if (f->body->result != NULL && f->result == NULL)
        check_keep_reference(f->body->result);
    const type *wish = f->result == NULL && s->made_by->kind == EXPR_CLOSURE ? s->made_by->closure.wish : NULL;
    check_block(c, f->body, f->result != NULL ? f->result : wish);
    const bool some = f->result == NULL ? signature->is_known : f->result == check_unit_type(c);
    if (some && f->body->type->kind == TYPE_VOID)
        yield_unit(c, f->body); /* what is wanted is some value */
    if (f->result == NULL)
        f->result = f->body->type->kind == TYPE_NEVER ? check_scalar(c, TYPE_VOID) : f->body->type;
    if (f->result->kind != TYPE_VOID && f->body->type->kind != TYPE_NEVER) {
        if (f->body->result == NULL) {
            diagnostics_say(c->diagnostics, f->body->span, SAY(this_closure_ends_without_value_of),
                            check_type_text(c, f->result));
        } else {
            check_coerce_branch(c, &f->body->result, f->result, NULL);
            f->body->type = f->result;
        }
    }
    check_scope_close(c, mark);
    return_to(c, &o);
    f->body_is_open = false;
    f->body_is_checked = true;
    fill_captures(c, s);
}

static void keep_in_sight(checker *c, function_item *f, uint32_t mark) {
    const names_away away = names_leave(c->names, mark);
    /* fewer, where a wrong program made the closure in a part that is checked again further out */
    const uint32_t seen = f->scope_mark - mark, more = seen < away.count ? seen : away.count;
    binding **kept = CHECK_ARRAY(c, binding *, more + f->kept_count);
    for (uint32_t k = 0; k < more; k++)
        kept[k] = away.shown[away.count - 1 - k];
    names_return(c->names, &away);
    for (uint32_t k = 0; k < f->kept_count; k++)
        kept[more + k] = f->kept[k];
    f->kept = kept;
    f->kept_count += more;
    f->scope_mark = mark;
}

void check_scope_end(checker *c, uint32_t mark, uint32_t made) {
    for (uint32_t i = made; i < c->tree->function_count; i++) {
        function_item *f = c->tree->functions[i];
        if (f->is_closure && !f->body_is_checked && f->outer == c->function && f->scope_mark > mark)
            keep_in_sight(c, f, mark);
    }
    check_scope_close(c, mark);
}

static bool is_written_out(const function_item *f) {
    for (uint32_t i = 1; i < f->parameter_count; i++)
        if (f->parameters[i]->annotation == NULL)
            return false;
    return true;
}

/* |f| f(f): what its body yields is asked for while the body is read. */
static bool report_open(checker *c, const expr *e, const function_item *f) {
    if (!f->is_closure || f->body_is_checked || !f->body_is_open)
        return false;
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(this_closure_needs_itself));
    diagnostics_note(c->diagnostics, d, (source_span){0}, "a `fn` may call itself");
    return true;
}

void check_closure(checker *c, expr *e, const closure_signature *signature) {
    function_item *f = new_closure_function(c, e);
    f->scope_mark = c->names->entry_count;
    f->body_expression = e->closure.body;
    c->open->has_open = true; /* it may have to be closed */
    e->type = f->owner->type;
    closure_signature none = {0};
    if (signature != NULL && signature->is_known)
        check_body(c, f->owner, signature);
    else if (is_written_out(f))
        check_body(c, f->owner, &none);
}

/* ---- where a function is wanted --------------------------------------------------------------- */

/* A function that is a value of its own says what its signature is: of it the wanted one takes what it leaves open. */
static void demand_given(checker *c, const expr *e, const closure_signature *given, const closure_signature *wanted) {
    if (given->count != wanted->count) {
        diagnostics_say(c->diagnostics, e->span, SAY(function_of_is_wanted_here_this), wanted->count,
                        wanted->count == 1 ? "parameter" : "parameters", given->count);
        return;
    }
    for (uint32_t i = 0; i < given->count; i++)
        if (type_resolve(c->types, wanted->parameters[i])->may_have_open &&
            !check_fits(c, wanted->parameters[i], given->parameters[i]))
            diagnostics_say(c->diagnostics, e->span, SAY(function_of_type_is_wanted_here),
                            check_type_text(c, wanted->parameters[i]), check_type_text(c, given->parameters[i]));
    if (wanted->result->may_have_open && !check_fits(c, wanted->result, given->result))
        diagnostics_say(c->diagnostics, e->span, SAY(function_that_yields_is_wanted_here),
                        check_type_text(c, wanted->result), check_type_text(c, given->result));
}

static bool demand_signature(checker *c, expr *e, struct_item *s, const closure_signature *wanted) {
    const function_item *f = s->closure;
    uint32_t first = f->has_self, count = f->parameter_count - first;
    if (count != wanted->count) {
        diagnostics_say(c->diagnostics, e->span, SAY(function_of_is_wanted_here_this), wanted->count,
                        wanted->count == 1 ? "parameter" : "parameters", count);
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!check_fits(c, wanted->parameters[i], f->parameters[first + i]->type)) {
            diagnostics_say(c->diagnostics, e->span, SAY(function_of_type_is_wanted_here),
                            check_type_text(c, wanted->parameters[i]),
                            check_type_text(c, f->parameters[first + i]->type));
            good = false;
        }
    }
    bool nothing = wanted->result->kind == TYPE_VOID;
    if (!nothing && !check_fits(c, f->result, wanted->result)) {
        diagnostics_say(c->diagnostics, e->span, SAY(function_that_yields_is_wanted_here),
                        check_type_text(c, wanted->result), check_type_text(c, f->result));
        good = false;
    }
    return good;
}

void check_function_value(checker *c, expr **slot, const closure_signature *signature) {
    expr *call = c->around->lends_to;
    c->around->lends_to = NULL;
    check_call_through(c, slot, signature);
    check_name_as_closure(c, slot, signature->count);
    expr *e = *slot;
    if (e->kind == EXPR_CLOSURE && e->type == NULL) {
        check_closure(c, e, signature);
    } else {
        check_expr(c, slot, NULL);
        e = *slot;
    }
    if (type_is_reference(type_resolve(c->types, e->type))) { /* visit: &mut dyn FnMut(T), handed on */
        check_follow(c, slot);
        e = *slot;
    }
    const type *t = type_resolve(c->types, e->type);
    if (type_is_silent(t))
        return;
    if (check_dyn_signature(t) != NULL) {
        demand_given(c, e, check_dyn_signature(t), signature);
        return;
    }
    if (t->kind != TYPE_STRUCT || t->structure->closure == NULL) {
        diagnostics_say(c->diagnostics, e->span, SAY(function_is_wanted_here_this_is), check_type_text(c, t));
        return;
    }
    struct_item *s = t->structure;
    bool open = report_open(c, e, s->closure);
    if (!open && s->closure->is_closure && !s->closure->body_is_checked)
        check_body(c, s, signature);
    if (!open && !check_lend_closure(c, call, slot, s))
        check_refer_captures(c, s);
    e = *slot;
    if (open || !demand_signature(c, e, s, signature)) {
        expr *wrong = check_new(c, EXPR_ERROR, e->span, NULL);
        check_make_error(c, wrong);
        *slot = wrong;
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void check_first_call(checker *c, expr *e, struct_item *s) {
    function_item *f = s->closure;
    const function_item *around = c->function;
    while (around != f->outer && around->is_closure)
        around = around->outer;
    if (around != f->outer) {
        check_close_closure(c, s->made_by); /* its names are out of sight here */
        return;
    }
    closure_signature found = {.count = e->call.arg_count};
    found.parameters = CHECK_ARRAY(c, const type *, found.count + 1);
    for (uint32_t i = 0; i < found.count; i++) {
        bool written = i + 1 < f->parameter_count && f->parameters[i + 1]->annotation != NULL;
        if (e->call.args[i]->type == NULL && !written) {
            check_keep_reference(e->call.args[i]);
            check_expr(c, &e->call.args[i], NULL);
        }
        found.parameters[i] = written ? check_type(c, f->parameters[i + 1]->annotation)
                                      : type_resolve(c->types, e->call.args[i]->type);
    }
    check_body(c, s, &found);
}

static bool writes_outside(const checker *c, const struct_item *s) {
    for (uint32_t i = 0; i < s->field_count; i++)
        if (check_writes_through(s, &s->fields[i]) && !s->fields[i].by_reference && s->closure->outer == c->function)
            return true;
    return false;
}

static void copy_captures(block_builder *b, const char *closure, const struct_item *s, const char *text) {
    for (uint32_t i = 0; i < s->field_count; i++)
        if (check_writes_through(s, &s->fields[i]) && !s->fields[i].by_reference)
            build_stmt(b, BUILD_QUOTE(b->c, b->span, text, check_new_name(b->c, b->span, closure),
                                      check_new_name(b->c, b->span, s->fields[i].name)));
}

/* { f.n = n; let r = f(…); n = f.n; r } */
static void wrap_call(checker *c, expr **slot, const char *name, const struct_item *s) {
    expr *e = *slot;
    source_span span = e->span;
    block_builder b = build_block(c, span);
    bool value = e->type->kind != TYPE_VOID && e->type->kind != TYPE_NEVER;
    copy_captures(&b, name, s, "$0.$1 = $1");
    if (value)
        build_let(&b, "<result>", false, e);
    else
        build_stmt(&b, e);
    copy_captures(&b, name, s, "$1 = $0.$1");
    *slot = build_finish(&b, value ? check_new_name(c, span, "<result>") : NULL);
    check_expr(c, slot, NULL);
}

static void call_closure(checker *c, expr **slot, expr *receiver, struct_item *s) {
    expr *e = *slot;
    function_item *f = s->closure;
    const char *name = e->call.callee->kind == EXPR_NAME ? e->call.callee->name.name : NULL;
    if (report_open(c, e, f)) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
        return;
    }
    if (f->is_closure && !f->body_is_checked) {
        check_first_call(c, e, s);
        if (!f->body_is_checked) {
            check_list(c, e->call.args, e->call.arg_count);
            check_make_error(c, e);
            return;
        }
    }
    e->call.receiver = f->has_self ? receiver : NULL;
    check_arguments(c, e, f, f->has_self);
    e->type = f->result == NULL ? check_scalar(c, TYPE_ERROR) : f->result;
    if (!check_count(c, e, name == NULL ? "closure" : name, f->parameter_count - f->has_self, f->span))
        return;
    check_finish_call(c, e, f);
    if (check_called_inside(c, s) || (name == NULL && writes_outside(c, s)))
        check_refer_captures(c, s);
    else if (writes_outside(c, s))
        wrap_call(c, slot, name, s);
}

/* net(x) of a struct: the method that it may mean. */
static void note_method(checker *c, diagnostic *d, const type *t) {
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->owner == t->structure && f->has_self) {
            diagnostics_note(c->diagnostics, d, (source_span){0}, "a method of it is called by its name: `x.%s(%s)`",
                             f->name, check_parameters_text(c, f));
            return;
        }
    }
}

bool check_closure_call(checker *c, expr **slot) {
    expr *e = *slot, *callee = e->call.callee;
    if (callee->kind == EXPR_NAME) {
        symbol *s = callee->name.scope == NULL ? check_find(c, callee->name.name) : NULL;
        if (s == NULL || s->binding == NULL)
            return false;
    }
    expr *receiver = callee;
    check_expr(c, &receiver, NULL);
    const type *t = type_resolve(c->types, receiver->type);
    if (type_is_silent(t)) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
        return true;
    }
    if (check_dyn_signature(t) != NULL) {
        *slot = build_method(c, e->span, receiver, "call", e->call.args, e->call.arg_count);
        check_expr(c, slot, NULL);
        return true;
    }
    if (t->kind != TYPE_STRUCT || t->structure->closure == NULL) {
        check_list(c, e->call.args, e->call.arg_count);
        note_method(c, diagnostics_say(c->diagnostics, callee->span, SAY(cannot_be_called), check_type_text(c, t)), t);
        check_make_error(c, e);
        return true;
    }
    call_closure(c, slot, receiver, t->structure);
    return true;
}
