/* parser_private.h: what the parser's files share.
 *
 *     parser.c         tokens, messages, finding the way back after a mistake; parse.c: from files to trees
 *     parser_item.c    fn, impl, const
 *     parser_refuse.c  constructs that masu does not accept where items are
 *     parser_module.c  mod, use
 *     parser_generic.c type parameters, structs, enums, traits
 *     parser_type.c    types and patterns
 *     parser_slice.c   patterns of lists, matches!
 *     parser_stmt.c    blocks, statements, if, match, loops
 *     parser_expr.c    operators, calls, fields, indices
 *     parser_primary.c literals, names, brackets, comprehensions
 *
 * One mistake, one message: after a message p->panic is set and further ones are swallowed until
 * parser_synchronise has found a place to go on. At the nesting limit the parser goes to TOKEN_END
 * for good: every loop ends there. When memory ends it jumps out: everything made so far is the
 * arena's, so nothing is lost on the way.
 *
 * What must stay true (asserted at each token; tests/unit/language/test_front_hostile.c):
 *     list.tokens[at] is valid; at never falls
 *     depth <= PARSER_NESTING_MAX; every node's height <= PARSER_HEIGHT_MAX + 1
 */
#ifndef MASU_LANGUAGE_PARSER_PRIVATE_H
#define MASU_LANGUAGE_PARSER_PRIVATE_H

#include <setjmp.h>

#include "language/syntax/lexer.h"
#include "language/syntax/parser.h"

/* The steps of a list's pattern, in order (parser_slice.c). */
typedef struct pattern_step {
    expr *test; /* NULL: let */
    stmt *let;
} pattern_step;

typedef struct parser {
    const source_file *file;
    masu__arena *arena;
    diagnostics *diagnostics;
    syntax_tree *tree;
    token_list list;
    uint32_t at;
    uint32_t depth;
    bool panic;
    bool stopped; /* no more messages */
    bool
        /* `{` behind a name opens a block: heads of if, match, loops, clauses of comprehensions */
        no_struct;
    pattern_step *steps; /* of the pattern being parsed */
    uint32_t step_count, step_capacity;
    uint32_t slice_count;
    block *script; /* statements outside of functions, where there is no `fn main`; NULL: none so far */
    stmt *script_last;
    module_scope *module; /* whose items are read; NULL: every name means one item */
    uint32_t functions;   /* bodies around the present token */
    bool derives_clone;
    bool derives_copy; /* an attribute in front of the next struct says so */
    jmp_buf memory_ended;
} parser;

/* A list that grows in the arena. */
#define PARSER_PUSH(p, array, count, capacity, item) \
    MASU_ARENA_PUSH((p)->arena, array, count, capacity, item, parser_out_of_memory(p))

const char *parser_lifetime(parser *p, const char *known);
/* The lifetime here goes behind those of the list. */
void parser_add_lifetime(parser *p, lifetime_name **list);

/* ---- tokens (parser.c) ----------------------------------------------------------------------- */

static inline const token *parser_token(const parser *p) {
    return &p->list.tokens[p->at];
}
static inline token_kind parser_kind(const parser *p) {
    return p->list.tokens[p->at].kind;
}
static inline bool parser_is(const parser *p, token_kind kind) {
    return parser_kind(p) == kind;
}
token_kind parser_ahead(const parser *p, uint32_t ahead);
bool parser_is_word(const parser *p, const char *word); /* a name with this text */
void parser_advance(parser *p);
bool parser_accept(parser *p, token_kind kind);
/* Reports "expected X" when it is not there. */
bool parser_expect(parser *p, token_kind kind);
/* Consumes one `>` of a `>>`, `>=` or `>>=`, one `&` of `&&`, one `|` of `||`. */
bool parser_accept_first(parser *p, token_kind single);
source_span parser_span(const parser *p);                         /* of the present token */
source_span parser_span_from(const parser *p, source_span start); /* from start to the last consumed token */
bool parser_first_on_line(const parser *p);
const char *parser_text(parser *p, const token *t);    /* copied */
const char *parser_name(parser *p, source_span *span); /* expects a name; NULL after a message */

/* ---- messages and recovery ------------------------------------------------------------------- */

diagnostic *parser_say(parser *p, source_span span, message_row row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void parser_note(parser *p, diagnostic *to, source_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "expected WHAT, found …" at the present token. */
diagnostic *parser_expected(parser *p, const char *what);
/* The file ends, and `{` is still open. */
void parser_unclosed(parser *p, source_span open);
/* A warning: WHAT is missing behind the last token. */
void parser_warn_missing(parser *p, const char *what);
bool parser_begins_statement(const parser *p); /* the present token can */
/* "masu does not accept WHAT". */
diagnostic *parser_refuse(parser *p, source_span span, const char *what);
/* The same, said of the first one in the program. */
void parser_refuse_once(parser *p, source_span span, const char *what);
/* Puts a `}` where the indentation says that one is missing, when braces do not come out even (braces.c). */
void parser_close_braces(parser *p);
extern const char parser_logic[]; /* what facts and rules are refused as */
void parser_synchronise(parser *p);
/* Skips to the next comma or closing bracket of the list that is being parsed; ends the panic
 * there. */
void parser_synchronise_list(parser *p, token_kind close);
void parser_skip_group(parser *p); /* at an opening bracket: to behind its partner */
_Noreturn void parser_out_of_memory(parser *p);
const char *parser_printf(parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Zeroed memory of the arena. */
void *parser_alloc(parser *p, size_t bytes);
#define PARSER_NEW(p, type) ((type *)parser_alloc((p), sizeof(type)))
bool parser_enter(parser *p); /* one level deeper; false (and stopped) at the limit */
static inline void parser_leave(parser *p) {
    p->depth--;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

expr *parser_new(parser *p, expr_kind kind, source_span span);
/* Measures a node whose children are set; its span ends with the last consumed token. */
expr *parser_finish(parser *p, expr *e);
expr *parser_error_expr(parser *p);

/* ---- grammar --------------------------------------------------------------------------------- */

void parse_items(parser *p);
bool parser_at_item(const parser *p);
void parse_item(parser *p);
bool parser_at_let_item(const parser *p);
void parse_let_item(parser *p);
void parse_mod(parser *p);
void parse_use(parser *p);
void parser_refuse_item(parser *p, const char *what); /* at its first word */
void parser_refuse_top_level(parser *p);              /* nothing that an item begins with */
bool parser_at_macro(const parser *p);
void parser_refuse_macro(parser *p);
bool parser_at_foreign(const parser *p); /* async, extern */
void parser_skip_item(parser *p);        /* to behind the `;` or the `{ … }` that ends it */
void parser_refuse_name(parser *p, const char *name);
/* Notes an item of the present module; what the checker calls it. */
/* fn name, struct name, …: an item, no type. There is a token behind it. */
bool parser_declares(const token *at);
void parser_enter_body(parser *p);
const char *parser_declare(parser *p, const char *name);
/* *scope::*name (*scope NULL: *name) becomes what the checker calls it, where a name means several items. */
void parser_find_item(parser *p, const char **scope, const char **name, source_span at);
/* The checker's name of this item; NULL: as written. */
const char *parser_found_item(parser *p, const char *name, source_span at);
const char *parser_join(parser *p, const char *scope, const char *name); /* scope::name */
void parser_skip_self(parser *p);
bool parser_is_counted(const parser *p, const char *pointer); /* the program asks who holds such a pointer */
type_expr *parse_type(parser *p);
/* Behind `<`: arguments up to and including `>`. */
void parse_for_lifetimes(parser *p); /* for<'a>, in front of a type or a clause; they say nothing to masu */
void parse_type_arguments(parser *p, type_expr ***arguments, uint32_t *count);
type_expr *parse_type_argument(parser *p); /* a type, or the number that a constant is */
pattern *parse_pattern(parser *p);
pattern *parse_pattern_no_or(parser *p); /* parameters of closures: `|` ends them */
/* `<T: Bound, U>`, when it is there. */
void parse_type_parameters(parser *p, type_parameters *out);
type_expr *parse_qualified_scope(parser *p, type_expr **trait);
/* `where T: Bound`, when it is there: bounds of parameters of either list. */
void parse_where(parser *p, type_parameters *own, type_parameters *of_impl);
void parser_hide_function_type(parser *p, binding *parameter, type_parameters *generics);
/* `struct` or `enum`, name and type parameters; the item is in the tree. NULL: there is no name. */
struct_item *parse_struct_head(parser *p);
void parse_struct(parser *p);
void parse_enum(parser *p);
void parse_trait(parser *p);
function_item *parse_method_of_trait(parser *p); /* its body may be missing */
/* Conditions with `let` and `&&` (parser_chain.c). */
bool parser_at_chain(const parser *p);
expr *parse_in_chain(parser *p); /* up to `&&` */
/* parse_otherwise: what follows the block; NULL from it: nothing. */
expr *parse_chain(parser *p, source_span start, expr *(*parse_otherwise)(parser *p));
/* At `[`. The steps since `from` belong to the arm, to a let, or to the head of a loop. */
void parse_slice_pattern(parser *p, pattern *made);
/* `[] | [_]`: alternatives that hold lists are arms of their own, each with its steps. */
typedef struct pattern_choice {
    pattern **patterns;
    pattern_step **steps; /* of each; those of a single pattern stay where they are */
    uint32_t *step_counts;
    uint32_t count, step_capacity, count_capacity, capacity;
    bool lists; /* some alternative has steps */
} pattern_choice;
/* `from`: p->step_count before. */
pattern_choice parse_pattern_choice(parser *p, uint32_t from);
void parser_add_arms(parser *p, const pattern_choice *choice, uint32_t from, match_arm arm, match_arm **arms,
                     uint32_t *count, uint32_t *capacity);
stmt *parser_step_check(parser *p, uint32_t from, source_span span, block *otherwise);
void parser_name_owner(parser *p, impl_item *impl);
stmt *parser_step_lets(parser *p, uint32_t from);
void parser_close_match(parser *p, expr *e); /* adds an arm for the lists that it forgets */
expr *parse_matches(parser *p, source_span start);
block *parse_block(parser *p);
/* One statement into p->script; an item in front of it is read, too. */
void parse_script_statement(parser *p);
expr *parse_expression(parser *p);
expr *parse_condition(parser *p); /* no struct literals outside of brackets */
expr *parse_no_range(parser *p);  /* binds tighter than `..` and `=` */
expr *parse_postfix(parser *p, expr *base);
expr *parse_binary_from(parser *p, expr *left); /* goes on behind an operand */
expr *parse_primary(parser *p);
expr *parse_block_like(parser *p); /* at if, match, while, loop, for, {, label */
bool parser_at_block_like(const parser *p);
bool parser_at_expression(const parser *p);
expr *parser_new_match(parser *p, source_span span, expr *value, uint32_t arms); /* arms are empty */
/* `(` or `[` consumed: expressions up to and including close. */
/* Behind `[`: outputs, `|`, and what only a comprehension goes on with. */
bool parser_at_comprehension(const parser *p);
expr *parse_comprehension(parser *p, source_span start);
void parse_list(parser *p, token_kind close, expr ***items, uint32_t *count);
binding *parser_new_binding(parser *p, const char *name, source_span span, binding_kind kind, bool is_mutable);

#endif
