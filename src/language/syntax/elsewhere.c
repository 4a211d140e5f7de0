/* elsewhere.c: see elsewhere.h. */
#include "language/syntax/elsewhere.h"

#include <string.h>

#include "language/diagnose/suggest.h"

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct word_hint {
    const char *words, *hint; /* words: each between blanks */
} word_hint;

static const word_hint known_words[] = {
    {" var int float double auto string ", "a variable is declared with `let`, or `let mut` when it changes"},
    {" def func function ", "a function is written `fn name(a: i64) -> i64 { … }`"},
    {" class interface ", "a type is a `struct`; its methods are in an `impl` block"},
    {" import from include using require ", "`mod name;` reads the file name.tl"},
    {" True ", "did you mean `true`?"},
    {" False ", "did you mean `false`?"},
    {" null nil nullptr undefined ", "`None`, of an `Option`, says that there is no value"},
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
     "the operations are methods of tensors and functions of `Tensor`: docs/operations.md; layers and optimisers are "
     "structs: `Linear::new(2, 8)`, `Adam::new(0.001)`"},
    {" math ", "functions of numbers are methods: `x.sqrt()`"},
    {" then ", "branches are written in braces: `if a { b } else { c }`"},
    {" with inference_mode ",
     "`x.detach(false)` is a value without history: what is computed from it has none; nor has what is "
     "computed in `no_grad { … }`"},
    {" optim optimizer optimizers Adadelta Adamax NAdam RAdam LBFGS Optimizer ",
     "`let mut adam = Adam::new(0.001);` … `adam.step(net.parameters());`; SGD, AdamW, RMSprop, Adagrad and Lion "
     "are used the same way"},
    {" lr_scheduler LRScheduler StepLR MultiStepLR ExponentialLR LinearLR LambdaLR OneCycleLR CosineAnnealingLR "
     "ReduceLROnPlateau CyclicLR PolynomialLR CosineAnnealingWarmRestarts ",
     "a schedule says the rate of a step: `let rate = Schedule::new(0.1).warm_up(10).cosine(100);` … `adam.lr = "
     "rate.at(step);`; `.step(30, 0.1)` makes it a tenth after each 30"},
    {" Module ModuleList ModuleDict Parameter Softmax Conv3d RNN Transformer Hardswish ",
     "a layer of one's own is a `struct` of weights and layers, and `impl Layer for` it with `forward`: "
     "docs/training.md"},
    {" CosineEmbeddingLoss CTCLoss GaussianNLLLoss HingeEmbeddingLoss MultiLabelMarginLoss MultiMarginLoss "
     "PoissonNLLLoss SoftMarginLoss MarginRankingLoss TripletMarginLoss ",
     "losses are operations: `logits.cross_entropy(target)`, `Tensor::mse_loss(x, y)`, or a formula of your own"},
    {" utils clip_grad_norm_ clip_grad_norm clip_grad_value_ ",
     "`net.parameters().clip_grad_norm(1.0)` scales all gradients alike"},
    {" DataLoader Dataset TensorDataset ",
     "a batch is a part of a tensor: `x[from..to]`, `x.index_select(0, numbers)`"},
    {" seed set_seed random_seed srand ", "`manual_seed(n)` and `masu run --seed N` draw the same numbers each time"},
    {" cuda device ", "tensors live where the program runs: nothing moves them"},
    {" args argv env sys os ", "`std::env::args()` are the program's name and its arguments"},
    {" io stdin input ", "`std::io::stdin().lines()` reads the standard input, `read_line(\"prompt\")` a line of it"},
    {" open fopen readfile fs ",
     "`std::fs::read_to_string(path)` reads a file, `std::fs::write(path, text)` writes one"},
    {" stdout stderr ", "`print` writes to the standard output, `eprint` to the standard error"},
    {" shuffle choose sample ", "`Generator::new(seed)` does it: `g.shuffle(&mut list)`, `g.choose(&list)`"},
    {" rand random ",
     "random numbers are tensors: `Tensor::rand([n])`, `Tensor::randn([n])`; `Generator::new(seed)` draws single ones"},
    {" time perf_counter ", "`Instant::now()` is a moment, `start.elapsed().as_secs_f64()` what has passed since"},
    {" integer long size_t ", "the usual integer is `i64`"},
    {" real number ", "numbers with a fraction are `f32` and `f64`"},
    {" list List array Array ", "`Vec<T>` grows, `[T; N]` does not, `Tensor` calculates"},
    {" boolean ", "did you mean `bool`?"},
};

static const char *hint_among(const word_hint *known, size_t count, const char *word, size_t length) {
    char bordered[40];
    if (length + 3 > sizeof bordered)
        return NULL;
    bordered[0] = ' ';
    memcpy(bordered + 1, word, length);
    memcpy(bordered + 1 + length, " ", 2);
    for (size_t i = 0; i < count; i++)
        if (strstr(known[i].words, bordered) != NULL)
            return known[i].hint;
    return NULL;
}

const char *hint_for_word(const char *word, size_t length) {
    return hint_among(known_words, sizeof known_words / sizeof known_words[0], word, length);
}

const char *hint_for_type(const char *name) {
    static const word_hint types[] = {
        {" int ", "the usual integer is `i64`"},
        {" float ", "numbers with a fraction are `f32` and `f64`"},
        {" double ", "did you mean `f64`?"},
    };
    const char *hint = hint_among(types, sizeof types / sizeof types[0], name, strlen(name));
    return hint != NULL ? hint : hint_for_word(name, strlen(name));
}

const char *hint_for_path(const char *path) {
    for (const char *end = path + strlen(path); end > path;) {
        const char *from = end;
        while (from > path && from[-1] != ':')
            from--;
        const char *hint = hint_for_word(from, (size_t)(end - from));
        if (hint != NULL)
            return hint;
        end = from - path > 2 ? from - 2 : path;
    }
    return NULL;
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
    {" gen_range random_range randrange next_u32 next_f64 next_int gen_bool below ",
     "a `Generator` draws `g.range(low, high)`, `g.random()`, `g.uniform(low, high)` and `g.chance(p)`"},
    {" mm bmm mv ", "the matrix product is `a.matmul(b)`"},
    {" concat concatenate ", "did you mean `cat`?"},
    {" map filter fold for_each enumerate zip rev any all position skip collect ",
     "lists have it; `t.to_vec()` is the list of a tensor's elements"},
    {" device ", "tensors live where the program runs: nothing moves them"},
    {" numpy tolist ", "did you mean `to_vec`?"},
    {" freeze unfreeze clip_grad_norm clip_grad_norm_ clip_grad_value clip_grad_value_ grad_norm count average bytes ",
     "the tensors that train have it, together: `net.parameters().freeze(\"encoder\")`, "
     "`net.parameters().clip_grad_norm(1.0)`"},
    {" zero_ zero_grad ",
     "a gradient that was read is cleared at the end of the loop's iteration; `net.parameters().zero_grad()` clears "
     "all of them earlier"},
    {" requires_grad_ requires_grad ", "`x.detach(true)` tracks gradients from here on"},
    {" step ",
     "an optimiser takes it: `SGD::new(0.1).step(net.parameters())`; written out it is `w = (w - w.grad() * "
     "0.1).detach(true)`"},
    {" shuffle choose ", "`Generator::new(seed)` does it: `g.shuffle(&mut list)`"},
};

const char *hint_for_method(const char *name) {
    return hint_among(known_methods, sizeof known_methods / sizeof known_methods[0], name, strlen(name));
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static token_kind back(const parser *p, uint32_t count) {
    return p->at >= count ? p->list.tokens[p->at - count].kind : TOKEN_END;
}

static const char *word_at(const parser *p, uint32_t at) {
    const token *t = &p->list.tokens[at];
    return t->kind == TOKEN_NAME ? hint_for_word(p->file->text + t->offset, t->length) : NULL;
}

/* A word in front of what only a keyword can be in front of: `lett x`, `whle x > 0`, `retrun x`. */
static const char *hint_for_keyword(const parser *p) {
    static const char *const words[][2] = {
        {"let", "did you mean `let`?"},     {"mut", "did you mean `mut`?"},       {"while", "did you mean `while`?"},
        {"for", "did you mean `for`?"},     {"if", "did you mean `if`?"},         {"else", "did you mean `else`?"},
        {"match", "did you mean `match`?"}, {"return", "did you mean `return`?"}, {"break", "did you mean `break`?"},
        {"loop", "did you mean `loop`?"},   {"const", "did you mean `const`?"},   {"struct", "did you mean `struct`?"},
        {"enum", "did you mean `enum`?"},   {"impl", "did you mean `impl`?"},     {"use", "did you mean `use`?"},
        {"fn", "did you mean `fn`?"},       {"trait", "did you mean `trait`?"},
    };
    enum { COUNT = sizeof words / sizeof words[0], LENGTH_MAX = 12 };
    const token *t = p->at == 0 ? NULL : &p->list.tokens[p->at - 1];
    if (t == NULL || t->kind != TOKEN_NAME || t->length > LENGTH_MAX)
        return NULL;
    char word[LENGTH_MAX + 1] = {0};
    memcpy(word, p->file->text + t->offset, t->length);
    suggestion near = suggest_for(word);
    for (size_t i = 0; i < COUNT; i++)
        suggest_add(&near, words[i][0]);
    for (size_t i = 0; i < COUNT; i++)
        if (near.best == words[i][0])
            return words[i][1];
    return NULL;
}

const char *hint_for_item_word(parser *p) {
    static const char *const words[] = {"fn", "struct", "enum", "impl", "trait", "const", "func", "function"};
    const token *t = parser_token(p);
    if (t->kind != TOKEN_NAME || t[1].kind != TOKEN_NAME)
        return NULL;
    suggestion near = suggest_for(parser_text(p, t));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        suggest_add(&near, words[i]);
    return near.best != NULL && near.best[0] == 'f' ? words[0] : near.best;
}

/* a++; and a--; as other languages have them */
static bool steps(const parser *p) {
    token_kind now = parser_kind(p), before = back(p, 1);
    return (now == TOKEN_PLUS && parser_ahead(p, 1) == TOKEN_PLUS) || (now == TOKEN_PLUS && before == TOKEN_PLUS) ||
           (now == TOKEN_SEMICOLON && before == TOKEN_MINUS && back(p, 2) == TOKEN_MINUS);
}

/* a ? b : c, and b if a else c */
static bool ternary(const parser *p) {
    return back(p, 1) == TOKEN_QUESTION || (parser_is(p, TOKEN_IF) && p->at > 0);
}

/* The f of f"{a}" */
static bool is_letter_f(const parser *p, uint32_t at) {
    const token *t = &p->list.tokens[at];
    return t->kind == TOKEN_NAME && t->length == 1 && p->file->text[t->offset] == 'f' && t[1].offset == t->offset + 1;
}

/* fn m(x: i64) : the token is the one behind the parameters */
static bool after_signature(const parser *p) {
    uint32_t at = p->at;
    for (int depth = 0; at > 0; at--) {
        token_kind kind = p->list.tokens[at - 1].kind;
        depth += (kind == TOKEN_RIGHT_PAREN) - (kind == TOKEN_LEFT_PAREN);
        if (depth == 0)
            return at >= 3 && p->list.tokens[at - 3].kind == TOKEN_FN;
    }
    return false;
}

const char *hint_for_token(const parser *p) {
    const char *word = p->at > 0 ? word_at(p, p->at - 1) : NULL;
    if (word == NULL)
        word = word_at(p, p->at);
    if (word == NULL && !parser_first_on_line(p))
        word = hint_for_keyword(p);
    if (word != NULL)
        return word;
    if (steps(p))
        return "write `i += 1` or `i -= 1`";
    switch (parser_kind(p)) {
    case TOKEN_STRING:
        return p->at > 0 && is_letter_f(p, p->at - 1)
                   ? "every text may hold names: `println(\"{a}\")`, `format(\"{a}\")`"
                   : NULL;
    case TOKEN_AT:
        return "the matrix product is `a.matmul(b)`";
    case TOKEN_STAR:
        return back(p, 1) == TOKEN_STAR ? "a power is written `x.pow(2)`" : NULL;
    case TOKEN_ARROW:
        return back(p, 1) == TOKEN_NAME && back(p, 2) == TOKEN_LEFT_PAREN ? "a closure is written `|x| x + 1`"
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
        return back(p, 1) == TOKEN_DOT_DOT ? "ranges are `a..b` without b and `a..=b` with it" : NULL;
    case TOKEN_IN:
        return back(p, 2) == TOKEN_LEFT_PAREN ? "a loop is written `for i in 0..n { … }`, without parentheses"
               : back(p, 1) == TOKEN_NAME     ? "in a comprehension a range is written `i <- 0..n`"
                                              : NULL;
    case TOKEN_LET:
        return back(p, 1) == TOKEN_LEFT_PAREN ? "a loop over numbers is written `for i in 0..n { … }`" : NULL;
    case TOKEN_GREATER:
        return back(p, 1) == TOKEN_LESS ? "`a != b` holds where they differ" : NULL;
    case TOKEN_EQUAL:
        if (back(p, 1) == TOKEN_EQUAL_EQUAL || back(p, 1) == TOKEN_NOT_EQUAL)
            return "`==` and `!=` compare";
        if (back(p, 1) == TOKEN_AND_AND || back(p, 1) == TOKEN_OR_OR)
            return "write `a = a && b` or `a = a || b`";
        if (back(p, 2) == TOKEN_FOR)
            return "a loop over numbers is written `for i in 0..n { … }`";
        return back(p, 1) == TOKEN_NAME ? "fields are written `name: value`, arguments without names" : NULL;
    case TOKEN_COLON:
        return back(p, 1) == TOKEN_NAME && (back(p, 2) == TOKEN_LEFT_PAREN || back(p, 2) == TOKEN_COMMA)
                   ? "arguments have no names: their order counts"
               : back(p, 1) == TOKEN_RIGHT_PAREN && after_signature(p) ? "the type of a result is written `-> T`"
               : back(p, 1) == TOKEN_NAME && parser_ahead(p, 1) == TOKEN_NAME &&
                       (back(p, 2) == TOKEN_SEMICOLON || back(p, 2) == TOKEN_LEFT_BRACE ||
                        back(p, 2) == TOKEN_RIGHT_BRACE)
                   ? "a variable is declared with `let x: i64 = …;`"
               : back(p, 1) == TOKEN_LEFT_BRACKET || back(p, 1) == TOKEN_COMMA
                   ? "a part of a tensor is `x.slice(dim, from, to)` or `x[from..to]`"
                   : "a block is written in braces: `{ … }`";
    case TOKEN_LEFT_BRACE:
        return back(p, 1) == TOKEN_NAME ? "fields are written `name: value`" : NULL;
    default:
        return NULL;
    }
}
