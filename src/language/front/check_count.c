/* check_count.c: how many arguments a call has, and how many it is to have. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

bool check_count(checker *c, const expr *call, const char *name, uint32_t wanted, source_span declared) {
    uint32_t given = call->call.arg_count;
    if (given == wanted)
        return true;
    diagnostic *d = diagnostics_say(c->diagnostics, call->call.name_span, SAY(takes_other_number_of_arguments), name,
                                    wanted, wanted == 1 ? "argument" : "arguments", given);
    if (declared.file != NULL)
        diagnostics_note(c->diagnostics, d, declared, "it is declared here");
    return false;
}

const char *check_parameters_text(checker *c, const function_item *f) {
    masu__buffer out = {0};
    for (uint32_t i = f->has_self; i < f->parameter_count; i++) {
        const binding *p = f->parameters[i];
        masu__buffer_printf(&out, "%s%s", i > (uint32_t)f->has_self ? ", " : "", p->name);
        if (p->otherwise != NULL && p->otherwise->kind == EXPR_INT)
            masu__buffer_printf(&out, " = %lld", (long long)p->otherwise->integer.value);
        else if (p->otherwise != NULL)
            masu__buffer_puts(&out, " = …");
    }
    const char *text = check_printf(c, "%s", masu__buffer_text(&out));
    masu__buffer_destroy(&out);
    return text;
}

bool check_count_of(checker *c, const expr *call, const function_item *f) {
    if (f->span.file != c->tree->prelude)
        return check_count(c, call, f->qualified, f->parameter_count - f->has_self, f->span);
    if (f->refusal != NULL) {
        diagnostic *d = diagnostics_say(c->diagnostics, call->call.name_span, SAY(is_not_called_like_this),
                                        f->qualified);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "%s", f->refusal);
        return false;
    }
    uint32_t given = call->call.arg_count, wanted = f->parameter_count - f->has_self;
    if (given == wanted)
        return true;
    uint32_t least = UINT32_MAX, most = 0;
    const function_item *longest = f;
    for (const function_item *o = f->owner == NULL ? f : check_find_method(c, f->owner, f->name); o != NULL;
         o = f->owner == NULL ? NULL : o->next_in_bucket) {
        if (o->owner != f->owner || strcmp(o->name, f->name) != 0 || o->refusal != NULL)
            continue;
        uint32_t all = o->parameter_count - o->has_self, needed = 0;
        for (uint32_t i = o->has_self; i < o->parameter_count; i++)
            needed += o->parameters[i]->otherwise == NULL;
        least = needed < least ? needed : least;
        longest = all > most ? o : longest;
        most = all > most ? all : most;
    }
    diagnostic *d = least >= most
                        ? diagnostics_say(c->diagnostics, call->call.name_span, SAY(takes_other_number_of_arguments),
                                          f->name, wanted, wanted == 1 ? "argument" : "arguments", given)
                        : diagnostics_say(c->diagnostics, call->call.name_span, SAY(takes_to_arguments_given), f->name,
                                          least, most, given);
    diagnostics_note(c->diagnostics, d, (source_span){0}, "they are `%s(%s)`", f->name,
                     check_parameters_text(c, longest));
    return false;
}

bool check_is_other_form(const checker *c, const function_item *f, uint32_t given) {
    uint32_t least = 0;
    for (uint32_t i = 0; f != NULL && i < f->parameter_count; i++)
        least += f->parameters[i]->otherwise == NULL;
    return f != NULL && f->span.file == c->tree->prelude && (given < least || given > f->parameter_count);
}

abi_arity check_abi_arity(tl_abi_index function, bool method) {
    abi_arity a = {0, 0};
    const tl_abi_parameter *p = tl_abi_functions[function].parameters;
    for (p += method; p->name != NULL; p++) {
        a.least += !p->optional;
        a.most = p->mode == TL_LIST ? UINT32_MAX : a.most == UINT32_MAX ? a.most : a.most + 1;
    }
    return a;
}

/* "(dim, keep)" of what the function takes. */
static void note_parameters(checker *c, diagnostic *d, const char *name, tl_abi_index function, bool method) {
    masu__buffer out = {0};
    const tl_abi_parameter *first = tl_abi_functions[function].parameters + method;
    for (const tl_abi_parameter *p = first; p->name != NULL; p++)
        masu__buffer_printf(&out, "%s%s%s", p == first ? "" : ", ", p->name, p->optional ? " = …" : "");
    diagnostics_note(c->diagnostics, d, (source_span){0}, "they are `%s(%s)`", name, masu__buffer_text(&out));
    masu__buffer_destroy(&out);
}

void check_report_arity(checker *c, const expr *call, const char *name, abi_arity all, tl_abi_index longest,
                        bool method) {
    uint32_t given = call->call.arg_count;
    diagnostic *d;
    if (all.most == UINT32_MAX) {
        d = diagnostics_say(c->diagnostics, call->call.name_span, SAY(takes_at_least_arguments_given), name, all.least,
                            all.least == 1 ? "argument" : "arguments", given);
    } else if (all.least == all.most) {
        d = diagnostics_say(c->diagnostics, call->call.name_span, SAY(takes_other_number_of_arguments), name, all.least,
                            all.least == 1 ? "argument" : "arguments", given);
    } else {
        d = diagnostics_say(c->diagnostics, call->call.name_span, SAY(takes_to_arguments_given), name, all.least,
                            all.most, given);
    }
    if (all.most > 0)
        note_parameters(c, d, name, longest, method);
}
