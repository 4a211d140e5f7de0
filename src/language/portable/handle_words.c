/* handle_words.c: the words of a struct of the program as they are in C and in a file of weights.
 *
 *     a: Linear { weight, bias: Option<Tensor> }    words       self.a.weight  self.a.bias.<tag>  self.a.bias.0
 *                                                   in C, file       a.weight                          a.bias
 *
 * Which variant an enum holds is part of the shape where it is known: the call that makes the struct says it, it is no
 * field of C, and no call changes it. So are its whole numbers and bools, which shapes and branches may follow from
 * (the stride of a convolution), with two differences: the file of weights, where it has the number, says it; and where
 * two calls disagree the number is a field of C, which may be any. Real numbers are fields.
 */
#include "language/portable/portable.h"

#include <string.h>

#include "language/language.h"

static const char tag[] = ".<tag>";

static bool is_tag(const char *name) {
    size_t length = name ? strlen(name) : 0;
    return length >= sizeof tag && strcmp(name + length - (sizeof tag - 1), tag) == 0;
}

bool handle_word_is_chosen(const fact_list *list, uint32_t word) {
    return list->words[word].kind == FACT_NUMBER;
}

static bool may_be_chosen(const portable *p, const leaf *leaf, uint32_t type, uint32_t word) {
    bool *varies = p->handles[type].varies;
    return is_tag(leaf->name) || (!ir_type_float(leaf->type) && !(varies && varies[word]));
}

/* The file of --weights for the struct that this call makes; NULL: there is none. */
static const masu_weights *weights_of(const portable *p, uint32_t type, const stated_call *call) {
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < p->options->weights_count; k++) {
            const char *name = round == 0 ? call->name : p->shown->handle_types[type].name;
            bool first = round == 0 || !p->handles[type].list;
            if (name && first && strcmp(p->options->weights[k].name, name) == 0)
                return &p->options->weights[k];
        }
    return NULL;
}

static bool has_leaf(const fact_list *list, const char *whole, size_t length, const char *then, bool to_the_end) {
    size_t more = strlen(then);
    for (uint32_t k = 0; k < list->width; k++) {
        const char *name = list->leaves[k].name;
        if (name && strncmp(name, whole, length) == 0 && strncmp(name + length, then, more) == 0 &&
            (!to_the_end || !name[length + more]))
            return true;
    }
    return false;
}

/* Without the places of what lies alone in a variant. */
static const char *name_in_file(portable *p, const fact_list *list, const char *name) {
    char *made = name ? masu__arena_printf(&p->arena, "%s", name) : NULL;
    p->out_of_memory |= name && !made;
    size_t kept = 0;
    for (size_t at = 0; made && name[at];) {
        bool alone = strncmp(name + at, ".0", 2) == 0 && (name[at + 2] == '.' || !name[at + 2]) &&
                     has_leaf(list, name, at, tag, true) && !has_leaf(list, name, at, ".1", false);
        at += alone ? 2 : 0;
        if (!alone)
            made[kept++] = name[at++];
    }
    if (made)
        made[kept] = '\0';
    return made;
}

fact handle_words(portable *p, const fact_list *given, uint32_t type, const stated_call *call) {
    const masu_weights *weights = weights_of(p, type, call);
    fact *words = MASU_ARENA_ARRAY(&p->arena, fact, given->width + 1);
    leaf *leaves = MASU_ARENA_ARRAY(&p->arena, leaf, given->width + 1);
    fact_list *list = MASU_ARENA_NEW(&p->arena, fact_list);
    if (!words || !leaves || !list) {
        p->out_of_memory = true;
        return fact_of(FACT_ANY);
    }
    for (uint32_t k = 0; k < given->width; k++) {
        bool any = given->words[k].kind == FACT_NUMBER && !may_be_chosen(p, &given->leaves[k], type, k);
        words[k] = any ? fact_of(FACT_ANY) : given->words[k];
        words[k].list = words[k].kind == FACT_TENSOR ? NULL : words[k].list; /* elements are the caller's */
        leaves[k] = (leaf){name_in_file(p, given, given->leaves[k].name), given->leaves[k].type};
        for (uint32_t before = 0; before < k && leaves[k].name; before++)
            if (leaves[before].name && strcmp(leaves[before].name, leaves[k].name) == 0)
                leaves[k].name = masu__arena_printf(&p->arena, "%s.%u", leaves[k].name, k); /* of another variant */
    }
    *list = (fact_list){given->count, given->width, words, leaves};
    for (uint32_t k = 0; k < list->width && weights; k++)
        if (words[k].kind == FACT_NUMBER && !is_tag(given->leaves[k].name))
            portable_weight_number(p, weights, list, k, &words[k]);
    return (fact){.kind = FACT_LIST, .list = list};
}

bool handle_keeps(portable *p, uint32_t type, const fact_list *now) {
    handle_shape *known = &p->handles[type];
    bool kept = true;
    for (uint32_t k = 0; known->list && now->width == known->list->width && k < now->width; k++) {
        const fact *word = &known->list->words[k];
        if (word->kind != FACT_NUMBER || is_tag(known->list->leaves[k].name) || fact_same(word, &now->words[k]))
            continue;
        known->varies = known->varies ? known->varies : MASU_ARENA_ARRAY(&p->arena, bool, now->width);
        p->out_of_memory |= !known->varies;
        if (known->varies)
            known->varies[k] = true;
        kept = false;
    }
    p->again |= !kept;
    return kept;
}

/* The words of the handle that goes out there, as a result or as a parameter that is written; NULL: not a handle. */
static const fact_list *handle_of(const portable *p, int64_t index) {
    const masu_function *f = p->now->shown;
    int64_t written = f->result_count;
    if (index < written)
        return f->results[index].kind == MASU_KIND_HANDLE ? p->handles[f->results[index].handle_type].list : NULL;
    for (uint32_t k = 0; k < f->parameter_count; k++)
        if (f->parameters[k].is_written && written++ == index)
            return f->parameters[k].kind == MASU_KIND_HANDLE ? p->handles[f->parameters[k].handle_type].list : NULL;
    return NULL;
}

bool handle_gives(portable *p, const frame *fr, const ir_instr *i, int64_t index, uint32_t word) {
    const fact *given = &fr->facts[i->args[1]];
    const fact_list *list = handle_of(p, index);
    if (!list || word >= list->width || !handle_word_is_chosen(list, word))
        return true;
    if (given->kind != FACT_LIST || !fact_same(&given->list->words[word], &list->words[word]))
        portable_refuse(p, fr, i->span, "which variant an enum of a struct holds is chosen when the C is written");
    return false;
}

void handle_note_changes(portable *p, flat *out) {
    for (uint32_t b = 0; b < out->f->block_count; b++)
        for (const ir_instr *i = out->f->blocks[b]->first; i; i = i->next) {
            uint32_t index = (uint32_t)(i->imm.i >> 8), word = (uint32_t)(i->imm.i & 255);
            uint32_t written = out->shown->result_count;
            bool gives = i->op == IR_ABI && i->abi == TL_FN_tl_give_tensor;
            for (uint32_t k = 0; gives && k < out->shown->parameter_count; k++)
                if (out->shown->parameters[k].is_written && written++ == index)
                    out->changes[k] |= out->parameters[k][word] != i->args[0];
        }
    for (uint32_t k = 0; k < out->shown->parameter_count; k++)
        if (out->changes[k] && out->shown->parameters[k].kind == MASU_KIND_HANDLE)
            p->handles[out->shown->parameters[k].handle_type].is_written = true;
}
