/* check_generic.c: generic structs, enums and functions, one instance for each list of types.
 *
 *     fn first<T>(v: Vec<T>) -> T      first(names)  ─►  T = String  ─►  a copy of `first` with its own types
 *     struct Pair<A, B>                Pair { a: 1, b: true }        ─►  the struct Pair<i64, bool>
 *
 * What a type parameter stands for is found by checking the arguments against parameter types in which
 * each type parameter is a TYPE_OPEN; those that stay open until the body has been read are decided there
 * (call.pending). The bodies of instances are checked after the function that needs them; a generic
 * function that nobody calls is only parsed.
 */
#include <string.h>

#include "language/front/check_private.h"
#include "language/front/lexer.h"
#include "language/front/parser.h"

enum { INSTANCES_MAX = 4096, STRUCT_DEPTH_MAX = 40 };

/* ---- environments ---------------------------------------------------------------------------- */

static const type *argument_in(const type_parameters *parameters, const type **arguments,
                               const char *name) {
    for (uint32_t i = 0; parameters != NULL && i < parameters->count; i++) {
        if (strcmp(parameters->items[i].name, name) == 0) {
            return arguments[i];
        }
    }
    return NULL;
}

const type *check_type_argument(const checker *c, const char *name) {
    const type_environment *e = c->environment;
    if (e == NULL) {
        return NULL;
    }
    const type *t = argument_in(e->parameters, e->arguments, name);
    return t != NULL ? t : argument_in(e->more, e->more_arguments, name);
}

static const type **open_types(checker *c, uint32_t count) {
    const type **types = CHECK_ARRAY(c, const type *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = type_open(c->types);
    }
    c->has_open |= count > 0;
    return types;
}

/* ---- structs --------------------------------------------------------------------------------- */

static bool same_types(const type *const *a, const type *const *b, uint32_t count) {
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

/* struct L<T> { rest: Vec<L<Vec<T>>> }: each instance needs another one. */
static bool grows_without_end(checker *c, struct_item *s, const struct_item *template) {
    if (c->struct_depth < STRUCT_DEPTH_MAX) {
        return false;
    }
    diagnostics_error(c->diagnostics, template->span, "`%s` contains itself with ever other types",
                      template->name);
    for (uint32_t i = 0; i < s->field_count; i++) {
        s->fields[i] = template->fields[i];
        s->fields[i].type = check_scalar(c, TYPE_ERROR);
    }
    return true;
}

static void instance_fields(checker *c, struct_item *s, const struct_item *template) {
    if (grows_without_end(c, s, template)) {
        return;
    }
    c->struct_depth++;
    type_environment environment = {.parameters = &template->generics, .arguments = s->arguments};
    const type_environment *outer = c->environment;
    c->environment = &environment;
    for (uint32_t i = 0; i < s->field_count; i++) {
        s->fields[i] = template->fields[i];
        s->fields[i].type = s->fields[i].annotation == NULL
                                ? check_scalar(c, TYPE_I64)
                                : check_type(c, s->fields[i].annotation);
    }
    c->environment = outer;
    c->struct_depth--;
}

struct_item *check_struct_instance(checker *c, struct_item *template, const type **arguments) {
    for (struct_item *s = template->instances; s != NULL; s = s->next_instance) {
        if (same_types(s->arguments, arguments, template->generics.count)) {
            return s;
        }
    }
    struct_item *s = CHECK_ARRAY(c, struct_item, 1);
    *s = *template;
    s->template = template;
    s->arguments = arguments;
    s->instances = NULL;
    s->next_instance = template->instances;
    template->instances = s;
    s->index = c->tree->struct_count;
    CHECK_PUSH(c, c->tree->structs, c->tree->struct_count, c->tree->struct_capacity, s);
    s->type = template->is_builtin ? type_vec(c->types, arguments[0]) : type_struct(c->types, s);
    s->visit = 1; /* being made: who measures it now has it inside */
    s->fields = CHECK_ARRAY(c, struct_field, s->field_count + 1);
    instance_fields(c, s, template);
    s->visit = 0;
    if (c->structs_are_measured) {
        check_struct_size(c, s);
    }
    return s;
}

static const type *instance_type(void *context, struct_item *template, const type **arguments) {
    return check_struct_instance(context, template, arguments)->type;
}

void check_generics_begin(checker *c) {
    c->types->instance = instance_type;
    c->types->instance_context = c;
}

struct_item *check_struct_open(checker *c, struct_item *s, type_expr **written, uint32_t count) {
    if (s->generics.count == 0 || s->template != NULL) {
        return s;
    }
    const type **arguments = open_types(c, s->generics.count);
    for (uint32_t i = 0; i < count && i < s->generics.count; i++) {
        arguments[i] = check_type(c, written[i]);
    }
    return check_struct_instance(c, s, arguments);
}

/* ---- owners of methods that are no structs of the program ------------------------------------- */

static struct_item *new_builtin(checker *c, const char *name) {
    struct_item *s = CHECK_ARRAY(c, struct_item, 1);
    *s = (struct_item){.name = name, .is_builtin = true, .index = c->tree->struct_count};
    CHECK_PUSH(c, c->tree->structs, c->tree->struct_count, c->tree->struct_capacity, s);
    return s;
}

static struct_item *vec_owner(checker *c) {
    if (c->builtin_owners[TYPE_VEC] == NULL) {
        struct_item *s = new_builtin(c, "Vec");
        s->generics.items = CHECK_ARRAY(c, type_parameter, 1);
        s->generics.items[0].name = "T";
        s->generics.count = 1;
        c->builtin_owners[TYPE_VEC] = s;
    }
    return c->builtin_owners[TYPE_VEC];
}

struct_item *check_builtin_owner(checker *c, const char *name) {
    if (strcmp(name, "Vec") == 0) {
        return vec_owner(c);
    }
    bool tensor = strcmp(name, "Tensor") == 0 || strcmp(name, "GradTensor") == 0;
    type_kind kind = tensor ? TYPE_TENSOR : scalar_type_of_name(name, strlen(name));
    if (kind == TYPE_ERROR || kind == TYPE_VOID) {
        return NULL;
    }
    if (c->builtin_owners[kind] == NULL) {
        struct_item *s = new_builtin(c, name);
        s->type = tensor ? type_tensor(c->types, NULL, -1) : check_scalar(c, kind);
        c->builtin_owners[kind] = s;
    }
    return c->builtin_owners[kind];
}

struct_item *check_owner_of(checker *c, const type *t) {
    if (t->kind == TYPE_STRUCT) {
        return t->structure;
    }
    if (t->kind == TYPE_VEC) {
        if (c->builtin_owners[TYPE_VEC] == NULL) {
            return NULL;
        }
        const type **arguments = CHECK_ARRAY(c, const type *, 1);
        arguments[0] = t->vec.element;
        return check_struct_instance(c, vec_owner(c), arguments);
    }
    return c->builtin_owners[t->kind];
}

/* ---- methods --------------------------------------------------------------------------------- */

static type_environment environment_new(checker *c, function_item *f) {
    type_environment e = {.parameters = &f->generics};
    e.arguments = open_types(c, f->generics.count);
    if (f->impl != NULL) {
        e.more = &f->impl->generics;
        e.more_arguments = open_types(c, f->impl->generics.count);
    }
    return e;
}

/* Whether the impl block is one for this instance; decides the impl's type parameters. */
static bool impl_fits(checker *c, const function_item *f, const struct_item *owner,
                      const type_environment *environment) {
    if (f->impl == NULL || owner->template == NULL) {
        return true;
    }
    const type_environment *outer = c->environment;
    const type_expr *written = f->impl->owner;
    bool fits = true;
    c->environment = environment;
    for (uint32_t i = 0; fits && i < written->argument_count && i < owner->template->generics.count;
         i++) {
        fits = check_fits(c, owner->arguments[i], check_type(c, written->arguments[i]));
    }
    c->environment = outer;
    return fits;
}

function_item *check_method_named(checker *c, struct_item *owner, const char *name) {
    function_item *f = check_find_method(c, owner, name);
    if (f == NULL && owner->dyn != NULL) {
        return check_dyn_method(c, owner, name);
    }
    if (f != NULL || owner->template == NULL) {
        return f;
    }
    f = check_find_method(c, owner->template, name);
    while (f != NULL) {
        bool had_open = c->has_open;
        type_environment e = environment_new(c, f);
        bool fits = impl_fits(c, f, owner, &e);
        c->has_open = had_open;
        if (fits) {
            return f;
        }
        do {
            f = f->next_in_bucket;
        } while (f != NULL && (f->owner != owner->template || strcmp(f->name, name) != 0));
    }
    return NULL;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

bool check_implements(const checker *c, const type *t, const trait_item *trait) {
    const struct_item *owner = t->kind == TYPE_STRUCT ? t->structure : c->builtin_owners[t->kind];
    if (check_dyn_trait(t) != NULL) {
        return check_inherits(c, check_dyn_trait(t), trait, 0);
    }
    for (uint32_t i = 0; i < c->implementation_count && owner != NULL; i++) {
        const implementation *made = &c->implementations[i];
        if (made->trait == trait && (made->owner == owner || made->owner == owner->template)) {
            return true;
        }
    }
    return false;
}

static bool check_bounds(checker *c, const type_parameters *parameters, const type **arguments,
                         source_span span) {
    bool good = true;
    for (uint32_t i = 0; parameters != NULL && i < parameters->count; i++) {
        const type_parameter *p = &parameters->items[i];
        for (uint32_t b = 0; b < p->bound_count; b++) {
            symbol *s =
                p->bounds[b]->kind == TYPE_EXPR_NAME ? check_find(c, p->bounds[b]->name) : NULL;
            if (s == NULL || s->trait == NULL || type_is_silent(arguments[i]) ||
                check_implements(c, arguments[i], s->trait)) {
                continue; /* traits of Rust's own library say nothing to masu */
            }
            diagnostic *d = diagnostics_error(c->diagnostics, span, "`%s` does not implement `%s`",
                                              check_type_text(c, arguments[i]), s->trait->name);
            diagnostics_note(c->diagnostics, d, p->bounds[b]->span, "`%s` asks for it here",
                             p->name);
            good = false;
        }
    }
    return good;
}

/* ---- instances of functions ------------------------------------------------------------------ */

static bool is_decided(const type *const *types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (types[i]->may_have_open) {
            return false;
        }
    }
    return true;
}

static uint32_t count_of(const type_parameters *p) {
    return p == NULL ? 0 : p->count;
}

static void resolve_all(checker *c, const type **types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        types[i] = type_resolve(c->types, types[i]);
    }
}

static function_item *find_instance(const function_item *f, const struct_item *owner,
                                    const type_environment *e) {
    function_item *made = f->instances;
    while (made != NULL &&
           (made->owner != owner ||
            !same_types(made->environment.arguments, e->arguments, count_of(e->parameters)) ||
            !same_types(made->environment.more_arguments, e->more_arguments, count_of(e->more)))) {
        made = made->next_instance;
    }
    return made;
}

void check_read_body(checker *c, function_item *f) {
    if (f->unread.length > 0 && parse_unread(c->tree, f, c->diagnostics) != MASU_OK) {
        check_out_of_memory(c);
    }
}

static function_item *make_instance(checker *c, function_item *f, struct_item *owner,
                                    const type_environment *e, source_span span) {
    function_item *made = find_instance(f, owner, e);
    if (made != NULL) {
        return made;
    }
    if (c->instance_count++ > INSTANCES_MAX) {
        diagnostics_error(c->diagnostics, span, "more than %d instances of generic functions",
                          INSTANCES_MAX);
        c->instance_refused = true;
        return NULL;
    }
    bool good = check_bounds(c, e->parameters, e->arguments, span);
    good &= check_bounds(c, e->more, e->more_arguments, span);
    if (!good) {
        c->instance_refused = true;
        return NULL;
    }
    made = function_copy(c->arena, f);
    if (made == NULL) {
        check_out_of_memory(c);
    }
    check_read_body(c, made);
    made->template = f;
    made->is_template = false;
    made->environment = *e;
    made->owner = owner;
    made->next_in_bucket = NULL;
    made->next_instance = f->instances;
    f->instances = made;
    made->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, made);
    check_signature(c, made);
    for (uint32_t i = 0; i < made->parameter_count; i++) { /* what a lent closure wrote goes back */
        binding *p = made->parameters[i];
        if (p->annotation != NULL && check_is_lent(p->type)) {
            type_expr *place = CHECK_ARRAY(c, type_expr, 1);
            *place = *p->annotation;
            place->is_place = true;
            p->annotation = place;
        }
    }
    return made;
}

/* The instance that the environment asks for; NULL while something is open. */
static function_item *instance_of(checker *c, function_item *f, struct_item *owner,
                                  type_environment *e, source_span span) {
    check_bounds_decide(c, e);
    resolve_all(c, e->arguments, count_of(e->parameters));
    resolve_all(c, e->more_arguments, count_of(e->more));
    bool decided = is_decided(e->arguments, count_of(e->parameters)) &&
                   is_decided(e->more_arguments, count_of(e->more)) &&
                   (owner == NULL || owner->type == NULL || !owner->type->may_have_open);
    return decided ? make_instance(c, f, owner, e, span) : NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The function type that the parameter's type parameter has as a bound. */
static const type_expr *function_bound(const function_item *f, const binding *parameter) {
    const type_expr *t = parameter->annotation;
    if (t == NULL || t->kind != TYPE_EXPR_NAME) {
        return NULL;
    }
    const type_parameters *lists[2] = {&f->generics, f->impl == NULL ? NULL : &f->impl->generics};
    for (int l = 0; l < 2; l++) {
        for (uint32_t i = 0; lists[l] != NULL && i < lists[l]->count; i++) {
            const type_parameter *p = &lists[l]->items[i];
            for (uint32_t b = 0; strcmp(p->name, t->name) == 0 && b < p->bound_count; b++) {
                if (p->bounds[b]->kind == TYPE_EXPR_FUNCTION) {
                    return p->bounds[b];
                }
            }
        }
    }
    return NULL;
}

/* How many items a list has, by its form or by its type; -1: it is none. */
static int64_t items_of(checker *c, expr **slot) {
    while ((*slot)->kind == EXPR_UNARY && (*slot)->unary.op == UNARY_REFERENCE) {
        slot = &(*slot)->unary.operand;
    }
    expr *e = *slot;
    if (e->type == NULL && e->kind == EXPR_ARRAY) {
        return e->list.count;
    }
    if (e->type == NULL && e->kind == EXPR_REPEAT) {
        int64_t count = -1;
        return check_constant_integer(c, &e->repeat.count, &count, "a count") ? count : -1;
    }
    check_expr(c, slot, NULL);
    const type *t = type_resolve(c->types, (*slot)->type);
    return t->kind == TYPE_VEC ? t->vec.length : -1;
}

/* a: [T; N] given [1, 2, 3] says what N is. The environment is that of the type. */
static void decide_length(checker *c, const type_expr *t, expr **slot,
                          const type_environment *outer) {
    const type_environment *own = c->environment;
    const type *length = check_length_argument(c, t);
    if (length == NULL || length->kind != TYPE_OPEN) {
        return;
    }
    c->environment = outer;
    int64_t count = items_of(c, slot);
    c->environment = own;
    if (count >= 0) {
        check_fits(c, length, check_number_type(c, count));
    }
    expr *e = *slot;
    if (t->arguments[0]->kind == TYPE_EXPR_ARRAY && e->type != NULL && e->type->kind == TYPE_VEC) {
        const type *inner = check_length_argument(c, t->arguments[0]),
                   *row = type_resolve(c->types, e->type->vec.element);
        if (inner != NULL && inner->kind == TYPE_OPEN && row->kind == TYPE_VEC) {
            check_fits(c, inner, check_number_type(c, row->vec.length));
        }
    } else if (t->arguments[0]->kind == TYPE_EXPR_ARRAY && e->kind == EXPR_ARRAY &&
               e->list.count > 0) {
        decide_length(c, t->arguments[0], &e->list.items[0], outer);
    } else if (t->arguments[0]->kind == TYPE_EXPR_ARRAY && e->kind == EXPR_REPEAT) {
        decide_length(c, t->arguments[0], &e->repeat.value, outer);
    }
}

/* P { a: [1, 2, 3] } of a struct P<const N: usize>. */
struct_item *check_decide_lengths(checker *c, expr *e, struct_item *s) {
    if (s->template == NULL || !s->type->may_have_open) {
        return s;
    }
    type_environment own = {.parameters = &s->template->generics, .arguments = s->arguments};
    const type_environment *outer = c->environment;
    c->environment = &own;
    for (uint32_t i = 0; i < e->structure.init_count; i++) {
        for (uint32_t k = 0; k < s->field_count; k++) {
            if (s->fields[k].annotation != NULL &&
                strcmp(s->fields[k].name, e->structure.inits[i].name) == 0) {
                decide_length(c, s->fields[k].annotation, &e->structure.inits[i].value, outer);
            }
        }
    }
    c->environment = outer;
    return type_resolve(c->types, s->type)->structure;
}

static void check_argument(checker *c, expr *call, expr **slot, const function_item *f,
                           const binding *parameter, const type_environment *e) {
    const type_environment *outer = c->environment;
    const type_expr *bound = function_bound(f, parameter);
    c->environment = e;
    if (parameter->annotation != NULL) {
        decide_length(c, parameter->annotation, slot, outer);
    }
    const type *wanted =
        parameter->annotation == NULL ? NULL : check_type(c, parameter->annotation);
    closure_signature signature = {0};
    if (bound != NULL) {
        signature = check_closure_signature(c, bound);
    }
    c->environment = outer;
    if (bound != NULL) {
        c->lends_to = call;
        check_function_value(c, slot, &signature);
        c->lends_to = NULL;
    } else {
        const type *wish = wanted == NULL ? NULL : type_resolve(c->types, wanted);
        check_expr(c, slot, wish == NULL || wish->kind == TYPE_OPEN ? NULL : wish);
    }
    if (wanted != NULL && f->span.file == c->tree->prelude &&
        type_is(type_resolve(c->types, wanted), TYPE_STRING) &&
        type_is(type_resolve(c->types, (*slot)->type), TYPE_CHAR)) { /* s.find('c') */
        *slot = check_text_of(c, *slot, 0);
    }
    if (wanted != NULL) {
        check_coerce_branch(c, slot, wanted,
                            &(coerce_reason){parameter->span, "the parameter is declared here"});
    }
}

/* An expected struct of the same kind, or number, says what the result holds. */
static void use_expectation(checker *c, const type *result, const type *expected) {
    if (expected == NULL) {
        return;
    }
    result = type_resolve(c->types, result);
    expected = type_resolve(c->types, expected);
    bool same = result->kind == expected->kind &&
                (result->kind != TYPE_STRUCT ||
                 (result->structure->template == expected->structure->template));
    if (result->may_have_open &&
        (same || (result->kind == TYPE_OPEN && type_is_numeric(expected)))) {
        check_fits(c, result, expected);
    }
}

static bool has_wrong_argument(const expr *e) {
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        if (e->call.args[i]->type->kind == TYPE_ERROR) {
            return true;
        }
    }
    return false;
}

static void find_cast(expr *e, void *context) {
    bool *found = context;
    *found |= e->kind == EXPR_CAST;
    expr_each_child(e, find_cast, context);
}

/* The number in what is folded; the parts of a pair have to agree. */
static const type *number_in(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    if (t->kind != TYPE_TUPLE) {
        return t;
    }
    const type *first = number_in(c, t->tuple.items[0]);
    for (uint32_t i = 1; i < t->tuple.count; i++) {
        if (number_in(c, t->tuple.items[i]) != first) {
            return check_scalar(c, TYPE_ERROR);
        }
    }
    return first;
}

/* v.fold(0.0, |a, x| a + x) of a Vec<f64> starts with an f64, where no cast says otherwise. */
static void start_of_fold(checker *c, expr *e, const function_item *f, const type_environment *at) {
    bool folds = f->span.file == c->tree->prelude && strcmp(f->name, "fold") == 0 &&
                 e->call.arg_count == 2 && e->call.args[0]->type == NULL &&
                 check_free_literal(e->call.args[0]) && e->call.receiver != NULL &&
                 e->call.args[1]->kind == EXPR_CLOSURE && f->generics.count > 0;
    const type *t = folds ? type_resolve(c->types, e->call.receiver->type) : NULL;
    bool casts = false;
    if (t == NULL || t->kind != TYPE_VEC ||
        type_resolve(c->types, at->arguments[0])->kind != TYPE_OPEN) {
        return;
    }
    find_cast(e->call.args[1], &casts);
    t = number_in(c, t->vec.element);
    const expr *start = e->call.args[0];
    while (start->kind == EXPR_UNARY) {
        start = start->unary.operand;
    }
    if (!casts && (start->kind == EXPR_FLOAT ? type_is_float(t) : type_is_integer(t))) {
        check_fits(c, at->arguments[0], t);
    }
}

void check_template_call(checker *c, expr *e, function_item *f, struct_item *owner,
                         const type *expected) {
    type_environment environment = environment_new(c, f);
    const type_environment *outer = c->environment;
    environment.self = owner;
    uint32_t first = e->call.receiver != NULL && f->has_self, written = 0;
    type_expr **types = e->call.type_arguments;
    if (e->call.callee != NULL && e->call.callee->kind == EXPR_NAME && f->owner_name == NULL) {
        types = e->call.callee->name.arguments;
        written = e->call.callee->name.argument_count;
    } else {
        written = e->call.type_argument_count;
    }
    for (uint32_t i = 0; i < written && i < f->generics.count; i++) {
        environment.arguments[i] = check_type(c, types[i]);
    }
    if (owner != NULL) {
        impl_fits(c, f, owner, &environment);
    }
    c->environment = &environment;
    const type *result = f->result_annotation == NULL ? check_scalar(c, TYPE_VOID)
                                                      : check_type(c, f->result_annotation);
    c->environment = outer;
    use_expectation(c, result, expected);
    start_of_fold(c, e, f, &environment);
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        if (first + i < f->parameter_count) {
            check_argument(c, e, &e->call.args[i], f, f->parameters[first + i], &environment);
        } else {
            check_expr(c, &e->call.args[i], NULL);
        }
    }
    e->type = type_resolve(c->types, result);
    if (!check_count(c, e, f->qualified, f->parameter_count - first, f->span)) {
        return;
    }
    if (has_wrong_argument(e)) { /* said; an instance would only say it again inside */
        check_make_error(c, e);
        return;
    }
    c->instance_refused = false;
    function_item *made = instance_of(c, f, owner, &environment, e->span);
    if (c->instance_refused) {
        check_make_error(c, e);
        return;
    }
    e->call.pending = made == NULL ? f : NULL;
    if (made != NULL) {
        check_finish_call(c, e, made);
        return;
    }
    uint32_t count = f->generics.count, more = count_of(environment.more);
    e->call.pending_arguments = CHECK_ARRAY(c, const type *, count + more + 1);
    memcpy(e->call.pending_arguments, environment.arguments, count * sizeof(const type *));
    if (more > 0) {
        memcpy(e->call.pending_arguments + count, environment.more_arguments,
               more * sizeof(const type *));
    }
    e->call.pending_owner = owner;
    e->kind = EXPR_CALL;
}

/* After the body: whatever is open now is never decided. */
void check_pending_call(checker *c, expr *e) {
    function_item *f = e->call.pending;
    struct_item *owner = e->call.pending_owner;
    type_environment environment = {.parameters = &f->generics,
                                    .more = f->impl == NULL ? NULL : &f->impl->generics,
                                    .arguments = e->call.pending_arguments,
                                    .more_arguments =
                                        e->call.pending_arguments + f->generics.count};
    environment.self = owner;
    e->call.pending = NULL;
    if (owner != NULL && owner->type != NULL) {
        owner = check_owner_of(c, type_resolve(c->types, owner->type));
        environment.self = owner;
    }
    c->instance_refused = false;
    function_item *made = instance_of(c, f, owner, &environment, e->span);
    if (c->instance_refused) {
        check_make_error(c, e);
        return;
    }
    if (made == NULL) {
        const char *name = f->generics.count > 0 ? f->generics.items[0].name
                           : f->impl != NULL && f->impl->generics.count > 0
                               ? f->impl->generics.items[0].name
                               : "T";
        diagnostic *d =
            diagnostics_error(c->diagnostics, e->call.name_span,
                              "nothing says what `%s` of `%s` stands for", name, f->qualified);
        diagnostics_note(c->diagnostics, d, f->span, "it is declared here");
        check_make_error(c, e);
        return;
    }
    check_finish_call(c, e, made);
}

/* ---- templates ------------------------------------------------------------------------------- */

bool check_is_template(const checker *c, const function_item *f) {
    bool generic_owner =
        f->owner != NULL && f->owner->generics.count > 0 && f->owner->template == NULL;
    return f->generics.count > 0 || (f->impl != NULL && f->impl->generics.count > 0) ||
           generic_owner || f->span.file == c->tree->prelude;
}
