/* words_recurrent.c: LSTM, GRU and RNN: which way they go, and which of their inputs are there. */
#include <string.h>
#include <strings.h>

#include "models/import/import.h"

/* Whether the functions of the gates are those that an operator has where none are said. */
static bool usual_functions(import_node *n) {
    static const char *const usual[3][4] = {
        {"LSTM", "Sigmoid", "Tanh", "Tanh"}, {"GRU", "Sigmoid", "Tanh", NULL}, {"RNN", "Tanh", NULL, NULL}};
    const Masu__Onnx__Attribute *a = import_attribute(n, "activations");
    for (size_t k = 0; a && k < 3; k++) {
        size_t each = k == 0 ? 3 : 3 - k;
        for (size_t i = 0; onnx_is(&n->v, usual[k][0]) && i < a->n_strings; i++) {
            const char *name = usual[k][1 + i % each];
            if (a->strings[i].len != strlen(name) ||
                strncasecmp((const char *)a->strings[i].data, name, strlen(name)) != 0)
                return import_refuse(n, "activations other than the operator's own are not supported");
        }
    }
    return true;
}

/* LSTM, GRU, RNN: two directions or one, with the standard's own functions, all rows of the same
 * length. `clip` and the rest are looked at by nothing, and so refused. */
bool import_recurrent(import_node *n) {
    static const char *const directions[] = {"forward", "reverse", "bidirectional", NULL};
    size_t which;
    (void)import_attribute(n, "hidden_size"); /* the weights say it */
    if (!usual_functions(n) || !import_choice(n, "direction", directions, &which))
        return false;
    if (onnx_in(&n->v, 4))
        return import_refuse(n, "sequence_lens is not supported");
    if (import_int(n, "layout", 0) != 0 || import_int(n, "input_forget", 0) != 0)
        return import_refuse(n, "layout = 1 and input_forget = 1 are not supported");
    static const char *const words[] = {"bias", "state", "cell"};
    static const size_t places[] = {3, 5, 6};
    for (size_t i = 0; i < 3; i++) {
        const masu__model_tensor *t = onnx_in(&n->v, places[i]);
        if (!t || (i == 2 && !onnx_is(&n->v, "LSTM"))) {
            if (!import_word(n, words[i], "None"))
                return false;
            continue;
        }
        n->inputs_read |= UINT64_C(1) << places[i], n->uses |= UINT64_C(1) << places[i];
        if (!import_word(n, words[i], "Some(%s%s)", t->constant ? "self." : "",
                         n->im->names[n->v.op->inputs[places[i]]]))
            return false;
    }
    return import_word(n, "reverse", which == 1 ? "true" : "false");
}
