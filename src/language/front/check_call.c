/* check_call.c: functions, constructors. What the language brings along is in
 * check_builtin.c and check_abi.c. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_derive.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/front/check_text.h"
#include "language/front/check_types.h"
#include "language/front/check_variant.h"
#include "language/library/library.h"
#include "language/syntax/elsewhere.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"
#include "language/types/hints.h"

/* ---- functions of the program ---------------------------------------------------------------- */

void check_copy_self(checker *c, expr **slot, const function_item *f) {
    const binding *self = f->parameters[0];
    const struct_item *of = f->owner == NULL || f->owner->template == NULL ? f->owner : f->owner->template;
    if (of == NULL || !of->is_copy || !self->is_mutable || self->is_lent || self->is_shared || !check_is_place(*slot))
        return;
    const type *t = (*slot)->type;
    block_builder b = build_block(c, (*slot)->span);
    *slot = build_finish(&b, *slot);
    (*slot)->type = b.block->type = t;
}

expr **check_leads_on(checker *c, expr **slot, const binding *parameter, const type *wanted) {
    if (parameter->annotation != NULL && parameter->annotation->is_shared && check_is_place(*slot) &&
        type_resolve(c->types, wanted)->kind != TYPE_OPEN)
        check_lead_to(c, slot, wanted);
    return slot;
}

/* f(&a) of a `&mut T` would be written through. */
bool check_refuse_shared(checker *c, expr *arg, const binding *parameter) {
    if (parameter == NULL || parameter->annotation == NULL || !parameter->annotation->is_place ||
        arg->kind != EXPR_UNARY || arg->unary.op != UNARY_REFERENCE || arg->unary.is_mutable)
        return false;
    const source_span span = arg->unary.operand->span;
    const char *text = check_printf(c, "%.*s", (int)span.length, span.file->text + span.offset);
    diagnostic *d = diagnostics_say(c->diagnostics, arg->span, SAY(is_wanted_here_this_is), text,
                                    check_printf(c, "&%s", text));
    diagnostics_note(c->diagnostics, d, parameter->span, "what is passed here is written to");
    check_make_error(c, arg);
    return true;
}

/* args go to the parameters from `first` on. */
void check_arguments(checker *c, expr *e, const function_item *f, uint32_t first) {
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        const binding *parameter = first + i < f->parameter_count ? f->parameters[first + i] : NULL;
        bool lent = parameter != NULL && check_comes_back(parameter) && check_is_dyn(parameter->type);
        if (check_refuse_shared(c, e->call.args[i], parameter))
            continue;
        if (parameter != NULL && (check_comes_back(parameter) || parameter->is_lent))
            check_lend_place(c, e, &e->call.args[i], parameter->type);
        check_expr(c, &e->call.args[i], parameter == NULL || lent ? NULL : parameter->type);
        if (parameter != NULL && parameter->kind == BINDING_SELF)
            check_copy_self(c, &e->call.args[i], f);
        if (parameter != NULL && check_comes_back(parameter))
            check_dyn_lend(c, e, &e->call.args[i], parameter->type);
        if (parameter != NULL) {
            coerce_reason why = {parameter->span, "the parameter is declared here"};
            if (check_comes_back(parameter))
                check_coerce_lent(c, &e->call.args[i], parameter->type, &why);
            else
                check_coerce_branch(c, check_leads_on(c, &e->call.args[i], parameter, parameter->type), parameter->type,
                                    &why);
        }
    }
}

static void call_function(checker *c, expr *e, function_item *f, struct_item *owner, const type *expected) {
    f = check_choose_overload(c, e, owner, f);
    if (f->is_template) {
        check_template_call(c, e, f, owner, expected);
        return;
    }
    check_arguments(c, e, f, 0);
    e->type = f->result; /* also after a mistake: what follows is then judged by what was meant */
    if (f->has_self ? check_count(c, e, f->qualified, f->parameter_count, f->span) : check_count_of(c, e, f))
        check_finish_call(c, e, f);
}

/* ---- P(a, b) --------------------------------------------------------------------------------- */

static void call_struct(checker *c, expr *e, struct_item *s, const type *expected) {
    const name_expr *callee = &e->call.callee->name;
    s = check_struct_open(c, s, callee->arguments, callee->argument_count);
    if (expected != NULL && s->template != NULL)
        check_fits(c, s->type, expected);
    s = check_decide_lengths(c, e, s);
    e->type = s->type;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        const struct_field *field = i < s->field_count ? &s->fields[i] : NULL;
        check_expr(c, &e->call.args[i], field == NULL ? NULL : field->type);
        if (field != NULL) {
            check_coerce_branch(c, &e->call.args[i], field->type,
                                &(coerce_reason){field->span, "the field is declared here"});
        }
    }
    if (check_count(c, e, s->name, s->field_count, s->span)) {
        e->call.kind = CALL_STRUCT;
        e->call.structure = s;
        e->call.operands = e->call.args;
        e->call.operand_count = e->call.arg_count;
        e->type = type_resolve(c->types, s->type);
    }
}

/* ---- f(…) ------------------------------------------------------------------------------------ */

/* Linear(3, 4) of a struct of the library: what makes one, with its parameters. */
static bool report_struct(checker *c, const expr *e, const struct_item *s) {
    if (s == NULL || s->is_enum)
        return false;
    diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(is_struct_not_function), s->name);
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        const type_expr *made = f->result_annotation;
        if (f->owner != s || f->has_self || made == NULL || made->kind != TYPE_EXPR_NAME ||
            (strcmp(made->name, s->name) != 0 && strcmp(made->name, "Self") != 0))
            continue;
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`%s::%s(%s)` makes one", s->name, f->name,
                         check_parameters_text(c, f));
        break;
    }
    return true;
}

static void unknown_function(checker *c, expr *e, const char *name) {
    symbol *s = check_find(c, name);
    if (s != NULL && s->refused) {
        check_make_error(c, e);
        return;
    }
    check_list(c, e->call.args, e->call.arg_count);
    check_make_error(c, e);
    if (s != NULL && s->binding != NULL) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(is_variable_not_function), name);
        diagnostics_note(c->diagnostics, d, s->binding->span, "it is declared here");
        return;
    }
    if (report_struct(c, e, check_struct_named(c, name)))
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(there_is_no_function), name);
    if (c->function->owner != NULL && check_find_method(c, c->function->owner, name) != NULL) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "did you mean `%s%s`?",
                         check_find_method(c, c->function->owner, name)->has_self ? "self." : "Self::", name);
        return;
    }
    if (hint_for_function(c, d, e, name))
        return;
    suggestion near = check_suggest(d, name);
    check_suggest_functions(c, &near);
    check_suggest_note(c, d, &near);
}

/* const STEP: fn(i64) -> i64 = next; STEP(1) */
static bool calls_constant(checker *c, expr **slot, const symbol *s) {
    if (s == NULL || s->constant == NULL)
        return false;
    check_expr(c, &(*slot)->call.callee, NULL);
    return check_closure_call(c, slot);
}

static void call_plain(checker *c, expr **slot, const char *name, const type *expected) {
    expr *e = *slot;
    symbol *s = check_find(c, name);
    bool misfits = s != NULL && check_is_other_form(c, s->function, e->call.arg_count);
    struct_item *structure = check_struct_named(c, name);
    if (calls_constant(c, slot, s) || check_closure_call(c, slot))
        return;
    if (s != NULL && s->function != NULL && !misfits) {
        call_function(c, e, s->function, NULL, expected);
    } else if (structure != NULL && !structure->is_enum &&
               (structure->positional || structure->span.file != c->tree->prelude)) {
        call_struct(c, e, structure, expected);
    } else if (check_variant_call(c, e, expected)) {
        return;
    } else if (check_is_tensor_maker(name)) {
        e->call.callee->name.scope = strcmp(name, "GradTensor") == 0 ? name : "Tensor"; /* tensor([1.0, 2.0]) */
        e->call.callee->name.name = "from";
        check_call(c, slot, expected);
    } else if (!check_builtin_function(c, slot, name) && !check_std_call(c, slot, NULL, name, expected) &&
               !((s == NULL || misfits) && check_function_form(c, slot, name, expected))) {
        misfits ? call_function(c, e, s->function, NULL, expected) : unknown_function(c, e, name);
    }
}

/* ---- T::f(…) --------------------------------------------------------------------------------- */

static void unknown_static(checker *c, expr *e, const char *scope, const char *name, const struct_item *owner) {
    if (check_report_outside(c, e->call.name_span, scope, name))
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(there_is_no_associated_function), scope,
                                    name);
    suggestion near = check_suggest(d, name);
    for (uint32_t i = 0; owner != NULL && i < c->tree->function_count && near.distance > 0; i++)
        if (c->tree->functions[i]->owner == owner)
            suggest_add(&near, c->tree->functions[i]->name);
    check_suggest_abi(strcmp(scope, "GradTensor") == 0 ? "Tensor" : scope, &near);
    if (near.best != NULL) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "did you mean `%s::%s`?", scope, near.best);
        return;
    }
    near = check_suggest(d, name);
    if (strcmp(scope, "Tensor") == 0 || strcmp(scope, "GradTensor") == 0)
        check_suggest_abi("", &near);
    if (near.best != NULL || near.exact) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "there is a method: `x.%s(…)`",
                         near.exact ? name : near.best);
    }
}

static void unknown_scope(checker *c, source_span span, const char *scope, const char *name) {
    symbol *s = check_find(c, scope);
    if (s != NULL && s->refused)
        return;
    if (check_report_outside(c, span, scope, name))
        return;
    bool module = scope[0] >= 'a' && scope[0] <= 'z';
    diagnostic *d = module ? diagnostics_say(c->diagnostics, span, SAY(there_is_no_module_or_type), scope)
                           : diagnostics_say(c->diagnostics, span, SAY(there_is_no_type), scope);
    const char *last = strrchr(scope, ':'); /* nn::MSELoss(); the `new` of a type says nothing */
    last = last == NULL ? scope : last + 1;
    const char *hint = last[0] >= 'a' && last[0] <= 'z' ? hint_for_word(name, strlen(name)) : NULL;
    hint = hint == NULL ? hint_for_path(scope) : hint;
    if (hint != NULL) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "%s", hint);
        return;
    }
    suggestion near = check_suggest(d, scope);
    names_suggest_types(c->names, &near);
    check_suggest_note(c, d, &near);
}

/* P::new() where a P<i64> is expected. */
static void use_expected_owner(checker *c, const struct_item *owner, const type *expected) {
    const type *t = type_resolve(c->types, expected);
    bool same = t->kind == TYPE_VEC ||
                (t->kind == TYPE_STRUCT && owner->template != NULL && t->structure->template == owner->template);
    if (same)
        check_fits(c, owner->type, t);
}

/* Tensor::square(x) of an x that is none. */
static void demand_tensor(checker *c, expr *e, const char *name) {
    const bool called = e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION && e->call.function->has_self;
    const expr *self = called && e->call.operand_count > 0 ? e->call.operands[0] : NULL;
    const type *t = self == NULL || self->type == NULL ? NULL : type_resolve(c->types, self->type);
    if (t == NULL || t->kind == TYPE_TENSOR || type_is_silent(t) || type_is_reference(t))
        return;
    diagnostics_say(c->diagnostics, self->span, SAY(has_no_method), check_type_text(c, t), name);
    check_make_error(c, e);
}

static void call_of_struct(checker *c, expr *e, const char *scope, struct_item *owner, const type *expected) {
    const name_expr *callee = &e->call.callee->name;
    const char *name = callee->name;
    if (owner->generics.count > 0 && owner->template == NULL) {
        owner = check_struct_open(c, owner, callee->arguments, callee->argument_count);
        if (expected != NULL && type_resolve(c->types, expected)->kind == owner->type->kind &&
            check_method_named(c, owner, name) != NULL)
            use_expected_owner(c, owner, expected);
    }
    check_views(c, e);
    function_item *f = check_method_meant(c, owner, e, name);
    f = f == NULL ? check_derived_method(c, owner, name, e->call.name_span) : f;
    if (f != NULL) {
        if (f->has_self && callee->argument_count > 0 && e->call.arg_count > 0)
            check_receiver_is(c, &e->call.args[0], owner->type);
        call_function(c, e, f, owner, expected);
        if (owner->type->kind == TYPE_TENSOR)
            demand_tensor(c, e, name);
        return;
    }
    check_list(c, e->call.args, e->call.arg_count);
    check_make_error(c, e);
    if (owner->is_enum && check_report_variant(c, e->call.callee))
        return;
    unknown_static(c, e, scope, name, owner);
}

/* T::max_value() where T is i64. */
static const name_expr *scope_of_type(checker *c, expr *e, const type *t) {
    e->call.callee->name.scope = check_type_text(c, t);
    return &e->call.callee->name;
}

/* Vec::from(…), i64::parse(…): from an impl block for a type of the language. */
static bool call_of_builtin(checker *c, expr *e, struct_item *owner, const type *expected) {
    const char *name = e->call.callee->name.name;
    if (check_find_method(c, owner, name) == NULL)
        return false;
    call_of_struct(c, e, e->call.callee->name.scope, owner, expected);
    return true;
}

static bool is_from(const char *name) {
    return library_said_of(LIBRARY_form, name) == SAID_FROM;
}

/* f64::from(x) and String::from(x) of a type of the program that `impl From<…> for f64` names. */
static bool call_of_own_from(checker *c, expr *e, struct_item *owner, const type *expected) {
    const function_item *f = owner == NULL || !is_from(e->call.callee->name.name) ? NULL
                                                                                  : check_find_method(c, owner, "from");
    if (f == NULL || f->span.file == c->tree->prelude || e->call.arg_count != 1)
        return false;
    check_expr(c, &e->call.args[0], NULL);
    const type *t = type_resolve(c->types, e->call.args[0]->type);
    return (t->kind == TYPE_STRUCT || t->kind == TYPE_TUPLE) && call_of_builtin(c, e, owner, expected);
}

/* Box::new(x): a Box where one is wanted or nothing is known, else x. */
static void make_box(checker *c, expr **slot, const type *expected) {
    const name_expr *callee = &(*slot)->call.callee->name;
    const bool converts = is_from(callee->name),
               shared = library_said_of(LIBRARY_pointer, callee->scope) == SAID_COUNTED;
    if (callee->argument_count == 1) { /* Box::<T>::new(x) */
        type_expr written = {.span = callee->scope_span,
                             .kind = TYPE_EXPR_NAME,
                             .name = callee->scope,
                             .arguments = callee->arguments,
                             .argument_count = 1};
        expected = check_type(c, &written);
    }
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    bool box = wish != NULL && type_is_box(wish);
    bool open = wish == NULL || wish->kind == TYPE_OPEN;
    *slot = (*slot)->call.args[0];
    expr *bare = *check_behind(slot);
    bare->is_vec |= bare->kind == EXPR_ARRAY && (open || check_is_dyn(wish));
    if (open) /* of a reference: the reference */
        check_keep_reference(*slot);
    check_expr(c, slot, box ? wish->vec.element : open ? NULL : wish);
    const type *t = type_resolve(c->types, (*slot)->type);
    if (open && !type_is_reference(t))
        check_unbox(c, slot);
    expr *made = converts && wish != NULL && check_is_dyn(wish) ? check_from(c, *slot, NULL, wish) : NULL;
    if (made != NULL) { /* Box::<dyn Error>::from("…") */
        *slot = made;
        check_expr(c, slot, wish);
        return;
    }
    if (box || (open && t->kind == TYPE_STRUCT && t->structure->closure == NULL && !check_is_dyn(t))) {
        check_coerce(c, slot, box ? wish : type_array(c->types, t, shared ? TYPE_SHARED : TYPE_BOX), NULL);
        (*slot)->is_boxed = true;
    }
}

/* Trait::method(x, …) is x.method(…); Trait::new() is that of the type that is wanted. */
static bool call_of_trait(checker *c, expr **slot, const char *scope, const char *name, const type *expected) {
    expr *e = *slot;
    const trait_item *trait = names_trait(c->names, scope);
    bool found = library_says(LIBRARY_method_trait, scope);
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (library_said_of(LIBRARY_trait_form, scope) == SAID_FROM && is_from(name) && e->call.arg_count == 1) {
        found = true; /* what is wanted has it */
        name = "into";
    }
    const char *shown = trait == NULL && e->call.arg_count == 2 ? check_shown_by(scope) : NULL;
    found |= shown != NULL; /* fmt::Display::fmt(&self.0, f) */
    name = shown != NULL ? shown : name;
    struct_item *owner = wish != NULL && wish->kind == TYPE_STRUCT ? wish->structure : NULL;
    const function_item *own = owner == NULL ? NULL : check_method_named(c, owner, name);
    e->call.trait = trait;
    if (trait != NULL && own != NULL && !own->has_self) { /* Trait::new() */
        *slot = build_call(c, e->span, owner->name, name, e->call.args, e->call.arg_count);
        (*slot)->call.trait = trait;
        check_expr(c, slot, expected);
        return true;
    }
    for (uint32_t i = 0; trait != NULL && i < trait->method_count; i++)
        found |= trait->methods[i]->has_self && strcmp(trait->methods[i]->name, name) == 0;
    if (!found || e->call.arg_count == 0)
        return false;
    check_first_as_receiver(c, slot, name, expected);
    return true;
}

/* Vec::len(&v), Vec::clone(&v) */
static bool call_of_list(checker *c, expr **slot, const struct_item *owner, const type *expected) {
    const char *name = (*slot)->call.callee->name.name;
    const bool has = check_is_list_method(name) || library_said_of(LIBRARY_hands_on, name) == SAID_CLONE;
    if (!has || owner == NULL || owner != c->instances->builtin_owners[TYPE_VEC] || (*slot)->call.arg_count == 0)
        return false;
    check_first_as_receiver(c, slot, name, expected);
    return true;
}

static void call_scoped(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const name_expr *callee = &e->call.callee->name;
    check_alias_scope(c, &e->call.callee->name);
    const char *scope = callee->scope, *name = callee->name;
    check_views_of_type(c, e);
    if (callee->trait != NULL && callee->trait->kind == TYPE_EXPR_NAME)
        e->call.trait = names_trait(c->names, callee->trait->name);
    const bool capital = name[0] >= 'A' && name[0] <= 'Z';
    if (check_runtime_call(c, e, expected) ||
        (capital && calls_constant(c, slot, check_find(c, check_printf(c, "%s::%s", scope, name)))))
        return;
    const char *full = names_of_library(c->names, scope, name);
    if (full != NULL) {
        e->call.callee->name.name = full;
        e->call.callee->name.scope = NULL;
        check_call(c, slot, expected);
        return;
    }
    const type *argument = callee->of != NULL ? check_type(c, callee->of) : check_type_argument(c, scope);
    if (argument != NULL && check_array_from(c, slot, type_resolve(c->types, argument), expected))
        return;
    struct_item *owner = argument != NULL ? check_owner_of(c, type_resolve(c->types, argument))
                                          : check_struct_named(c, scope);
    if (owner == NULL && argument == NULL &&
        strstr(scope, "::") == NULL) /* Rc::new(x), where who holds it is counted */
        owner = check_struct_named(c, check_printf(c, "__%s", scope));
    if (argument != NULL && !type_is(argument, TYPE_STRUCT))
        scope = scope_of_type(c, e, argument)->scope;
    if (strncmp(scope, "std::", 5) == 0 && capital) {
        e->call.callee->name.scope = NULL; /* std::cmp::Reverse(x) */
        call_plain(c, slot, name, expected);
        return;
    }
    if (check_variant_call(c, e, expected) || check_default_call(c, slot, scope, name, expected) ||
        (owner == NULL && check_std_call(c, slot, scope, name, expected)))
        return;
    if (owner != NULL && owner->type != NULL && owner->type->kind != TYPE_STRUCT &&
        check_method_named(c, owner, name) == NULL)
        owner = NULL;
    if (owner != NULL) {
        if (!check_method_by_path(c, slot, owner, expected))
            call_of_struct(c, e, scope, owner, expected);
        return;
    }
    const library_said form = library_said_of(LIBRARY_form, name);
    bool makes = form == SAID_NEW || form == SAID_FROM || library_said_of(LIBRARY_hands_on, name) == SAID_CLONE;
    if (makes && library_says(LIBRARY_pointer, scope) && e->call.arg_count == 1) {
        make_box(c, slot, expected);
        return;
    }
    if (strcmp(scope, "Vec") == 0 && is_from(name) && e->call.arg_count == 1) {
        *slot = e->call.args[0];
        (*slot)->is_vec |= (*slot)->kind == EXPR_ARRAY;
        check_expr(c, slot, expected);
        return;
    }
    owner = check_builtin_owner(c, scope);
    if (call_of_own_from(c, e, owner, expected))
        return;
    bool grad = strcmp(scope, "GradTensor") == 0;
    if (check_abi_call(c, slot, grad ? "Tensor" : scope, name, grad, expected) ||
        check_builtin_scope(c, slot, expected))
        return;
    bool converts = is_from(name); /* what is left is the language's own */
    if (owner != NULL && !(converts && check_scalar_scope(scope)) && call_of_builtin(c, e, owner, expected)) {
        if (grad && e->type->kind == TYPE_TENSOR) /* from_vec: made, then made to track */
            *slot = check_new_abi(c, TL_FN_tl_tensor_enable_grad, e->span, &e, 1);
        return;
    }
    bool tensor = grad || strcmp(scope, "Tensor") == 0;
    const char *last = strrchr(scope, ':');
    if (tensor && check_tensor_static(c, slot, grad, expected))
        return;
    if (check_scalar_call(c, slot, last == NULL ? scope : last + 1, name, expected))
        return;
    if (call_of_list(c, slot, owner, expected) ||
        call_of_trait(c, slot, last == NULL ? scope : last + 1, name, expected))
        return;
    check_list(c, e->call.args, e->call.arg_count);
    check_make_error(c, e);
    if (check_report_variant(c, e->call.callee))
        return;
    if (grad || check_abi_scope(scope) || check_scalar_scope(scope) || strcmp(scope, "Vec") == 0 ||
        strcmp(scope, "String") == 0)
        unknown_static(c, e, scope, name, NULL);
    else
        unknown_scope(c, callee->scope_span, scope, name);
}

/* (|x| …)(a): a closure writes to what it captures by way of its variable. */
static void call_of_literal(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, *called = e->call.callee;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    const bool says = wish != NULL &&
                      (wish->kind == TYPE_STRING || wish->kind == TYPE_VEC || wish->kind == TYPE_STRUCT);
    called->closure.wish = says ? wish : NULL;
    e->call.callee = check_new_name(c, called->span, "<called>");
    *slot = BUILD_QUOTE(c, e->span, "{ let mut $$called = $0; $1 }", called, e);
    (*slot)->is_kept = e->is_kept;
    check_expr(c, slot, expected);
}

static bool is_process_exit(const name_expr *callee) {
    const char *scope = callee->scope != NULL && strncmp(callee->scope, "std::", 5) == 0 ? callee->scope + 5
                                                                                         : callee->scope;
    return library_says(LIBRARY_of_process, scope) && library_said_of(LIBRARY_form, callee->name) == SAID_EXIT;
}

/* f<T>(…) -> Tensor<T>: T is the tensor's, whichever side of the name it is written on. */
static bool yields_elements_of(const function_item *f) {
    const type_expr *result = f->result_annotation;
    const type_expr *element = result != NULL && result->kind == TYPE_EXPR_NAME && result->argument_count > 0
                                   ? result->arguments[0]
                                   : NULL;
    return element != NULL && strcmp(result->name, "Tensor") == 0 && element->kind == TYPE_EXPR_NAME &&
           strcmp(element->name, f->generics.items[0].name) == 0;
}

/* Tensor::<i32, 1>::zeros([3]): what the path says is what is wanted. */
static bool call_of_tensor_type(checker *c, expr **slot) {
    expr *e = *slot;
    name_expr *callee = &e->call.callee->name;
    bool grad = callee->scope != NULL && strcmp(callee->scope, "GradTensor") == 0;
    if (callee->argument_count == 0 || callee->scope == NULL || (!grad && strcmp(callee->scope, "Tensor") != 0))
        return false;
    const struct_item *owner = check_builtin_owner(c, callee->scope);
    const function_item *f = owner == NULL ? NULL : check_find_method(c, owner, callee->name);
    if (f != NULL && f->generics.count > 0 && !yields_elements_of(f))
        return false; /* Tensor::f::<T>(…) */
    type_expr written = {.span = callee->scope_span,
                         .kind = TYPE_EXPR_NAME,
                         .name = callee->scope,
                         .arguments = callee->arguments,
                         .argument_count = callee->argument_count};
    const type *t = type_resolve(c->types, check_type(c, &written));
    callee->argument_count = 0;
    check_call(c, slot, t);
    const type *found = type_resolve(c->types, (*slot)->type);
    if (found->kind == TYPE_TENSOR && t->kind == TYPE_TENSOR) {
        check_coerce(c, slot, t, NULL);
        found = type_resolve(c->types, (*slot)->type);
        bool unsaid = found->tensor.element == NULL && t->tensor.element != NULL;
        (*slot)->type = found;
        if (unsaid && check_cast_tensor(c, slot, *slot, t))
            return true;
        (*slot)->type = found->tensor.rank < 0 ? t : found;
    }
    return true;
}

void check_call(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, *callee = e->call.callee;
    if (callee->kind == EXPR_NAME)
        names_settle(c->names, &callee->name);
    if (callee->kind == EXPR_NAME && call_of_tensor_type(c, slot))
        return;
    if (callee->kind == EXPR_NAME && is_process_exit(&callee->name)) {
        callee->name.scope = NULL;
        check_builtin_function(c, slot, callee->name.name);
        return;
    }
    if (callee->kind == EXPR_CLOSURE && callee->type == NULL)
        call_of_literal(c, slot, expected);
    else if (callee->kind != EXPR_NAME)
        check_closure_call(c, slot);
    else if (callee->name.scope != NULL)
        call_scoped(c, slot, expected);
    else
        call_plain(c, slot, callee->name.name, expected);
}
