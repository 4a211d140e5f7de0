/* hints.c: see hints.h. */
#include "language/front/hints.h"

#include <string.h>

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct word_hint {
    const char *words, *hint; /* words: each between blanks */
} word_hint;

static const word_hint known_words[] = {
    {" var int float double auto string ",
     "a variable is declared with `let`, or `let mut` when it changes"},
    {" def func function ", "a function is written `fn name(a: i64) -> i64 { … }`"},
    {" class interface ", "a type is a `struct`; its methods stand in an `impl` block"},
    {" import from include using require ", "`mod name;` reads the file name.tl"},
    {" True ", "did you mean `true`?"},
    {" False ", "did you mean `false`?"},
    {" null nil nullptr undefined ",
     "`None`, of an `Option`, stands for a value that is not there"},
    {" not ", "`!` negates: `!a`"},
    {" and ", "`&&` joins conditions: `a && b`"},
    {" or ", "`||` joins conditions: `a || b`"},
    {" elif elseif elsif ", "a second condition is written `else if`"},
    {" switch case ", "`match` chooses among values: `match x { 1 => …, _ => … }`"},
    {" try catch except throw raise ", "errors are values: `Result`, handed on with `?`"},
    {" lambda ", "a closure is written `|x| x + 1`"},
    {" del delete free ", "values are freed at their last use"},
    {" new ", "a struct is made with `P { x: a }` or `P::new(a)`"},
    {" pass ", "an empty block is written `{ }`"},
    {" do repeat until foreach ", "loops are `for i in 0..n`, `while condition` and `loop`"},
    {" Tensor ", "`Tensor::from_vec(v, shape)` makes one of a `Vec`; `[1.0, 2.0]` is one"},
    {" print println printf echo puts console cout ", "`println(\"{}\", x)` prints"},
    {" torch np numpy tf nn F ",
     "the operations are methods of tensors and functions of `Tensor`: docs/operations.md"},
    {" math ", "functions of numbers are methods: `x.sqrt()`"},
    {" then ", "branches stand in braces: `if a { b } else { c }`"},
    {" with ", "`x.detach(false)` is a value without history; a block needs no `with`"},
    {" rand random ", "random numbers are tensors: `Tensor::rand([n])`, `Tensor::randn([n])`"},
    {" time Instant ", "`System::time()` is the time in seconds"},
    {" integer long size_t ", "the usual integer is `i64`"},
    {" real number ", "numbers with a fraction are `f32` and `f64`"},
    {" list List array Array ", "`Vec<T>` grows, `[T; N]` does not, `Tensor` calculates"},
    {" boolean ", "did you mean `bool`?"},
};

static const char *hint_among(const word_hint *known, size_t count, const char *word,
                              size_t length) {
    char bordered[24];
    if (length + 3 > sizeof bordered) {
        return NULL;
    }
    bordered[0] = ' ';
    memcpy(bordered + 1, word, length);
    memcpy(bordered + 1 + length, " ", 2);
    for (size_t i = 0; i < count; i++) {
        if (strstr(known[i].words, bordered) != NULL) {
            return known[i].hint;
        }
    }
    return NULL;
}

const char *hint_for_word(const char *word, size_t length) {
    return hint_among(known_words, sizeof known_words / sizeof known_words[0], word, length);
}

/* Methods as other languages and libraries call them. */
static const word_hint known_methods[] = {
    {" length lenght size count ", "did you mean `len`?"},
    {" has_key containsKey contains ", "did you mean `contains_key`?"},
    {" append add push_back ", "did you mean `push`?"},
    {" upper toUpperCase ", "did you mean `to_uppercase`?"},
    {" lower toLowerCase ", "did you mean `to_lowercase`?"},
    {" strip ", "did you mean `trim`?"},
    {" startswith startsWith ", "did you mean `starts_with`?"},
    {" endswith endsWith ", "did you mean `ends_with`?"},
    {" substr slice_str ", "did you mean `substring`?"},
    {" to_str toString str ", "`format(\"{}\", x)` makes a text of a value"},
    {" mm bmm mv ", "the matrix product is `a.matmul(b)`"},
    {" concat concatenate ", "did you mean `cat`?"},
    {" device ", "tensors live where the program runs: nothing moves them"},
    {" numpy tolist ", "did you mean `to_vec`?"},
    {" zero_ zero_grad ", "a gradient that was read is cleared at the end of the loop's iteration"},
    {" requires_grad_ requires_grad ", "`x.detach(true)` tracks gradients from here on"},
    {" step ", "a step is written out: `w = (w - w.grad() * 0.1).detach(true)`"},
};

const char *hint_for_method(const char *name) {
    return hint_among(known_methods, sizeof known_methods / sizeof known_methods[0], name,
                      strlen(name));
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static token_kind back(const parser *p, uint32_t count) {
    return p->at >= count ? p->list.tokens[p->at - count].kind : TOKEN_END;
}

static const char *word_at(const parser *p, uint32_t at) {
    const token *t = &p->list.tokens[at];
    return t->kind == TOKEN_NAME ? hint_for_word(p->file->text + t->offset, t->length) : NULL;
}

const char *hint_for_item_word(parser *p) {
    static const char *const words[] = {"fn",    "struct", "enum", "impl",
                                        "trait", "const",  "func", "function"};
    static const diagnostic somebody_reads = {0};
    const token *t = parser_token(p);
    if (t->kind != TOKEN_NAME || t[1].kind != TOKEN_NAME) {
        return NULL;
    }
    suggestion near = check_suggest(&somebody_reads, parser_text(p, t));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        check_suggest_add(&near, words[i]);
    }
    return near.best != NULL && near.best[0] == 'f' ? words[0] : near.best;
}

/* a++; and a--; as other languages have them */
static bool steps(const parser *p) {
    token_kind now = parser_kind(p), before = back(p, 1);
    return (now == TOKEN_PLUS && parser_ahead(p, 1) == TOKEN_PLUS) ||
           (now == TOKEN_PLUS && before == TOKEN_PLUS) ||
           (now == TOKEN_SEMICOLON && before == TOKEN_MINUS && back(p, 2) == TOKEN_MINUS);
}

/* a ? b : c, and b if a else c */
static bool ternary(const parser *p) {
    return back(p, 1) == TOKEN_QUESTION || (parser_is(p, TOKEN_IF) && p->at > 0);
}

/* The f of f"{a}" */
static bool is_letter_f(const parser *p, uint32_t at) {
    const token *t = &p->list.tokens[at];
    return t->kind == TOKEN_NAME && t->length == 1 && p->file->text[t->offset] == 'f' &&
           t[1].offset == t->offset + 1;
}

/* fn m(x: i64) : the token is the one behind the parameters */
static bool after_signature(const parser *p) {
    uint32_t at = p->at;
    for (int depth = 0; at > 0; at--) {
        token_kind kind = p->list.tokens[at - 1].kind;
        depth += (kind == TOKEN_RIGHT_PAREN) - (kind == TOKEN_LEFT_PAREN);
        if (depth == 0) {
            return at >= 3 && p->list.tokens[at - 3].kind == TOKEN_FN;
        }
    }
    return false;
}

const char *hint_for_token(const parser *p) {
    const char *word = word_at(p, p->at);
    if (word == NULL && p->at > 0) {
        word = word_at(p, p->at - 1);
    }
    if (word != NULL) {
        return word;
    }
    if (steps(p)) {
        return "write `i += 1` or `i -= 1`";
    }
    switch (parser_kind(p)) {
    case TOKEN_STRING:
        return p->at > 0 && is_letter_f(p, p->at - 1)
                   ? "names stand in every text: `println(\"{a}\")`, `format(\"{a}\")`"
                   : NULL;
    case TOKEN_AT:
        return "the matrix product is `a.matmul(b)`";
    case TOKEN_STAR:
        return back(p, 1) == TOKEN_STAR ? "a power is written `x.pow(2)`" : NULL;
    case TOKEN_ARROW:
        return back(p, 1) == TOKEN_NAME && back(p, 2) == TOKEN_LEFT_PAREN
                   ? "a closure is written `|x| x + 1`"
                   : "fields and methods are reached with `.`";
    case TOKEN_FAT_ARROW:
        return "a closure is written `|x| x + 1`";
    case TOKEN_FN:
        return "a function inside of another is a closure: `|x| x + 1`";
    case TOKEN_IF:
    case TOKEN_INT:
        return ternary(p) ? "a choice is written `if a { b } else { c }`" : NULL;
    case TOKEN_FOR:
        return "a list of results is a comprehension: `[i | i <- 0..n { f(i) }]`";
    case TOKEN_DOT:
        return back(p, 1) == TOKEN_DOT_DOT ? "ranges are `a..b` without b and `a..=b` with it"
                                           : NULL;
    case TOKEN_IN:
        return back(p, 2) == TOKEN_LEFT_PAREN
                   ? "a loop is written `for i in 0..n { … }`, without parentheses"
               : back(p, 1) == TOKEN_NAME ? "in a comprehension a range is written `i <- 0..n`"
                                          : NULL;
    case TOKEN_LET:
        return back(p, 1) == TOKEN_LEFT_PAREN
                   ? "a loop over numbers is written `for i in 0..n { … }`"
                   : NULL;
    case TOKEN_GREATER:
        return back(p, 1) == TOKEN_LESS ? "`a != b` holds where they differ" : NULL;
    case TOKEN_EQUAL:
        if (back(p, 1) == TOKEN_EQUAL_EQUAL || back(p, 1) == TOKEN_NOT_EQUAL) {
            return "`==` and `!=` compare";
        }
        if (back(p, 1) == TOKEN_AND_AND || back(p, 1) == TOKEN_OR_OR) {
            return "write `a = a && b` or `a = a || b`";
        }
        if (back(p, 2) == TOKEN_FOR) {
            return "a loop over numbers is written `for i in 0..n { … }`";
        }
        return back(p, 1) == TOKEN_NAME
                   ? "fields are written `name: value`, arguments without names"
                   : NULL;
    case TOKEN_COLON:
        return back(p, 1) == TOKEN_NAME &&
                       (back(p, 2) == TOKEN_LEFT_PAREN || back(p, 2) == TOKEN_COMMA)
                   ? "arguments have no names: their order counts"
               : back(p, 1) == TOKEN_RIGHT_PAREN && after_signature(p)
                   ? "the type of a result is written `-> T`"
               : back(p, 1) == TOKEN_LEFT_BRACKET || back(p, 1) == TOKEN_COMMA
                   ? "a part of a tensor is `x.slice(dim, from, to)` or `x[from..to]`"
                   : "a block stands in braces: `{ … }`";
    case TOKEN_LEFT_BRACE:
        return back(p, 1) == TOKEN_NAME ? "fields are written `name: value`" : NULL;
    default:
        return NULL;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool note(checker *c, diagnostic *d, const char *format, const char *a, const char *b) {
    diagnostics_note(c->diagnostics, d, (source_span){0}, format, a, b);
    return true;
}

static bool has_field(const struct_item *s, const char *name) {
    for (uint32_t i = 0; s != NULL && !s->is_enum && i < s->field_count; i++) {
        if (s->fields[i].name != NULL && strcmp(s->fields[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The one enum of the program with a variant of this name. */
static const struct_item *enum_with(const checker *c, const char *name) {
    const struct_item *found = NULL;
    for (uint32_t i = 0; i < c->tree->struct_count; i++) {
        const struct_item *s = c->tree->structs[i];
        if (s->is_enum && s->template == NULL && check_find_variant(s, name) >= 0) {
            if (found != NULL) {
                return NULL;
            }
            found = s;
        }
    }
    return found;
}

bool hint_for_variable(checker *c, diagnostic *d, const char *name) {
    const char *word = hint_for_word(name, strlen(name));
    const struct_item *e = enum_with(c, name);
    if (d == NULL) {
        return false;
    }
    if (c->function != NULL && c->function->has_self && has_field(c->function->owner, name)) {
        return note(c, d, "did you mean `self.%s`?%s", name, "");
    }
    if (e != NULL) {
        return note(c, d, "did you mean `%s::%s`?", e->name, name);
    }
    return word != NULL && note(c, d, "%s%s", word, "");
}

/* The only type that has such a method. */
static const function_item *method_named(const checker *c, const char *name) {
    const function_item *found = NULL;
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->owner_name != NULL && f->template == NULL && strcmp(f->name, name) == 0 &&
            f->span.file != c->tree->prelude) {
            found = f;
        }
    }
    return found;
}

static bool is_number_method(const char *name) {
    static const char names[] =
        " sqrt exp log sin cos tan tanh abs floor ceil pow min max round powi powf len shape sum "
        "mean relu sigmoid softmax matmul transpose reshape item backward grad ";
    char bordered[24];
    size_t length = strlen(name);
    if (length + 3 > sizeof bordered) {
        return false;
    }
    bordered[0] = ' ';
    memcpy(bordered + 1, name, length);
    memcpy(bordered + 1 + length, " ", 2);
    return strstr(names, bordered) != NULL;
}

bool hint_for_function(checker *c, diagnostic *d, const expr *call, const char *name) {
    const char *word = hint_for_word(name, strlen(name));
    const function_item *method = method_named(c, name);
    const struct_item *e = enum_with(c, name);
    if (d == NULL) {
        return false;
    }
    if (e != NULL) {
        return note(c, d, "did you mean `%s::%s`?", e->name, name);
    }
    if (method != NULL) {
        return note(
            c, d, method->has_self ? "it is a method of `%s`: `x.%s(…)`" : "did you mean `%s::%s`?",
            method->owner_name, name);
    }
    if (call->call.arg_count > 0 && is_number_method(name)) {
        return note(c, d, "it is a method: `x.%s(…)`%s", name, "");
    }
    static const char collections[] = " Vec String HashMap HashSet BTreeMap BTreeSet VecDeque ";
    char bordered[16];
    if (strlen(name) < sizeof bordered - 3) {
        bordered[0] = ' ';
        strcpy(bordered + 1, name);
        strcat(bordered, " ");
        if (strstr(collections, bordered) != NULL) {
            return note(c, d, "an empty one is `%s::new()`%s", name, "");
        }
    }
    return word != NULL && note(c, d, "%s%s", word, "");
}

bool hint_for_field(checker *c, diagnostic *d, const type *base, const char *name) {
    if (d == NULL || name == NULL) {
        return false;
    }
    if (base->kind == TYPE_TENSOR && strcmp(name, "T") == 0) {
        return note(c, d, "write `x.t()`, or `x.transpose(a, b)`%s%s", "", "");
    }
    suggestion near = check_suggest(d, name);
    check_suggest_methods(c, base, &near);
    if (near.exact) {
        return note(c, d, "it is a method: `x.%s()`%s", name, "");
    }
    check_suggest_note(c, d, &near);
    return near.best != NULL;
}

void hint_for_operands(checker *c, diagnostic *d, binary_op op, const type *left,
                       const type *right) {
    const type *both[2] = {left, right};
    if (op == BINARY_ADD && (left->kind == TYPE_STRING || right->kind == TYPE_STRING)) {
        note(c, d, "`format(\"{}{:?}\", a, b)` puts texts and values together%s%s", "", "");
    }
    for (int i = 0; i < 2; i++) {
        const struct_item *s = both[i]->kind == TYPE_STRUCT ? both[i]->structure->template : NULL;
        if (s != NULL && s->span.file == c->tree->prelude && s->is_enum) {
            note(c, d, "`?`, `unwrap_or(…)` or a `match` takes the value out of the `%s`%s",
                 s->name, "");
            return;
        }
    }
}
