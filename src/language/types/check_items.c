/* check_items.c: what a program declares: structs, traits, functions, methods, constants by their names, and
 * what a function's parameters and result are.
 *
 * A name that is declared twice keeps its first meaning. A method of the prelude may have several forms; a
 * program's own comes before them.
 */
#include <stdio.h>
#include <string.h>

#include "language/library/library.h"
#include "language/syntax/lexer.h"
#include "language/types/check_context.h"
#include "language/types/check_declare.h"
#include "language/types/check_destructor.h"
#include "language/types/check_instances.h"
#include "language/types/check_pieces.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_writes.h"
#include "language/types/check_written.h"

/* ---- items ----------------------------------------------------------------------------------- */

static bool reserved_type(const char *name) {
    static const char *const names[] = {"Tensor", "GradTensor", "Vec", "Self", "str"};
    const library_said form = library_said_of(LIBRARY_type_form, name);
    if (form == SAID_OPTION || form == SAID_RESULT)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return scalar_type_of_name(name, strlen(name)) != TYPE_ERROR;
}

/* An Option or Result of the program with the language's own variants is the language's. */
static bool is_same_enum(const checker *c, const struct_item *s) {
    const library_said form = library_said_of(LIBRARY_type_form, s->name);
    const struct_item *own = NULL;
    for (uint32_t i = 0; own == NULL && c->tree->prelude != NULL && i < c->tree->struct_count; i++) {
        const struct_item *other = c->tree->structs[i];
        own = other->span.file == c->tree->prelude && strcmp(other->name, s->name) == 0 ? other : NULL;
    }
    bool same = (form == SAID_OPTION || form == SAID_RESULT) && own != NULL && s->is_enum &&
                s->variant_count == own->variant_count && s->generics.count == own->generics.count;
    for (uint32_t i = 0; same && i < own->variant_count; i++) {
        const int64_t at = check_find_variant(s, own->variants[i].name);
        same = at >= 0 && s->variants[at].count == own->variants[i].count;
    }
    return same;
}

static void declare_structs(checker *c) {
    for (uint32_t i = 0; i < c->tree->struct_count; i++) {
        struct_item *s = c->tree->structs[i];
        symbol *known = check_symbol(c, s->name);
        s->type = type_struct(c->types, s);
        if (s->span.file != c->tree->prelude && is_same_enum(c, s))
            continue;
        if (s->span.file != c->tree->prelude && reserved_type(s->name)) {
            diagnostics_say(c->diagnostics, s->span, SAY(is_type_of_language), s->name);
        } else if (known->structure != NULL && known->structure->span.file != c->tree->prelude) {
            check_report_twice(c, s->span, s->name, known->structure->span);
        } else {
            known->structure = s;
            if (s->span.file == c->tree->prelude && s->generics.count > 0)
                check_import_variants(c, s);
        }
    }
}

/* use m::f as g: g means what f does, as far as f is known by now. */
static void declare_renames(checker *c) {
    for (const rename_item *r = c->tree->renames; r != NULL; r = r->next) {
        const symbol *of = check_find(c, r->of);
        if (of == NULL || strcmp(r->name, "_") == 0)
            continue;
        symbol *s = check_symbol(c, r->name);
        s->structure = s->structure != NULL ? s->structure : of->structure;
        s->function = s->function != NULL ? s->function : of->function;
        s->constant = s->constant != NULL ? s->constant : of->constant;
        s->trait = s->trait != NULL ? s->trait : of->trait;
        if (s->variant_of == NULL) {
            s->variant_of = of->variant_of;
            s->variant = of->variant;
        }
    }
}

/* use E::* */
static void declare_imports(checker *c) {
    for (const import_name *i = c->tree->imports; i != NULL; i = i->next) {
        symbol *s = check_find(c, i->name);
        if (s != NULL && s->structure != NULL && s->structure->is_enum)
            check_import_variants(c, s->structure);
    }
}

static void declare_traits(checker *c) {
    for (uint32_t i = 0; i < c->tree->trait_count; i++) {
        trait_item *t = c->tree->traits[i];
        symbol *known = check_symbol(c, t->name);
        if (known->trait != NULL)
            check_report_twice(c, t->span, t->name, known->trait->span);
        else
            known->trait = t;
    }
}

/* `{:?}` and its like ask another trait than `{}`: their `fmt` goes by a name of its own. */
static void name_shown(function_item *f) {
    const char *name = f->impl == NULL || f->impl->trait_name == NULL ||
                               library_said_of(LIBRARY_form, f->name) != SAID_FMT
                           ? NULL
                           : check_shown_by(f->impl->trait_name);
    f->name = name != NULL ? name : f->name;
}

static bool is_text(const type_expr *t) {
    return t != NULL && t->kind == TYPE_EXPR_NAME && t->scope == NULL &&
           scalar_type_of_name(t->name, strlen(t->name)) == TYPE_STRING;
}

/* But for references: of &T of any T as of V, of &str as of String. */
static bool is_same_trait(const impl_item *g, const impl_item *f) {
    if (strcmp(f->owner->name, OWNER_ANY) == 0)
        return check_same_written(g->trait_type, f->trait_type);
    return !check_is_other_trait(g, f) || (is_text(check_trait_operand(g)) && is_text(check_trait_operand(f)));
}

/* Whether `impl Trait for T` is declared beside this `impl Trait for &T`. */
static void note_references(checker *c, const function_item *f) {
    for (uint32_t i = 0; f->far > 0 && !c->tree->has_reference_impls && i < c->tree->function_count; i++) {
        const function_item *g = c->tree->functions[i];
        c->tree->has_reference_impls = g->impl != NULL && g->impl->trait_name != NULL &&
                                       strcmp(g->name, f->name) == 0 &&
                                       strcmp(g->impl->trait_name, f->impl->trait_name) == 0 &&
                                       (strcmp(g->owner_name, f->owner_name) == 0 ||
                                        strcmp(f->owner_name, OWNER_ANY) == 0 ||
                                        (is_text(g->impl->owner) && is_text(f->impl->owner))) &&
                                       is_same_trait(g->impl, f->impl) && check_distance_of_impl(g) < f->far;
    }
}

/* The method of that name that f would be declared beside; those of other traits do not hinder it. */
static const function_item *known_method(checker *c, const function_item *f) {
    c->tree->has_shared_methods |= f->owner->is_builtin && check_own_trait(c, f) != NULL;
    for (const function_item *o = check_find_method(c, f->owner, f->name); o != NULL; o = o->next_in_bucket) {
        if (o->owner != f->owner || strcmp(o->name, f->name) != 0 || o->far != f->far)
            continue;
        if (check_is_same_source(c, o, f))
            return o;
        c->tree->has_shared_methods = true;
    }
    return NULL;
}

/* impl Trait for str beside impl Trait for String: one type here, so that both have to do the same. */
static void refuse_two_texts(checker *c, const function_item *f) {
    const type_expr *owner = f->impl == NULL || f->impl->trait_name == NULL || f->body == NULL ? NULL : f->impl->owner;
    for (uint32_t i = 0; is_text(owner) && i < c->tree->function_count && c->tree->functions[i] != f; i++) {
        const function_item *g = c->tree->functions[i];
        if (g->body == NULL || g->impl == NULL || g->impl->trait_name == NULL || strcmp(g->name, f->name) != 0 ||
            strcmp(g->impl->trait_name, f->impl->trait_name) != 0 || !is_text(g->impl->owner) ||
            strcmp(g->impl->owner->name, owner->name) == 0 || !is_same_trait(g->impl, f->impl))
            continue;
        if (f->far != g->far && f->has_self && (f->parameters[0]->is_owner || g->parameters[0]->is_owner))
            continue; /* by value: `&str` is a reference */
        const source_span a = f->body->span, b = g->body->span;
        if (a.length == b.length && memcmp(a.file->text + a.offset, b.file->text + b.offset, a.length) == 0)
            continue;
        diagnostic *d = diagnostics_say(c->diagnostics, f->span, SAY(trait_has_an_impl_already), f->impl->trait_name,
                                        g->impl->owner->name);
        diagnostics_note(c->diagnostics, d, g->span,
                         "`str` and `String` are one type here: one impl is for both, and two have to do the same");
        return;
    }
}

/* An iterator has a `fn count(&self)`: of a reference to it that is meant, of a value `Iterator::count(self)`. */
static void note_iterator(checker *c, const function_item *f) {
    const bool lent = f->has_self && f->impl != NULL && f->impl->trait_name == NULL &&
                      f->span.file != c->tree->prelude && (f->parameters[0]->is_lent || f->parameters[0]->is_shared);
    for (uint32_t i = 0; lent && library_says(LIBRARY_stage, f->name) && i < c->tree->impl_count; i++)
        c->tree->has_reference_impls |= c->tree->impls[i]->trait_name != NULL &&
                                        strcmp(c->tree->impls[i]->owner->name, f->owner_name) == 0 &&
                                        library_said_of(LIBRARY_trait_form, c->tree->impls[i]->trait_name) ==
                                            SAID_ITERATE;
}

static void declare_method(checker *c, function_item *f) {
    name_shown(f);
    f->far = check_distance_of_impl(f);
    note_references(c, f);
    note_iterator(c, f);
    refuse_two_texts(c, f);
    symbol *owner = check_find(c, f->owner_name);
    struct_item *builtin = check_builtin_owner(c, f->owner_name);
    if (builtin == NULL && (owner == NULL || owner->structure == NULL)) {
        if (owner == NULL || !owner->refused) {
            diagnostic *d = diagnostics_say(c->diagnostics, f->owner_span, SAY(there_is_no_struct), f->owner_name);
            suggestion near = check_suggest(d, f->owner_name);
            names_suggest_types(c->names, &near);
            check_suggest_note(c, d, &near);
        }
        return;
    }
    f->owner = builtin != NULL ? builtin : owner->structure;
    f->is_template = check_is_template(c, f);
    const function_item *known = known_method(c, f);
    /* Those of the prelude are chosen by their arguments; a program's come before them. */
    bool overloads = known != NULL && known->span.file == c->tree->prelude;
    overloads |= known != NULL && check_is_other_trait(known->impl, f->impl);
    if (known != NULL && f->impl->owner->argument_count == 0 && !overloads)
        check_report_twice(c, f->span, f->qualified, known->span);
    else
        check_add_method(c, f);
}

static void declare_functions(checker *c) {
    names_reserve_methods(c->names, c->tree->function_count);
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        function_item *f = c->tree->functions[i];
        if (f->owner_name != NULL) {
            declare_method(c, f);
            continue;
        }
        symbol *known = check_symbol(c, f->name);
        f->is_template = check_is_template(c, f);
        bool own = f->span.file != c->tree->prelude;
        if (known->function != NULL && (known->function->span.file != c->tree->prelude) == own)
            check_report_twice(c, f->span, f->name, known->function->span);
        else if (known->function == NULL || own) /* a program's own name is its own */
            known->function = f;
    }
}

/* ---- traits ---------------------------------------------------------------------------------- */

static struct_item *impl_owner(checker *c, const impl_item *impl) {
    struct_item *builtin = check_builtin_owner(c, impl->owner->name);
    symbol *s = check_find(c, impl->owner->name);
    return builtin != NULL ? builtin : s == NULL ? NULL : s->structure;
}

function_item *check_method_of_trait(const checker *c, const char *trait, const char *name) {
    const symbol *s = check_find(c, trait);
    for (uint32_t i = 0; s != NULL && s->trait != NULL && i < s->trait->method_count; i++)
        if (strcmp(s->trait->methods[i]->name, name) == 0)
            return s->trait->methods[i];
    return NULL;
}

function_item *check_copy_of_trait(checker *c, impl_item *impl, struct_item *owner, const function_item *f) {
    function_item *made = check_copy_function(c, f);
    char *qualified = check_printf(c, "%s::%s", impl->owner->name, f->name);
    check_trait_arguments(c, impl, made);
    made->qualified = qualified;
    made->owner_name = impl->owner->name;
    made->owner_span = impl->owner->span;
    made->impl = impl;
    made->owner = owner;
    made->is_template = check_is_template(c, made);
    made->far = check_distance_of_impl(made);
    return made;
}

/* A method that the impl block leaves out: the trait's own. */
static void add_default(checker *c, impl_item *impl, struct_item *owner, const function_item *f) {
    function_item *made = check_copy_of_trait(c, impl, owner, f);
    if (!made->is_template)
        check_read_body(c, made);
    (void)known_method(c, made);
    made->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, made);
    check_add_method(c, made);
}

static void default_constants(checker *c, const impl_item *impl) {
    for (uint32_t i = 0; i < impl->trait->constant_count; i++) {
        const char *name = check_printf(c, "%s::%s", impl->owner->name, impl->trait->constants[i]->name);
        bool known = false;
        for (uint32_t k = 0; k < c->tree->constant_count && !known; k++)
            known = strcmp(c->tree->constants[k]->name, name) == 0;
        if (!known && impl->trait->constants[i]->value != NULL) {
            const_item *made = CHECK_ARRAY(c, const_item, 1);
            *made = *impl->trait->constants[i];
            made->name = name;
            made->impl = impl;
            made->value = check_copy_tree(c, made->value);
            CHECK_PUSH(c, c->tree->constants, c->tree->constant_count, c->tree->constant_capacity, made);
        }
    }
}

static bool trait_has(const trait_item *trait, const char *name) {
    for (uint32_t i = 0; i < trait->method_count; i++)
        if (strcmp(trait->methods[i]->name, name) == 0)
            return true;
    return false;
}

/* A function that the trait does not declare would never be called by it. */
static void refuse_others(checker *c, const impl_item *impl) {
    for (uint32_t i = 0; i < c->tree->function_count && impl->trait->span.file != c->tree->prelude; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->impl != impl || f->template != NULL || trait_has(impl->trait, f->name))
            continue;
        diagnostic *d = diagnostics_say(c->diagnostics, f->span, SAY(is_not_a_method_of_trait), f->name,
                                        names_trait_text(impl->trait));
        diagnostics_note(c->diagnostics, d, impl->trait->span,
                         "declare it there, or write it in an `impl %s` of its own", impl->owner->name);
    }
}

function_item *check_method_of_impl(const checker *c, const struct_item *owner, const impl_item *impl,
                                    const char *name) {
    function_item *f = check_find_method(c, owner, name);
    while (f != NULL && (f->impl != impl || strcmp(f->name, name) != 0))
        f = f->next_in_bucket;
    return f;
}

static void complete_impl(checker *c, impl_item *impl, struct_item *owner) {
    default_constants(c, impl);
    refuse_others(c, impl);
    for (uint32_t i = 0; i < impl->trait->method_count; i++) {
        const function_item *f = impl->trait->methods[i];
        const function_item *known = check_method_of_impl(c, owner, impl, f->name);
        if (known != NULL) {
            if (known->parameter_count != f->parameter_count || known->has_self != f->has_self) {
                diagnostic *d = diagnostics_say(c->diagnostics, known->span, SAY(is_declared_otherwise_in),
                                                known->qualified, names_trait_text(impl->trait));
                diagnostics_note(c->diagnostics, d, f->span, "it is declared here");
            }
        } else if (f->body != NULL || f->unread.length > 0) {
            add_default(c, impl, owner, f);
        } else {
            diagnostic *d = diagnostics_say(c->diagnostics, impl->owner->span, SAY(needs_method_to_be),
                                            impl->owner->name, f->name, names_trait_text(impl->trait));
            diagnostics_note(c->diagnostics, d, f->span, "it is declared here");
        }
    }
}

/* Traits of Rust's own library are their methods: what they are called does not matter. */
static bool is_known_trait(const char *name) {
    static const char names[] =
        " Add Sub Mul Div Rem Neg Not BitAnd BitOr BitXor Shl Shr AddAssign SubAssign MulAssign "
        "DivAssign RemAssign Index IndexMut Display Debug Clone Copy Default PartialEq Eq "
        "PartialOrd Ord Hash From Into TryFrom TryInto FromStr AsRef AsMut Iterator IntoIterator "
        "DoubleEndedIterator ExactSizeIterator FromIterator Extend Sum Product Drop Deref DerefMut "
        "Borrow ToString Error Write Read Fn FnMut FnOnce Send Sync Sized Any Hasher ";
    char bordered[40];
    int length = snprintf(bordered, sizeof bordered, " %s ", name);
    return length < (int)sizeof bordered && strstr(names, bordered) != NULL;
}

/* A trait that is declared nowhere is its methods, too, unless its name is nearly that of one that is. */
static void check_trait_name(checker *c, const impl_item *impl) {
    static const diagnostic somebody_reads = {0};
    if (impl->trait_name == NULL || is_known_trait(impl->trait_name))
        return;
    suggestion near = check_suggest(&somebody_reads, impl->trait_name);
    for (uint32_t i = 0; i < c->tree->trait_count; i++) {
        const trait_item *t = c->tree->traits[i];
        if (t->span.file != c->tree->prelude && strchr(t->name, MODULES_MARK) == NULL)
            suggest_add(&near, t->name);
    }
    if (near.best == NULL)
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, impl->trait_span, SAY(there_is_no_trait), impl->trait_name);
    check_suggest_note(c, d, &near);
}

static bool has_functions(const checker *c, const impl_item *impl) {
    for (uint32_t i = 0; i < c->tree->function_count; i++)
        if (c->tree->functions[i]->impl == impl)
            return true;
    return false;
}

/* `impl T for S {}` a second time. Where it has functions of its own, they are declared twice, but for those of an
 * array beside those of a list. */
static bool is_repeated(checker *c, const impl_item *impl) {
    const bool own = has_functions(c, impl);
    for (uint32_t i = 0; i < c->instances->implementation_count && impl->owner->span.file != c->tree->prelude; i++) {
        const implementation *made = &c->instances->implementations[i];
        if ((own && (made->impl->owner->length == NULL) == (impl->owner->length == NULL)) ||
            made->trait != impl->trait || made->impl->owner->span.file == c->tree->prelude ||
            !check_same_written(made->impl->owner, impl->owner) ||
            !check_same_written(made->impl->trait_type, impl->trait_type))
            continue;
        diagnostic *d = diagnostics_say(c->diagnostics, impl->trait_span, SAY(trait_has_an_impl_already),
                                        names_trait_text(impl->trait), impl->owner->name);
        diagnostics_note(c->diagnostics, d, made->impl->trait_span, "the first one is here");
        return true;
    }
    return false;
}

static void declare_impls(checker *c) {
    for (uint32_t i = 0; i < c->tree->impl_count; i++) {
        impl_item *impl = c->tree->impls[i];
        struct_item *owner = impl_owner(c, impl);
        trait_item *trait = impl->trait_name == NULL ? NULL : names_trait_written(c->names, impl->trait_type);
        if (owner == NULL || trait == NULL) {
            if (owner != NULL) {
                check_trait_name(c, impl);
                check_declare_drop(c, impl, owner);
            }
            continue;
        }
        impl->trait = trait;
        check_add_trait_defaults(c, impl);
        if (is_repeated(c, impl))
            continue;
        implementation made = {impl->trait, owner, impl};
        CHECK_PUSH(c, c->instances->implementations, c->instances->implementation_count,
                   c->instances->implementation_capacity, made);
        complete_impl(c, impl, owner);
    }
}

/* impl V2<f64> { const UNIT: … } */
static bool of_one_type(const const_item *item) {
    return item->impl != NULL && item->impl->generics.count == 0 && item->impl->owner->argument_count > 0;
}

static void declare_constants(checker *c, uint32_t first) {
    for (uint32_t i = first; i < c->tree->constant_count; i++) {
        const_item *item = c->tree->constants[i];
        symbol *known = check_symbol(c, item->name);
        item->type = check_scalar(c, TYPE_ERROR);
        item->other = known->constant != NULL && of_one_type(item) && of_one_type(known->constant) ? known->constant
                                                                                                   : NULL;
        if (known->constant != NULL && item->other == NULL)
            check_report_twice(c, item->span, item->name, known->constant->span);
        else
            known->constant = item;
    }
}

static void declare_refused(checker *c) {
    for (refused_name *r = c->tree->refused; r != NULL; r = r->next)
        check_symbol(c, r->name)->refused = true;
}

/* The cache of a decoder is one thing for all who hold it: what a function puts into it, its caller finds there. */
static bool is_handle(const checker *c, const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->span.file == c->tree->prelude &&
           library_said_of(LIBRARY_type_form, t->structure->name) == SAID_HANDLE;
}

void check_signature(checker *c, function_item *f) {
    function_item *outer = c->function;
    const type_environment *environment = c->environment;
    c->function = f;
    c->environment = f->template != NULL ? &f->environment : NULL;
    check_lends_references(c, f);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        binding *parameter = f->parameters[i];
        parameter->type = check_parameter_type(c, f, parameter);
        if (parameter->kind != BINDING_SELF)
            parameter->comes_back |= is_handle(c, parameter->type);
        if (parameter->type->kind == TYPE_VOID || parameter->type->may_have_open) {
            diagnostics_say(c->diagnostics, parameter->span, SAY(parameter_needs_type), parameter->name);
            parameter->type = check_scalar(c, TYPE_ERROR);
        }
    }
    f->result = f->result_annotation == NULL ? check_scalar(c, TYPE_VOID) : check_part_type(c, f->result_annotation);
    if (f->result->may_have_open) {
        diagnostics_say(c->diagnostics, f->result_annotation->span, SAY(result_type_is_written_out));
        f->result = check_scalar(c, TYPE_ERROR);
    }
    c->function = outer;
    c->environment = environment;
}

void check_declare_items(checker *c) {
    declare_refused(c);
    declare_traits(c);
    declare_structs(c);
    declare_imports(c);
    declare_renames(c);
    uint32_t written = c->tree->constant_count;
    declare_constants(c, 0); /* fields may be arrays of so many */
    declare_functions(c);
    check_struct_types(c); /* Peekable<Lexer> is one thing or another by the methods of Lexer */
    declare_impls(c);
    declare_constants(c, written);
    declare_renames(c);
}

/* ---- enums --------------------------------------------------------------------------------------- */

void check_enum_tags(checker *c, struct_item *s) {
    int64_t next = 0;
    for (uint32_t i = 0; i < s->variant_count; i++) {
        variant_item *v = &s->variants[i];
        if (v->tag_value != NULL && !c->instances->constant_integer(c, &v->tag_value, &next, "the number of a variant"))
            next = 0;
        v->tag = next;
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(s->variants[k].name, v->name) == 0) {
                diagnostic *d = diagnostics_say(c->diagnostics, v->span, SAY(variant_is_declared_twice), v->name);
                diagnostics_note(c->diagnostics, d, s->variants[k].span, "the first one is here");
                break;
            }
            if (s->variants[k].tag == v->tag) {
                diagnostics_say(c->diagnostics, v->span, SAY(variants_and_have_same_number), s->variants[k].name,
                                v->name, (long long)v->tag);
                break;
            }
        }
        next = (int64_t)((uint64_t)next + 1);
    }
}
