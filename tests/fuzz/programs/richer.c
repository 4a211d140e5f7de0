/* richer.c: values and statements of the kinds that hold other kinds: enums, generic structs, boxes, vectors of
 * structs, results, models. See generator.h.
 *
 *     Choice        Gone | One(WIDE) | Both { p: PAIR, t: WIDE } | Many(LIST, INTEGER)
 *     Crate<T>      { item: T, old: Option<T>, uses: INTEGER }, of WIDE and of PAIR
 *     Tree          Leaf(WIDE) | Node(Box<Tree>, Box<Tree>)
 *     Model         { w: leaf [2, 3], b: leaf [3] }: what a training loop steps
 */
#include <stdio.h>
#include <string.h>

#include "generator.h"

static void put(generator *g, const char *text) {
    masu__buffer_puts(g->out, text);
}

/* ---- types -------------------------------------------------------------------------------------------- */

const char richer_types[] =
    "enum Choice {\n    Gone,\n    One(Tensor),\n    Both { p: Pair, t: Tensor },\n"
    "    Many(Vec<Tensor>, i64),\n}\n"
    "struct Crate<T> {\n    item: T,\n    old: Option<T>,\n    uses: i64,\n}\n"
    "impl<T> Crate<T> {\n"
    "    fn new(item: T) -> Crate<T> {\n        Crate { item: item, old: None, uses: 0 }\n    }\n"
    "    fn put(mut self, t: T) -> T {\n        let was = self.item;\n"
    "        if self.uses % 2 == 0 { self.old = Some(was); }\n"
    "        self.item = t;\n        self.uses += 1;\n        was\n    }\n"
    "    fn take(mut self) -> Option<T> {\n        let o = self.old;\n"
    "        self.old = None;\n        o\n    }\n"
    "}\n"
    "enum Tree {\n    Leaf(Tensor),\n    Node(Box<Tree>, Box<Tree>),\n}\n"
    "impl Tree {\n"
    "    fn total(self) -> Tensor {\n        match self {\n            Tree::Leaf(t) => t,\n"
    "            Tree::Node(a, b) => (a.total() + b.total()).clamp(-4.0, 4.0),\n        }\n    }\n"
    "    fn first(self) -> Tensor {\n        match self {\n            Tree::Leaf(t) => t,\n"
    "            Tree::Node(a, _) => a.first(),\n        }\n    }\n"
    "    fn mapped(self, by: Tensor) -> Tree {\n        match self {\n"
    "            Tree::Leaf(t) => Tree::Leaf((t * by).clamp(-4.0, 4.0)),\n"
    "            Tree::Node(a, b) => Tree::Node(Box::new(b.mapped(by)), Box::new(a.mapped(by))),\n        }\n    }\n"
    "}\n"
    "trait Weighs {\n    fn weight(self) -> Tensor;\n    fn twice(self) -> Tensor {\n"
    "        (self.weight() + self.weight()).clamp(-4.0, 4.0)\n    }\n}\n"
    "impl Weighs for Pair {\n    fn weight(self) -> Tensor { self.x }\n}\n"
    "impl Weighs for Choice {\n    fn weight(self) -> Tensor {\n        match self {\n"
    "            Choice::Gone => Tensor::ones([2, 3]),\n            Choice::One(t) => t,\n"
    "            Choice::Both { p: Pair { x, n, .. }, t } if n > 2 => (x + t).clamp(-4.0, 4.0),\n"
    "            Choice::Both { t, .. } => t,\n            Choice::Many(v, _) => v[0],\n"
    "        }\n    }\n}\n"
    "struct Model {\n    w: Tensor,\n    b: Tensor,\n}\n"
    "impl Model {\n    fn new(v: f32) -> Model {\n"
    "        Model { w: GradTensor::full([2, 3], v), b: GradTensor::full([3], 0.25) }\n    }\n"
    "    fn forward(self, x: Tensor) -> Tensor {\n        (x * self.w + self.b).tanh()\n    }\n"
    "    fn step(mut self) {\n"
    "        self.w = (self.w - self.w.grad() * 0.125).clamp(-4.0, 4.0).detach(true);\n"
    "        self.b = (self.b - self.b.grad() * 0.125).clamp(-4.0, 4.0).detach(true);\n    }\n}\n"
    "fn pick<T>(c: bool, a: T, b: T) -> T {\n    if c { a } else { b }\n}\n"
    "fn crossed<A, B>(a: A, b: B) -> (B, A) {\n    (b, a)\n}\n"
    "fn heavy<T: Weighs>(t: T) -> Tensor {\n    t.twice()\n}\n"
    "fn applied(f: impl Fn(Tensor) -> Tensor, t: Tensor) -> Tensor {\n"
    "    f(f(t)).clamp(-4.0, 4.0)\n}\n"
    "fn halved(t: Tensor, n: i64) -> Result<Tensor, String> {\n"
    "    if n > 3 { return Err(\"too many\"); }\n    Ok(t * 0.5)\n}\n"
    "fn quartered(t: Tensor, n: i64) -> Result<Tensor, String> {\n    let a = halved(t, n)?;\n"
    "    let b = halved(a, n + 1)?;\n    Ok((a + b).clamp(-4.0, 4.0))\n}\n"
    "fn paired(o: Option<Tensor>) -> Option<Pair> {\n    let t = o?;\n"
    "    Some(Pair { x: t, y: [0.5, 1.0, -1.0], n: 3 })\n}\n"
    "fn nothing() -> Option<Pair> {\n    None\n}\n"
    "fn failed() -> Result<Tensor, String> {\n    Err(\"none\")\n}\n"
    "fn changed(p: &mut Pair, t: Tensor) {\n    p.x = t;\n    p.n += 1;\n}\n";

/* ---- values --------------------------------------------------------------------------------------------- */

/* "opening a joint b closing" */
static void two(generator *g, const char *opening, kind a, const char *joint, kind b, const char *closing, int depth) {
    put(g, opening);
    small_value(g, a, depth - 1);
    put(g, joint);
    small_value(g, b, depth - 1);
    put(g, closing);
}

static void one(generator *g, const char *opening, kind a, const char *closing, int depth) {
    put(g, opening);
    small_value(g, a, depth - 1);
    put(g, closing);
}

static void choice(generator *g, int depth) {
    switch (below(g, 4)) {
    case 0:
        put(g, "Choice::Gone");
        return;
    case 1:
        one(g, "Choice::One(", WIDE, ")", depth);
        return;
    case 2:
        two(g, "Choice::Both { p: ", PAIR, ", t: ", WIDE, " }", depth);
        return;
    default:
        two(g, "Choice::Many(", LIST, ", ", INTEGER, ")", depth);
    }
}

static void tree(generator *g, int depth) {
    if (depth <= 1 || one_in(g, 3))
        one(g, "Tree::Leaf(", WIDE, ")", depth);
    else if (one_in(g, 4))
        two(g, "", TREE, ".mapped(", WIDE, ")", depth);
    else
        two(g, "Tree::Node(Box::new(", TREE, "), Box::new(", TREE, "))", depth);
}

static void result(generator *g, int depth) {
    switch (below(g, 4)) {
    case 0:
        put(g, "failed()");
        return;
    case 1:
        two(g, "quartered(", WIDE, ", ", INTEGER, ")", depth);
        return;
    default:
        one(g, "Ok(", WIDE, ")", depth);
    }
}

traits rich_value(generator *g, kind k, int depth) {
    switch (k) {
    case CHOICE:
        choice(g, depth);
        break;
    case CRATE:
        one(g, "Crate::new(", WIDE, ")", depth);
        break;
    case CHEST:
        if (one_in(g, 3))
            two(g, "Crate { item: ", PAIR, ", old: ", MAYBE_PAIR, ", uses: 1 }", depth);
        else
            one(g, "Crate::new(", PAIR, ")", depth);
        break;
    case PAIRS:
        two(g, "vec![", PAIR, ", ", PAIR, "]", depth);
        break;
    case CHOICES:
        two(g, "vec![", CHOICE, ", ", CHOICE, "]", depth);
        break;
    case MAYBE_PAIR:
        if (one_in(g, 4))
            put(g, "nothing()");
        else if (one_in(g, 3))
            one(g, "paired(", MAYBE, ")", depth);
        else
            one(g, "Some(", PAIR, ")", depth);
        break;
    case TREE:
        tree(g, depth);
        break;
    case FIXED:
        two(g, "[", WIDE, ", ", WIDE, "]", depth);
        break;
    case DEEP:
        two(g, "(", PAIR, ", (", WIDE, ", 4))", depth);
        break;
    case ROWS:
        two(g, "vec![", LIST, ", ", LIST, "]", depth);
        break;
    case RESULT:
        result(g, depth);
        break;
    default:
        masu__buffer_printf(g->out, "Model::new(%s0.5)", one_in(g, 2) ? "-" : "");
    }
    return (traits){LIMIT, true};
}

/* Ways to come by a value of any kind that moves it about. A row of tensors is a tensor where nothing wants an
 * array. */
traits carried(generator *g, kind k, int depth) {
    int n;
    switch (k == FIXED ? 5 : below(g, 6)) {
    case 0:
        put(g, "pick(");
        condition(g, depth - 1);
        two(g, ", ", k, ", ", k, ")", depth);
        break;
    case 1:
        two(g, "crossed(", INTEGER, ", ", k, ").0", depth);
        break;
    case 2:
        two(g, "crossed(", k, ", ", one_in(g, 2) ? PAIR : WIDE, ").1", depth);
        break;
    case 3:
        n = g->names++;
        masu__buffer_printf(g->out, "loop { let u%d = ", n);
        small_value(g, k, depth - 1);
        masu__buffer_printf(g->out, "; break u%d; }", n);
        break;
    case 4:
        put(g, "if ");
        condition(g, depth - 1);
        two(g, " { ", k, " } else { ", k, " }", depth);
        break;
    default:
        one(g, "{ ", k, " }", depth);
    }
    return (traits){LIMIT, true};
}

/* A tensor [2, 3] out of what the others hold. */
traits unpacked(generator *g, int depth) {
    int n = g->names++;
    switch (below(g, 9)) {
    case 0:
        one(g, "heavy(", one_in(g, 2) ? PAIR : CHOICE, ")", depth);
        break;
    case 1:
        one(g, "match (", CHOICE, ") { ", depth);
        masu__buffer_printf(g->out, "Choice::One(m%d) => m%d, Choice::Both { p, .. } => p.x, ", n, n);
        two(g, "Choice::Many(_, n) if n > 1 => ", WIDE, ", _ => ", WIDE, " }", depth);
        break;
    case 2:
        two(g, "", MAYBE, ".unwrap_or(", WIDE, ")", depth);
        break;
    case 3:
        one(g, "match (", RESULT, ") { ", depth);
        masu__buffer_printf(g->out, "Ok(m%d) => m%d, Err(_) => ", n, n);
        one(g, "", WIDE, " }", depth);
        break;
    case 4:
        masu__buffer_printf(g->out, "applied(|m%d| m%d * 0.5 + ", n, n);
        two(g, "", WIDE, ", ", WIDE, ")", depth);
        break;
    case 5:
        one(g, "", LIST, "", depth);
        masu__buffer_printf(g->out, ".map(|m%d| m%d * 0.5)[1]", n, n);
        break;
    case 6:
        one(g, "", PAIRS, "", depth);
        masu__buffer_printf(g->out, ".iter().map(|m%d| m%d.x).fold(", n, n);
        one(g, "", WIDE, ", |a, b| (a + b).clamp(-4.0, 4.0))", depth);
        break;
    case 7:
        masu__buffer_printf(g->out, "if let Some(m%d) = ", n);
        one(g, "(", MAYBE_PAIR, ")", depth);
        masu__buffer_printf(g->out, " { m%d.x } else { ", n);
        one(g, "", WIDE, " }", depth);
        break;
    default:
        two(g, "", MODEL, ".forward(", WIDE, ")", depth);
    }
    return (traits){LIMIT, true};
}

/* ---- statements ----------------------------------------------------------------------------------------------- */

static const variable *any_written(generator *g, kind k) {
    return any_variable(g, k, true, false);
}

/* A name that statements inside the block that was opened may read. */
static void bound(generator *g, kind k, int name) {
    if (g->variable_count == MOST_VARIABLES)
        g->variable_count--;
    variable v = {.kind = k, .tracked = true, .depth = g->depth, .loop = g->loops};
    snprintf(v.name, sizeof v.name, "v%d", name);
    g->variables[g->variable_count++] = v;
}

static void set_to(generator *g, const char *name, const char *place, kind k, int depth) {
    begin_line(g);
    masu__buffer_printf(g->out, "%s%s = ", name, place);
    small_value(g, k, depth);
    end_line(g, ";");
}

/* Parts of compound values written: what shares them must not see it. */
void change_inside(generator *g) {
    static const struct {
        kind of, gives;
        const char *text;
    } places[] = {
        {CRATE, WIDE, ".item"},     {CRATE, MAYBE, ".old"},    {CHEST, PAIR, ".item"},  {CHEST, WIDE, ".item.x"},
        {CHEST, ROW, ".item.y"},    {PAIRS, PAIR, "[0]"},      {PAIRS, WIDE, "[1].x"},  {PAIRS, ROW, "[0].y"},
        {CHOICES, CHOICE, "[1]"},   {FIXED, WIDE, "[0]"},      {FIXED, WIDE, "[1]"},    {DEEP, PAIR, ".0"},
        {DEEP, WIDE, ".0.x"},       {DEEP, WIDE, ".1.0"},      {ROWS, LIST, "[1]"},     {ROWS, WIDE, "[0][1]"},
        {PAIR, WIDE, ".x"},         {NEST, PAIR, ".p"},        {NEST, WIDE, ".p.x"},    {TUPLE, ROW, ".1"},
        {LIST, WIDE, "[0]"},        {CHEST, INTEGER, ".uses"}, {DEEP, INTEGER, ".1.1"}, {PAIRS, INTEGER, "[1].n"},
        {CHEST, INTEGER, ".item.n"}};
    size_t count = sizeof places / sizeof places[0], first = below(g, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        size_t p = (first + i) % count;
        const variable *v = any_written(g, places[p].of);
        if (!v)
            continue;
        char name[sizeof v->name];
        strcpy(name, v->name);
        if (one_in(g, 5))
            line(g, "%s%s = %s%s;", name, places[p].text, name, places[p].text);
        else
            set_to(g, name, places[p].text, places[p].gives, 2);
        if (places[p].gives == WIDE && one_in(g, 3)) {
            line(g, "%s%s = %s%s.detach(false);", name, places[p].text, name, places[p].text);
            line(g, "%s%s[%u, 1] = 1.25;", name, places[p].text, below(g, 2));
        }
        return;
    }
}

void change_by_method(generator *g) {
    kind kinds[] = {CRATE, CHEST, PAIRS, NEST, DEEP, MODEL};
    kind k = kinds[below(g, 6)];
    const variable *v = any_written(g, k);
    if (!v)
        return;
    static const char *const bump[KINDS] = {
        [CHEST] = ".item.bump(", [PAIRS] = "[1].bump(", [NEST] = ".p.bump(", [DEEP] = ".0.bump("};
    begin_line(g);
    bool by_reference = k == PAIRS && one_in(g, 2);
    masu__buffer_printf(g->out, "%s%s", by_reference ? "changed(&mut " : "", v->name);
    if (by_reference)
        one(g, "[0], ", WIDE, ");", 2);
    else if (k == CRATE || (k == CHEST && one_in(g, 2)))
        one(g, ".put(", k == CRATE ? WIDE : PAIR, ");", 2);
    else if (k == MODEL)
        put(g, ".step();");
    else
        one(g, bump[k], WIDE, ");", 2);
    end_line(g, "");
}

void change_pairs(generator *g) {
    const variable *v = any_written(g, PAIRS);
    if (!v)
        return;
    char name[sizeof v->name];
    strcpy(name, v->name);
    switch (below(g, 4)) {
    case 0:
        line(g, "%s.push(%s[0]);", name, name);
        line(g, "%s[0].n += 1;", name);
        return;
    case 1:
        begin_line(g);
        masu__buffer_printf(g->out, "%s.insert(1, ", name);
        one(g, "", PAIR, ");", 2);
        end_line(g, "");
        line(g, "%s.remove(0);", name);
        return;
    case 2:
        line(g, "%s.reverse();", name);
        line(g, "%s.swap(0, 1);", name);
        return;
    default:
        line(g, "%s.extend(%s.clone());", name, name);
        line(g, "%s.truncate(2);", name);
    }
}

static void inner(generator *g, int statements) {
    body(g, statements);
    close_scope(g);
}

void match_choice(generator *g) {
    int n = g->names;
    g->names += 4;
    begin_line(g);
    one(g, "match (", CHOICE, ") {", 2);
    end_line(g, "");
    open_scope(g);
    line(g, "Choice::One(v%d) => {", n);
    open_scope(g);
    bound(g, WIDE, n);
    inner(g, 2);
    line(g, "}");
    line(g, "Choice::Both { p: v%d, t: v%d } => {", n + 1, n + 2);
    open_scope(g);
    bound(g, PAIR, n + 1);
    bound(g, WIDE, n + 2);
    inner(g, 2);
    line(g, "}");
    if (one_in(g, 2)) {
        line(g, "Choice::Many(v%d, _) => {", n + 3);
        open_scope(g);
        bound(g, LIST, n + 3);
        inner(g, 2);
        line(g, "}");
    }
    line(g, "_ => {}");
    close_scope(g);
    line(g, "}");
}

/* let … else, ? */
void taken_apart(generator *g) {
    bool option = g->inside && g->inside->returns && g->inside->result == MAYBE;
    bool outcome = g->inside && g->inside->returns && g->inside->result == RESULT;
    int n = g->names++;
    begin_line(g);
    if ((option || outcome) && !one_in(g, 4)) {
        masu__buffer_printf(g->out, "let v%d = ", n);
        if (outcome)
            two(g, "quartered(", WIDE, ", ", INTEGER, ")?;", 2);
        else
            one(g, "pick(true, ", MAYBE, ", None)?;", 2);
        end_line(g, "");
        bound(g, WIDE, n);
        return;
    }
    masu__buffer_printf(g->out, "let Some(v%d) = ", n);
    one(g, "(", MAYBE_PAIR, ") else { ", 2);
    if (g->loops > 0)
        put(g, one_in(g, 2) ? "continue };" : "break };");
    else if (g->inside) {
        put(g, "return ");
        if (g->inside->returns)
            small_value(g, g->inside->result, 2);
        put(g, " };");
    } else
        put(g, "panic(\"nothing\") };");
    end_line(g, "");
    bound(g, PAIR, n);
}

/* Two loops, the outer one with a name: what is inside may leave both. */
void labelled_loops(generator *g) {
    if (g->loops >= 2)
        return;
    int n = g->names, outer = g->label;
    g->names += 2;
    line(g, "'l%d: for v%d in 0..%u {", n, n, 1 + below(g, 3));
    open_scope(g);
    g->loops++;
    bound(g, INTEGER, n);
    g->variables[g->variable_count - 1].tracked = false;
    body(g, 1 + (int)below(g, 2));
    line(g, "for v%d in 0..%u {", n + 1, 1 + below(g, 3));
    open_scope(g);
    g->loops++;
    g->label = n;
    bound(g, INTEGER, n + 1);
    g->variables[g->variable_count - 1].tracked = false;
    body(g, 2);
    begin_line(g);
    put(g, "if ");
    condition(g, 2);
    masu__buffer_printf(g->out, one_in(g, 2) ? " { break 'l%d; }" : " { continue 'l%d; }", n);
    end_line(g, "");
    g->loops--;
    inner(g, 2);
    line(g, "}");
    g->label = outer;
    g->loops--;
    inner(g, 1);
    line(g, "}");
}

/* while let Some(…) = stack.pop(), for … in vector of structs. */
void drained(generator *g) {
    if (g->loops >= 2)
        return;
    int n = g->names;
    g->names += 2;
    bool pairs = one_in(g, 2);
    const variable *from = any_variable(g, pairs ? PAIRS : LIST, false, false);
    if (!from)
        return;
    variable *list = &g->variables[from - g->variables];
    bool is_lent = false;
    if (one_in(g, 2)) {
        line(g, "let mut s%d = %s;", n, from->name);
        line(g, "while let Some(v%d) = s%d.pop() {", n, n);
    } else {
        is_lent = one_in(g, 2);
        line(g, "for v%d in %s%s {", n, from->name, is_lent ? ".iter()" : "");
    }
    open_scope(g);
    g->loops++;
    bound(g, pairs ? PAIR : WIDE, n);
    list->hidden = is_lent;
    body(g, 2);
    list->hidden = false;
    g->loops--;
    close_scope(g);
    line(g, "}");
}

/* A closure that writes to what it captured, which nothing else names until its last call. */
void writing_closure(generator *g) {
    const variable *t = any_variable(g, WIDE, true, false), *p = any_variable(g, PAIR, true, false), *held = t;
    int n = g->names++;
    if (t && t->tracked && one_in(g, 2)) {
        char name[sizeof t->name];
        strcpy(name, t->name);
        line(g, "let mut c%d = |q: Tensor| { %s = (%s + q).clamp(-4.0, 4.0); };", n, name, name);
    } else if (p) {
        char name[sizeof p->name];
        held = p;
        strcpy(name, p->name);
        line(g, "let mut c%d = |q: Tensor| { %s.x = q; %s.n += 1; };", n, name, name);
    } else {
        return;
    }
    variable *captured = &g->variables[held - g->variables];
    captured->hidden = true;
    for (int i = 0; i < 2; i++) {
        begin_line(g);
        masu__buffer_printf(g->out, "c%d(", n);
        one(g, "", WIDE, ");", 2);
        end_line(g, "");
    }
    captured->hidden = false;
}

/* Steps of a model in a loop of any kind. */
void train_model(generator *g) {
    const variable *m = any_written(g, MODEL);
    if (!m || g->loops >= 2)
        return;
    char name[sizeof m->name];
    strcpy(name, m->name);
    int n = g->names++;
    line(g, "for k%d in 0..%u {", n, 1 + below(g, 3));
    open_scope(g);
    g->loops++;
    begin_line(g);
    masu__buffer_printf(g->out, "let l%d = %s.forward(", n, name);
    one(g, "", WIDE, ").sum();", 2);
    end_line(g, "");
    if (one_in(g, 3))
        body(g, 1);
    if (one_in(g, 3)) {
        begin_line(g);
        put(g, "if ");
        condition(g, 2);
        end_line(g, " { continue; }");
    }
    line(g, "l%d.backward();", n);
    line(g, "%s.step();", name);
    if (one_in(g, 2))
        line(g, "println(\"{}\", l%d.item());", n);
    g->loops--;
    close_scope(g);
    line(g, "}");
}
