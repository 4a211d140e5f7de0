/* check.c: the order of the work.
 *
 *     names of items ─► fields ─► signatures ─► constants ─► bodies ─►
 *     which methods write to self ─► main
 *
 * Items may come in any order, so each step goes over all of them before the next begins.
 */
#include <string.h>

#include "base/assert.h"
#include "language/front/check.h"
#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_infer.h"
#include "language/front/check_items.h"
#include "language/front/check_place.h"
#include "language/front/check_text.h"
#include "language/front/check_types.h"
#include "language/front/check_variant.h"
#include "language/types/check_conform.h"
#include "language/types/check_context.h"
#include "language/types/check_destructor.h"
#include "language/types/check_scopes.h"

/* ---- bodies ---------------------------------------------------------------------------------- */

static void declare_parameters(checker *c, function_item *f) {
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        binding *parameter = f->parameters[i];
        symbol *known = check_symbol(c, parameter->name);
        if (known->binding != NULL && strcmp(parameter->name, "_") != 0) /* only parameters are declared yet */
            check_report_twice(c, parameter->span, parameter->name, known->binding->span);
        check_declare(c, parameter, parameter->type);
    }
}

static void report_no_result(checker *c, function_item *f) {
    source_span end = source_span_make(f->body->span.file, f->body->span.offset + f->body->span.length - 1, 1);
    diagnostic *d = diagnostics_say(c->diagnostics, end, SAY(ends_without_value_of_type), f->qualified,
                                    check_type_text(c, f->result));
    stmt *last = f->body->first;
    while (last != NULL && last->next != NULL)
        last = last->next;
    if (last != NULL && last->kind == STMT_EXPR && check_fits(c, last->value->type, f->result))
        diagnostics_note(c->diagnostics, d, last->span, "without its semicolon this is the result");
    else
        diagnostics_note(c->diagnostics, d, f->result_annotation->span, "the result's type is given here");
}

static void check_result(checker *c, function_item *f) {
    block *b = f->body;
    if (f->never_returns && b->type->kind != TYPE_NEVER && b->type->kind != TYPE_ERROR)
        diagnostics_say(c->diagnostics, f->span, SAY(never_function_returns), f->qualified);
    if (f->result->kind == TYPE_VOID || b->type->kind == TYPE_NEVER || f->result->kind == TYPE_ERROR)
        return;
    if (b->result == NULL) {
        report_no_result(c, f);
        return;
    }
    source_span span = f->result_annotation == NULL ? f->span : f->result_annotation->span;
    coerce_reason why = {span, "the result's type is given here"};
    check_coerce_branch(c, &b->result, f->result, &why);
    b->type = f->result;
}

/* ---- open types ------------------------------------------------------------------------------
 *
 * Vec::new() had no element type when it was checked. After the body all is known; the types
 * written into the tree meanwhile are replaced by what they turned out to be.
 */

static void close_expr(expr *e, void *context);

static void close_pattern(checker *c, pattern *p) {
    if (p->type != NULL)
        p->type = type_resolve(c->types, p->type);
    if (p->low != NULL)
        close_expr(p->low, c);
    if (p->high != NULL)
        close_expr(p->high, c);
    for (uint32_t i = 0; i < p->part_count; i++)
        close_pattern(c, p->parts[i]);
}

static void close_block(checker *c, block *b) {
    if (b->type != NULL) /* else it was not looked at: what it lies in was refused */
        b->type = type_resolve(c->types, b->type);
    for (stmt *s = b->first; s != NULL; s = s->next)
        if (s->pattern != NULL)
            close_pattern(c, s->pattern);
}

/* Whether the call was reported: then its arguments may have any type. */
static bool is_lost_call(checker *c, const expr *e) {
    bool call = e->kind == EXPR_METHOD || e->kind == EXPR_CALL;
    return call && c->diagnostics->error_count > 0 &&
           ((e->type != NULL && e->type->kind == TYPE_ERROR) ||
            diagnostics_has_error_in(c->diagnostics, e->call.name_span));
}

static void close_expr(expr *e, void *context) {
    checker *c = context;
    uint32_t lost = is_lost_call(c, e) ? 1 : 0;
    for (bool more = true; more;) {
        more = check_is_no_conversion(c, e);
        if (more) {
            check_become(e, e->cast.operand);
        } else if (e->kind == EXPR_CALL && e->call.late != NULL) {
            if (e->call.late->failure == NULL)
                check_finish_text(c, e);
            else
                check_finish_failure(c, e);
            more = true;
        }
    }
    if (e->type != NULL) {
        const type *before = e->type;
        e->type = type_resolve(c->types, before);
        check_close_number(c, e, before);
        check_close_unstated(e);
        MASU_DEBUG_ASSERT(!type_is_open_number(e->type));
        bool empty = (e->kind == EXPR_CALL && e->call.kind == CALL_VEC_NEW) || e->kind == EXPR_LIST ||
                     e->kind == EXPR_REPEAT;
        if (e->type->may_have_open && empty && c->open->lost_calls == 0 &&
            !diagnostics_has_error_in(c->diagnostics, e->span)) {
            diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(nothing_says_what_this_holds));
            diagnostics_note(c->diagnostics, d, (source_span){0}, "write it out: `let v: Vec<f32> = Vec::new();`");
        }
    }
    if (e->kind == EXPR_CALL && e->call.pending != NULL)
        check_pending_call(c, e);
    switch (e->kind) {
    case EXPR_CLOSURE:
        check_close_closure(c, e);
        break;
    case EXPR_CALL:
        if ((e->call.kind == CALL_STRUCT || e->call.kind == CALL_VARIANT) && e->type->kind == TYPE_STRUCT)
            e->call.structure = e->type->structure; /* it was an instance with open types */
        break;
    case EXPR_STRUCT:
        if (e->type != NULL && e->type->kind == TYPE_STRUCT)
            e->structure.structure = e->type->structure;
        break;
    case EXPR_BLOCK:
        close_block(c, e->block);
        break;
    case EXPR_IF:
        close_block(c, e->branch.then);
        break;
    case EXPR_WHILE:
    case EXPR_LOOP:
        close_block(c, e->loop->body);
        break;
    case EXPR_FOR:
        close_block(c, e->loop->body);
        close_pattern(c, e->loop->pattern);
        break;
    case EXPR_MATCH:
        for (uint32_t i = 0; i < e->match.count; i++)
            close_pattern(c, e->match.arms[i].pattern);
        break;
    default:
        break;
    }
    c->open->lost_calls += lost;
    expr_each_child(e, close_expr, c);
    c->open->lost_calls -= lost;
}

static void close_captures(checker *c, struct_item *s) {
    for (uint32_t i = 0; i < s->field_count; i++)
        s->fields[i].type = type_resolve(c->types, s->fields[i].type);
}

static void close_open_types(checker *c, function_item *f) {
    for (uint32_t i = 0; i < f->binding_count; i++) {
        f->bindings[i]->type = type_resolve(c->types, f->bindings[i]->type);
        if (f->bindings[i]->type->kind == TYPE_OPEN)
            diagnostics_say(c->diagnostics, f->bindings[i]->span, SAY(type_of_is_not_known), f->bindings[i]->name);
    }
    function_item *outer = c->function;
    c->function = f;
    f->result = type_resolve(c->types, f->result);
    expr body = {.kind = EXPR_BLOCK, .block = f->body};
    close_expr(&body, c);
    c->function = outer;
}

/* Closures that lie in the function, and those in them. */
static void close_closures(checker *c, uint32_t from) {
    for (uint32_t i = from; i < c->tree->function_count; i++) {
        function_item *f = c->tree->functions[i];
        if (f->is_closure && f->body_is_checked) {
            close_captures(c, f->owner);
            close_open_types(c, f);
        }
    }
}

/* Whether none of the surroundings is set that only parts of a body may know (check_expr.h). */
__attribute__((unused)) static bool is_outside(const checker *c) {
    const check_around *a = c->around;
    return c->nest->loop == NULL && c->nest->comprehension == NULL && a->wanted_variants == NULL &&
           a->receiver_of == NULL && a->parse_wish == NULL && a->lends_to == NULL && a->how_more == NULL &&
           !a->index_goes_on;
}

static void check_statements(checker *c, function_item *f) {
    uint32_t functions = c->tree->function_count, errors = c->diagnostics->error_count;
    f->is_checked = true;
    c->environment = f->template != NULL ? &f->environment : NULL;
    c->function = f;
    c->nest->loop = NULL;
    c->nest->comprehension = NULL;
    c->open->has_open = false;
    MASU_DEBUG_ASSERT(is_outside(c));
    uint32_t mark = check_scope_open(c);
    declare_parameters(c, f);
    check_block(c, f->body, f->result);
    check_result(c, f);
    check_scope_close(c, mark);
    MASU_DEBUG_ASSERT(is_outside(c));
    type_default_numbers(c->types);
    c->open->is_closing = true;
    check_finish_parses(c);
    if (c->open->has_open) {
        close_closures(c, functions);
        close_open_types(c, f);
        check_dyn_close(c);
    }
    c->open->is_closing = false;
    if (c->diagnostics->error_count == errors) {
        check_late_names(c, f);
        for (uint32_t i = functions; i < c->tree->function_count; i++)
            if (c->tree->functions[i]->is_closure && c->tree->functions[i]->body_is_checked)
                check_late_names(c, c->tree->functions[i]);
    }
    c->environment = NULL;
    c->function = NULL;
}

/* Calls of f find their results from it (check_infer_result.c). */
static void keep_as_written(checker *c, function_item *f, function_item *copy) {
    inference n = {.c = c};
    bool own = f->span.file != c->tree->prelude && !f->is_closure && !f->is_wide && f->template == NULL;
    if (own && f->body != NULL && f->result != NULL && infer_leaves_elements(&n, f->result))
        f->as_written = copy != NULL ? copy : check_copy_function(c, f);
}

/* Adds the copies that run where the tensors passed hold something else than f32. */
static void add_copies(checker *c, function_item *f, function_item *copy) {
    function_item *whole = check_is_whole_otherwise(c, f, copy) ? check_copy_function(c, copy) : NULL;
    if (f->as_written == copy)
        f->as_written = check_copy_function(c, copy);
    if (c->types->guessed > 0)
        check_signature(c, check_add_wide(c, f, copy));
    if (whole != NULL)
        check_signature(c, check_add_whole(c, f, whole));
}

/* Checks the copy for whole numbers. Where something is wrong with it, nothing calls it. */
static void check_whole(checker *c, function_item *f) {
    const diagnostics before = *c->diagnostics;
    const uint32_t functions = c->tree->function_count;
    c->types->whole = f->whole_elements;
    check_statements(c, f);
    c->types->whole = NULL;
    if (c->diagnostics->error_count == before.error_count)
        return;
    diagnostics_return_to(c->diagnostics, &before);
    f->is_left_out = true;
    for (uint32_t i = functions; i < c->tree->function_count; i++)
        c->tree->functions[i]->is_left_out = c->tree->functions[i]->is_closure;
}

static void check_body(checker *c, function_item *f) {
    c->diagnostics->home = f->called_from;
    c->diagnostics->home_name = f->qualified;
    function_item *copy = check_wide_copy(c, f);
    const uint32_t errors = c->diagnostics->error_count;
    keep_as_written(c, f, copy);
    check_infer(c, f);
    c->types->elements_are_wide = f->is_wide && !f->is_whole;
    c->types->guessed = c->types->may_be_whole.count = 0;
    if (f->is_whole)
        check_whole(c, f);
    else
        check_statements(c, f);
    if (copy != NULL && c->diagnostics->error_count == errors)
        add_copies(c, f, copy);
    c->types->elements_are_wide = false;
}

static type_verdict is_destroyed(const type *t, void *context) {
    const checker *c = context;
    if (t->kind != TYPE_STRUCT)
        return t->kind == TYPE_VEC || t->kind == TYPE_TUPLE ? TYPE_LOOK_INSIDE : TYPE_LACKS;
    const struct_item *made = t->structure->template != NULL ? t->structure->template : t->structure;
    return made->drop != NULL && made->span.file != c->tree->prelude ? TYPE_HAS : TYPE_LOOK_INSIDE;
}

static void finish_struct(checker *c, struct_item *s) {
    function_item *f = s->template != NULL ? s->template->drop : s->drop;
    if (f == NULL || s->type == NULL || s->type->may_have_open || s->cell != NULL ||
        (s->template == NULL && s->generics.count > 0))
        return;
    if (library_says(LIBRARY_drops_parts, s->name) && f->span.file == c->tree->prelude &&
        !type_any(c->types, s->type, is_destroyed, c))
        return;
    s->drop = f;
    if (check_is_template(c, f)) {
        type_environment environment = check_environment_new(c, f);
        environment.self = s;
        if (!check_impl_fits(c, f, s, &environment)) {
            s->drop = NULL;
            return;
        }
        s->drop = check_instance_of(c, f, s, &environment, f->span);
    }
    if (s->drop == NULL)
        return;
    s->destructor = ++c->tree->destructor_count;
    struct_item *inside = CHECK_ARRAY(c, struct_item, 1);
    *inside = *s;
    inside->drop = NULL;
    inside->type = type_struct(c->types, inside);
    s->cell = type_array(c->types, inside->type, TYPE_BOX);
}

/* Of every type that the program uses by now: it may make instances of destructors, whose bodies are still to be
 * checked. */
static void check_finish_drops(checker *c) {
    for (uint32_t i = 0; c->tree->has_destructors && i < c->tree->struct_count; i++)
        finish_struct(c, c->tree->structs[i]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_bodies(checker *c) {
    for (; c->instances->checked_count < c->tree->function_count;
         c->instances->checked_count++) { /* instances are added meanwhile */
        function_item *f = c->tree->functions[c->instances->checked_count];
        if (!f->is_template && !f->is_checked)
            check_body(c, f);
    }
}

static bool wants_closure(const function_item *f) {
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const type_expr *t = f->parameters[i]->annotation;
        if (t != NULL && t->kind == TYPE_EXPR_FUNCTION)
            return true;
    }
    return false;
}

/* A file of the library calls few of its functions. Those that depend on no type and no closure are checked all the
 * same; the others wait for a program that says which. */
static void check_examined(checker *c, uint32_t written) {
    for (uint32_t i = 0; i < written && c->tree->examined > 0; i++) {
        function_item *f = c->tree->functions[i];
        bool generic = f->generics.count > 0 || (f->impl != NULL && f->impl->generics.count > 0) ||
                       (f->owner != NULL && f->owner->generics.count > 0);
        if (f->span.file == c->tree->prelude && f->span.offset < c->tree->examined && !generic && !wants_closure(f) &&
            f->refusal == NULL) {
            type_environment none = check_environment_new(c, f);
            check_instance_of(c, f, f->owner, &none, f->span);
        }
    }
}

static void check_program(checker *c) {
    c->instances->constant_integer = check_constant_integer;
    check_generics_begin(c);
    check_find_guards(c);
    check_main_result(c);
    check_declare_items(c);
    for (uint32_t i = 0; i < c->tree->constant_count; i++)
        check_constant_now(c, c->tree->constants[i], c->tree->constants[i]->span);
    check_made_lets(c);
    uint32_t written = c->tree->function_count;
    for (uint32_t i = 0; i < written; i++)
        if (!c->tree->functions[i]->is_template)
            check_signature(c, c->tree->functions[i]);
    check_conform(c);
    check_examined(c, written);
    check_bodies(c);
    for (function_item *f; (f = check_dyn_unwritten(c)) != NULL;) { /* these may need further instances */
        check_body(c, f);
        check_bodies(c);
    }
    check_finish_drops(c);
    check_bodies(c);
    check_settle_writes(c);
    check_find_main(c);
    if (c->diagnostics->error_count == 0)
        check_warnings(c);
}

static masu_status check_all(checker *c) {
    if (setjmp(*c->memory_ended) != 0)
        return MASU_ERR_OUT_OF_MEMORY;
    check_program(c);
    return c->types->out_of_memory || c->diagnostics->out_of_memory ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
}

masu_status check_tree(syntax_tree *tree, type_table *types, diagnostics *diagnostics) {
    jmp_buf memory_ended;
    name_table names = {.tree = tree, .arena = tree->arena, .memory_ended = &memory_ended};
    check_said said = {0};
    check_nest nest = {.forms = &check_all_forms};
    check_around around = {0};
    check_inference open = {0};
    check_instances instances = {0};
    check_places places = {0};
    check_writes writes = {0};
    checker c = {.tree = tree,
                 .types = types,
                 .diagnostics = diagnostics,
                 .arena = tree->arena,
                 .memory_ended = &memory_ended,
                 .names = &names,
                 .said = &said,
                 .nest = &nest,
                 .around = &around,
                 .open = &open,
                 .instances = &instances,
                 .places = &places,
                 .writes = &writes};
    masu_status status = check_all(&c);
    return status;
}
