/* modules.c: which item of which module a path names (modules.h).
 *
 * The first part of a path is looked for: in the blocks around it (`use`), in its module, among what the module
 * uses, in the root. A part behind a module only there, and among what it uses.
 *
 * What must stay true (tests/cli/modules.sh): an item has one internal name; it is the plain one for at most one of the
 * modules.
 */
#include "language/syntax/modules.h"

#include <string.h>

enum { BUCKETS = 256, DEPTH_MAX = 16, FOLLOWED_MAX = 256 };

typedef struct used {
    const module_scope *in;
    const char *alias, *path; /* alias NULL: all of the module */
    const source_file *file;
    uint32_t from, until;
    struct used *next;
} used;

typedef struct declared {
    const module_scope *in;
    const char *name, *internal;
    struct declared *next;
} declared;

struct module_scope {
    const char *name;
    module_scope *parent, *first_child, *next_sibling;
    const module_scope *same; /* NULL, or the module that has the items */
    used *globs;
    bool is_block; /* a function's body: what it does not declare means what it means around it */
};

struct module_names {
    masu__arena *arena;
    module_scope root;
    declared *items[BUCKETS]; /* the latest first */
    used *uses[BUCKETS];
    uint32_t count;
    bool is_settled;
};

/* The target of a path: an item, a module, or neither. */
typedef struct target {
    const declared *item;
    const module_scope *module;
} target;

typedef struct question {
    const module_names *names;
    source_span at;
    uint32_t depth;
    uint32_t followed; /* imports that name each other would be gone through in every order */
} question;

static uint32_t bucket(const char *name, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash % BUCKETS;
}

static bool is(const char *name, const char *part, size_t length) {
    return strncmp(name, part, length) == 0 && name[length] == 0;
}

/* ---- what is noted --------------------------------------------------------------------------- */

module_names *modules_new(masu__arena *arena) {
    module_names *names = masu__arena_calloc(arena, 1, sizeof *names, _Alignof(module_names));
    if (names != NULL) {
        names->arena = arena;
        names->root.name = "crate";
    }
    return names;
}

module_scope *modules_root(module_names *names) {
    return &names->root;
}

static module_scope *child(const module_scope *in, const char *name, size_t length) {
    module_scope *m = in->first_child;
    while (m != NULL && !is(m->name, name, length))
        m = m->next_sibling;
    return m;
}

module_scope *modules_enter(module_names *names, module_scope *in, const char *name) {
    module_scope *m = child(in, name, strlen(name));
    if (m == NULL) {
        m = masu__arena_calloc(names->arena, 1, sizeof *m, _Alignof(module_scope));
        if (m != NULL) {
            *m = (module_scope){.name = name, .parent = in, .next_sibling = in->first_child};
            in->first_child = m;
        }
    }
    return m;
}

module_scope *modules_enter_block(module_names *names, module_scope *in, const char *name) {
    module_scope *m = modules_enter(names, in, name);
    if (m != NULL)
        m->is_block = true;
    return m;
}

void modules_same(module_scope *a, module_scope *b) {
    if (a != b && a->same == NULL && b->same == NULL)
        a->same = b;
}

static const declared *item_of(const module_names *names, const module_scope *in, const char *name, size_t length) {
    const declared *d = names->items[bucket(name, length)];
    while (d != NULL && (d->in != in || !is(d->name, name, length)))
        d = d->next;
    return d;
}

bool modules_declare(module_names *names, module_scope *in, const char *name) {
    if (names->is_settled || item_of(names, in, name, strlen(name)) != NULL)
        return true;
    declared *d = masu__arena_calloc(names->arena, 1, sizeof *d, _Alignof(declared));
    if (d == NULL)
        return false;
    declared **slot = &names->items[bucket(name, strlen(name))];
    *d = (declared){.in = in, .name = name, .internal = name, .next = *slot};
    *slot = d;
    return true;
}

bool modules_use(module_names *names, module_scope *in, const char *path, const char *alias, const source_file *file,
                 uint32_t from, uint32_t until) {
    if (names->is_settled)
        return true;
    used *u = masu__arena_calloc(names->arena, 1, sizeof *u, _Alignof(used));
    if (u == NULL)
        return false;
    used **slot = alias == NULL ? &in->globs : &names->uses[bucket(alias, strlen(alias))];
    *u = (used){in, alias, path, file, from, until, *slot};
    *slot = u;
    return true;
}

/* ---- what is found --------------------------------------------------------------------------- */

static target find_path(question *q, const module_scope *in, const char *path, const char **goes_on);

static bool holds_here(const question *q, const used *u) {
    return u->file == NULL || (u->file == q->at.file && q->at.offset >= u->from && q->at.offset < u->until);
}

/* `use` of a block goes before that of its module. NULL: none. */
static const used *use_of(const question *q, const module_scope *in, const char *name, size_t length, bool of_block) {
    const used *u = q->names->uses[bucket(name, length)];
    while (u != NULL &&
           (u->in != in || (u->file != NULL) != of_block || !holds_here(q, u) || !is(u->alias, name, length)))
        u = u->next;
    return u;
}

static target follow(question *q, const module_scope *in, const used *u, bool module) {
    target found = {0};
    const char *goes_on;
    if (q->depth < DEPTH_MAX && q->followed < FOLLOWED_MAX) {
        q->depth++;
        q->followed++;
        found = find_path(q, in, u->path, &goes_on);
        q->depth--;
        if (goes_on != NULL)
            found = (target){0}; /* a variant, say */
    }
    if (module)
        found.item = NULL;
    return found;
}

/* The meaning of `name` in `in`: an item, or a module when that is asked for. */
static target find_in(question *q, const module_scope *in, const char *name, size_t length, bool module) {
    target found = {0};
    in = in->same != NULL ? in->same : in;
    const used *u = use_of(q, in, name, length, true);
    if (u != NULL)
        found = follow(q, in, u, module);
    if (found.item == NULL && found.module == NULL) {
        found.item = module ? NULL : item_of(q->names, in, name, length);
        found.module = module ? child(in, name, length) : NULL;
    }
    u = found.item == NULL && found.module == NULL ? use_of(q, in, name, length, false) : NULL;
    if (u != NULL)
        return follow(q, in, u, module);
    for (u = in->globs; u != NULL && found.item == NULL && found.module == NULL; u = u->next) {
        const module_scope *all = holds_here(q, u) ? follow(q, in, u, true).module : NULL;
        if (all != NULL && all != in && q->depth < DEPTH_MAX) {
            q->depth++;
            found = find_in(q, all, name, length, module);
            q->depth--;
        }
    }
    bool known = found.item != NULL || found.module != NULL;
    return known || !in->is_block ? found : find_in(q, in->parent, name, length, module);
}

static const module_scope *around_blocks(const module_scope *in) {
    while (in->is_block)
        in = in->parent;
    return in;
}

/* crate, self, super, or a module's name */
static const module_scope *module_of(question *q, const module_scope *in, const char *name, size_t length, bool first) {
    if (is("crate", name, length))
        return &q->names->root;
    if (is("self", name, length))
        return around_blocks(in);
    if (is("super", name, length)) {
        in = around_blocks(in);
        return in->parent != NULL ? in->parent : in;
    }
    target found = find_in(q, in, name, length, true);
    if (found.module == NULL && first)
        found = find_in(q, &q->names->root, name, length, true);
    return found.module;
}

static target find_path(question *q, const module_scope *in, const char *path, const char **goes_on) {
    const char *part = path;
    *goes_on = NULL;
    for (bool first = true;; first = false) {
        const char *end = strstr(part, "::");
        size_t length = end == NULL ? strlen(part) : (size_t)(end - part);
        const module_scope *m = end == NULL ? NULL : module_of(q, in, part, length, first);
        if (m == NULL) {
            target found = find_in(q, in, part, length, false);
            if (found.item == NULL && first && in != &q->names->root)
                found = find_in(q, &q->names->root, part, length, false);
            if (found.item == NULL && end == NULL)
                found.module = module_of(q, in, part, length, first);
            *goes_on = end == NULL ? NULL : end + 2;
            return found;
        }
        in = m;
        part = end + 2;
    }
}

const char *modules_declared(const module_names *names, const module_scope *in, const char *name) {
    const declared *d = item_of(names, in, name, strlen(name));
    return d == NULL ? name : d->internal;
}

bool modules_declared_anywhere(const module_names *names, const char *name) {
    const declared *d = names->items[bucket(name, strlen(name))];
    while (d != NULL && strcmp(d->name, name) != 0)
        d = d->next;
    return d != NULL;
}

size_t modules_plain_length(const char *name) {
    const char *mark = strchr(name, MODULES_MARK);
    return mark == NULL ? strlen(name) : (size_t)(mark - name);
}

const char *modules_find(const module_names *names, const module_scope *in, const char *path, source_span at,
                         const char **goes_on) {
    question q = {.names = names, .at = at};
    target found = find_path(&q, in, path, goes_on);
    return found.item == NULL ? NULL : found.item->internal;
}

/* ---- whether names clash --------------------------------------------------------------------- */

/* The first to declare the name keeps it, but for the root. */
static const declared *keeper(const declared *all, const char *name) {
    const declared *kept = NULL;
    for (const declared *d = all; d != NULL; d = d->next) {
        bool named = strcmp(d->name, name) == 0;
        if (named && d->in->parent == NULL)
            return d;
        kept = named ? d : kept;
    }
    return kept;
}

static bool tell_apart(module_names *names, declared *all, masu_status *status) {
    bool clash = false;
    for (declared *d = all; d != NULL; d = d->next) {
        if (keeper(all, d->name) != d) {
            clash = true;
            const char *made = masu__arena_printf(names->arena, "%s%c%u", d->name, MODULES_MARK, names->count++);
            if (made == NULL) {
                *status = MASU_ERR_OUT_OF_MEMORY;
                return false;
            }
            d->internal = made;
        }
    }
    return clash;
}

/* `use a::f as g`, where g means something else elsewhere, or where it is a module. */
static bool alias_clashes(const module_names *names, const used *u) {
    const char *last = u->path;
    for (const char *at = last; (at = strstr(at, "::")) != NULL;) {
        at += 2;
        last = at;
    }
    if (strcmp(last, u->alias) == 0)
        return false;
    for (const declared *d = names->items[bucket(u->alias, strlen(u->alias))]; d; d = d->next)
        if (strcmp(d->name, u->alias) == 0)
            return true;
    for (const used *o = names->uses[bucket(u->alias, strlen(u->alias))]; o != NULL; o = o->next)
        if (o != u && strcmp(o->alias, u->alias) == 0 && strcmp(o->path, u->path) != 0)
            return true;
    question q = {.names = names, .at = {.file = u->file, .offset = u->from}};
    const char *goes_on;
    target found = find_path(&q, u->in, u->path, &goes_on);
    return found.item == NULL && found.module != NULL && goes_on == NULL;
}

bool modules_clash(module_names *names, masu_status *status) {
    bool clash = false;
    *status = MASU_OK;
    for (uint32_t i = 0; i < BUCKETS && *status == MASU_OK; i++)
        clash |= tell_apart(names, names->items[i], status);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (const used *u = names->uses[i]; u != NULL && !clash; u = u->next)
            clash = alias_clashes(names, u);
    names->is_settled = clash && *status == MASU_OK;
    return names->is_settled;
}

bool modules_are_settled(const module_names *names) {
    return names->is_settled;
}
