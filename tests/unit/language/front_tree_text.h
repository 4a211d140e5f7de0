/* front_tree_text.h: the tree as the parser leaves it, as text: (+ a (* b c)). */
#ifndef MASU_TESTS_FRONT_TREE_TEXT_H
#define MASU_TESTS_FRONT_TREE_TEXT_H

#include "unit/language/front_testing.h"

static void show(const expr *e, masu__buffer *out);

static void show_all(expr *const *items, uint32_t count, masu__buffer *out) {
    for (uint32_t i = 0; i < count; i++) {
        masu__buffer_putc(out, ' ');
        show(items[i], out);
    }
}

static void show_type(const type_expr *t, masu__buffer *out) {
    if (t->kind == TYPE_EXPR_NUMBER) {
        masu__buffer_printf(out, "%llu", (unsigned long long)t->number);
        return;
    }
    bool tuple = t->kind == TYPE_EXPR_TUPLE;
    masu__buffer_puts(out, tuple ? "(" : t->name);
    for (uint32_t i = 0; i < t->argument_count; i++) {
        masu__buffer_puts(out, i > 0 ? "," : tuple ? "" : "<");
        show_type(t->arguments[i], out);
    }
    masu__buffer_puts(out, tuple ? ")" : t->argument_count > 0 ? ">" : "");
}

static void show_pattern(const pattern *p, masu__buffer *out) {
    switch (p->kind) {
    case PATTERN_WILDCARD:
        masu__buffer_putc(out, '_');
        break;
    case PATTERN_NAME:
        masu__buffer_printf(out, "%s%s", p->binding->is_mutable ? "mut " : "", p->binding->name);
        break;
    case PATTERN_LITERAL:
        show(p->low, out);
        break;
    case PATTERN_RANGE:
        show(p->low, out);
        masu__buffer_puts(out, p->inclusive ? "..=" : "..");
        show(p->high, out);
        break;
    case PATTERN_TUPLE:
    case PATTERN_OR:
        for (uint32_t i = 0; i < p->part_count; i++) {
            masu__buffer_puts(out, p->kind == PATTERN_OR ? (i > 0 ? "|" : "") : i > 0 ? "," : "(");
            show_pattern(p->parts[i], out);
        }
        masu__buffer_puts(out, p->kind == PATTERN_OR ? "" : ")");
        break;
    case PATTERN_VARIANT:
        masu__buffer_printf(out, "%s%s%s(", p->scope != NULL ? p->scope : "", p->scope != NULL ? "::" : "", p->name);
        for (uint32_t i = 0; i < p->part_count; i++) {
            masu__buffer_puts(out, i > 0 ? "," : "");
            if (p->part_names != NULL)
                masu__buffer_printf(out, "%s:", p->part_names[i]);
            show_pattern(p->parts[i], out);
        }
        masu__buffer_puts(out, p->rest ? "..)" : ")");
        break;
    case PATTERN_BOUND:
        masu__buffer_printf(out, "%s@", p->binding->name);
        show_pattern(p->parts[0], out);
        break;
    }
}

static void show_block(const block *b, masu__buffer *out) {
    masu__buffer_putc(out, '{');
    for (const stmt *s = b->first; s != NULL; s = s->next) {
        if (s->kind == STMT_LET) {
            masu__buffer_puts(out, "let ");
            show_pattern(s->pattern, out);
            if (s->annotation != NULL) {
                masu__buffer_putc(out, ':');
                show_type(s->annotation, out);
            }
            masu__buffer_putc(out, '=');
        }
        show(s->value, out);
        masu__buffer_putc(out, ';');
    }
    if (b->result != NULL)
        show(b->result, out);
    masu__buffer_putc(out, '}');
}

static void show_comprehension(const comprehension_expr *c, masu__buffer *out) {
    masu__buffer_puts(out, c->einstein ? "(einstein" : "(for");
    for (uint32_t i = 0; i < c->output_count; i++)
        masu__buffer_printf(out, " %s", c->output_names[i]);
    masu__buffer_puts(out, " |");
    for (uint32_t i = 0; i < c->clause_count; i++) {
        const comprehension_clause *clause = &c->clauses[i];
        if (clause->index == NULL) {
            masu__buffer_puts(out, " ?");
            show(clause->condition, out);
            continue;
        }
        masu__buffer_printf(out, " %s<-", clause->index->name);
        show(clause->low, out);
        masu__buffer_puts(out, clause->inclusive ? "..=" : "..");
        show(clause->high, out);
    }
    masu__buffer_putc(out, ' ');
    show(c->body, out);
    masu__buffer_putc(out, ')');
}

static void show_call(const expr *e, masu__buffer *out) {
    masu__buffer_putc(out, '(');
    if (e->kind == EXPR_METHOD) {
        masu__buffer_printf(out, ".%s ", e->call.name);
        show(e->call.receiver, out);
    } else {
        masu__buffer_puts(out, "call ");
        show(e->call.callee, out);
    }
    show_all(e->call.args, e->call.arg_count, out);
    masu__buffer_putc(out, ')');
}

static void show_loop(const expr *e, masu__buffer *out) {
    masu__buffer_printf(out, "(%s%s%s", e->loop->label == NULL ? "" : e->loop->label, e->loop->label == NULL ? "" : ":",
                        e->kind == EXPR_LOOP    ? "loop"
                        : e->kind == EXPR_WHILE ? "while"
                                                : "for");
    if (e->loop->pattern != NULL) {
        masu__buffer_putc(out, ' ');
        show_pattern(e->loop->pattern, out);
    }
    const expr *head = e->kind == EXPR_WHILE ? e->loop->condition : e->loop->iterable;
    if (head != NULL) {
        masu__buffer_putc(out, ' ');
        show(head, out);
    }
    masu__buffer_putc(out, ' ');
    show_block(e->loop->body, out);
    masu__buffer_putc(out, ')');
}

static void show_jump(const expr *e, masu__buffer *out) {
    static const char *const words[] = {"break", "continue", "return"};
    masu__buffer_printf(out, "(%s", words[e->kind - EXPR_BREAK]);
    if (e->jump.label != NULL)
        masu__buffer_printf(out, " %s", e->jump.label);
    if (e->jump.value != NULL) {
        masu__buffer_putc(out, ' ');
        show(e->jump.value, out);
    }
    masu__buffer_putc(out, ')');
}

static void show(const expr *e, masu__buffer *out) {
    static const char *const unary[] = {"neg", "!", "&"};
    switch (e->kind) {
    case EXPR_ERROR:
        masu__buffer_puts(out, "ERROR");
        break;
    case EXPR_TRY:
        show(e->attempt.operand, out);
        masu__buffer_putc(out, '?');
        break;
    case EXPR_REPEAT:
        masu__buffer_putc(out, '[');
        show(e->repeat.value, out);
        masu__buffer_putc(out, ';');
        show(e->repeat.count, out);
        masu__buffer_putc(out, ']');
        break;
    case EXPR_CLOSURE:
        masu__buffer_putc(out, '|');
        for (uint32_t i = 0; i < e->closure.parameter_count; i++)
            masu__buffer_printf(out, "%s%s", i > 0 ? "," : "", e->closure.parameters[i]->name);
        masu__buffer_putc(out, '|');
        show(e->closure.body, out);
        break;
    case EXPR_INT:
        masu__buffer_printf(out, "%llu", (unsigned long long)e->integer.value);
        break;
    case EXPR_FLOAT:
        masu__buffer_printf(out, "%g", e->floating.value);
        break;
    case EXPR_BOOL:
        masu__buffer_puts(out, e->boolean ? "true" : "false");
        break;
    case EXPR_CHAR:
        masu__buffer_printf(out, "'%c'", (int)e->character);
        break;
    case EXPR_STRING:
        masu__buffer_printf(out, "\"%s\"", e->string.data);
        break;
    case EXPR_NAME:
        masu__buffer_printf(out, "%s%s%s", e->name.scope == NULL ? "" : e->name.scope,
                            e->name.scope == NULL ? "" : "::", e->name.name);
        for (uint32_t i = 0; i < e->name.argument_count; i++) {
            masu__buffer_putc(out, i == 0 ? '<' : ',');
            show_type(e->name.arguments[i], out);
        }
        masu__buffer_puts(out, e->name.argument_count > 0 ? ">" : "");
        break;
    case EXPR_UNARY:
        masu__buffer_printf(out, "(%s ", unary[e->unary.op]);
        show(e->unary.operand, out);
        masu__buffer_putc(out, ')');
        break;
    case EXPR_BINARY:
        masu__buffer_printf(out, "(%s ", binary_op_text(e->binary.op));
        show(e->binary.left, out);
        masu__buffer_putc(out, ' ');
        show(e->binary.right, out);
        masu__buffer_putc(out, ')');
        break;
    case EXPR_CAST:
        masu__buffer_puts(out, "(as ");
        show(e->cast.operand, out);
        masu__buffer_putc(out, ' ');
        show_type(e->cast.target, out);
        masu__buffer_putc(out, ')');
        break;
    case EXPR_CALL:
    case EXPR_METHOD:
        show_call(e, out);
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        show(e->field.base, out);
        masu__buffer_putc(out, '.');
        if (e->kind == EXPR_FIELD)
            masu__buffer_puts(out, e->field.name);
        else
            masu__buffer_printf(out, "%u", e->field.index);
        break;
    case EXPR_INDEX:
        masu__buffer_puts(out, "(at ");
        show(e->index.base, out);
        show_all(e->index.indices, e->index.count, out);
        masu__buffer_putc(out, ')');
        break;
    case EXPR_STRUCT:
        masu__buffer_printf(out, "(%s", e->structure.name);
        for (uint32_t i = 0; i < e->structure.init_count; i++) {
            masu__buffer_printf(out, " %s:", e->structure.inits[i].name);
            show(e->structure.inits[i].value, out);
        }
        masu__buffer_putc(out, ')');
        break;
    case EXPR_TUPLE:
    case EXPR_ARRAY:
    case EXPR_LIST:
        masu__buffer_puts(out, e->kind == EXPR_TUPLE ? "(tuple" : e->kind == EXPR_LIST ? "(list" : "(array");
        show_all(e->list.items, e->list.count, out);
        masu__buffer_putc(out, ')');
        break;
    case EXPR_COMPREHENSION:
        show_comprehension(e->comprehension, out);
        break;
    case EXPR_RANGE:
        masu__buffer_puts(out, e->range.inclusive ? "(..= " : "(.. ");
        e->range.low != NULL ? show(e->range.low, out) : masu__buffer_putc(out, '_');
        masu__buffer_putc(out, ' ');
        e->range.high != NULL ? show(e->range.high, out) : masu__buffer_putc(out, '_');
        masu__buffer_putc(out, ')');
        break;
    case EXPR_BLOCK:
        show_block(e->block, out);
        break;
    case EXPR_IF:
        masu__buffer_puts(out, "(if ");
        show(e->branch.condition, out);
        masu__buffer_putc(out, ' ');
        show_block(e->branch.then, out);
        if (e->branch.otherwise != NULL) {
            masu__buffer_putc(out, ' ');
            show(e->branch.otherwise, out);
        }
        masu__buffer_putc(out, ')');
        break;
    case EXPR_MATCH:
        masu__buffer_puts(out, "(match ");
        show(e->match.value, out);
        for (uint32_t i = 0; i < e->match.count; i++) {
            masu__buffer_putc(out, ' ');
            show_pattern(e->match.arms[i].pattern, out);
            if (e->match.arms[i].guard != NULL) {
                masu__buffer_putc(out, '?');
                show(e->match.arms[i].guard, out);
            }
            masu__buffer_puts(out, "=>");
            show(e->match.arms[i].body, out);
        }
        masu__buffer_putc(out, ')');
        break;
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        show_loop(e, out);
        break;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        show_jump(e, out);
        break;
    case EXPR_ASSIGN:
        masu__buffer_printf(out, "(%s%s ", e->assign.op == BINARY_NONE ? "" : binary_op_text(e->assign.op), "=");
        show(e->assign.target, out);
        masu__buffer_putc(out, ' ');
        show(e->assign.value, out);
        masu__buffer_putc(out, ')');
        break;
    case EXPR_KIND_COUNT:
        break;
    }
}

#endif
