/* loaded.c: objects and their symbols, read from what the loader keeps of each. See loaded.h.
 *
 * A sanitizer looks up what stands behind its own strcmp through our dlsym, before it has one: nothing here calls a
 * function that could be intercepted.
 */
#include "loaded.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>

/* ---- symbols ------------------------------------------------------------------------------------------------ */

typedef struct symbols {
    uintptr_t base;
    const ElfW(Sym) * table;
    const char *text;
    const uint32_t *gnu_hash;
    const Elf32_Word *hash;
} symbols;

/* The loader writes addresses over the file's offsets, but not in every object. */
static const void *at(uintptr_t base, ElfW(Addr) value) {
    return (const void *)(value < base ? base + value : value);
}

static symbols symbols_of(uintptr_t base, const ElfW(Dyn) * dynamic) {
    symbols s = {.base = base};
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        const void *place = at(base, dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            s.table = place;
            break;
        case DT_STRTAB:
            s.text = place;
            break;
        case DT_GNU_HASH:
            s.gnu_hash = place;
            break;
        case DT_HASH:
            s.hash = place;
            break;
        default:
            break;
        }
    }
    return s;
}

static bool is_text(const char *text, const char *name) {
    while (*text && *text == *name)
        text++, name++;
    return *text == *name;
}

static void *value_if(const symbols *s, size_t i, const char *name) {
    const ElfW(Sym) *symbol = &s->table[i];
    bool function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
    return function && symbol->st_shndx != SHN_UNDEF && is_text(s->text + symbol->st_name, name)
               ? (void *)(s->base + symbol->st_value)
               : NULL;
}

/* buckets, first symbol, words of the filter, shift; filter; buckets; chains whose last hash is odd */
static void *find_by_gnu_hash(const symbols *s, const char *name) {
    uint32_t hash = 5381, buckets = s->gnu_hash[0], first = s->gnu_hash[1];
    const uint32_t *bucket = s->gnu_hash + 4 + s->gnu_hash[2] * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    for (; i >= first && i > 0; i++) {
        uint32_t here = chain[i - first];
        void *value = (here | 1) == (hash | 1) ? value_if(s, i, name) : NULL;
        if (value || (here & 1))
            return value;
    }
    return NULL;
}

static void *find(const symbols *s, const char *name) {
    void *value = NULL;
    if (!s->table || !s->text)
        return NULL;
    if (s->gnu_hash)
        return find_by_gnu_hash(s, name);
    for (Elf32_Word i = 0; s->hash && i < s->hash[1] && !value; i++)
        value = value_if(s, i, name);
    return value;
}

void *masu_cuda_defined(const masu_object *object, const char *name) {
    symbols s = symbols_of(object->base, object->dynamic);
    return find(&s, name);
}

/* ---- objects ------------------------------------------------------------------------------------------------ */

static int note_generation(struct dl_phdr_info *info, size_t size, void *out) {
    (void)size;
    *(uint64_t *)out = ((uint64_t)info->dlpi_adds << 32) + (uint64_t)info->dlpi_subs;
    return 1;
}

uint64_t masu_cuda_generation(void) {
    uint64_t generation = 0;
    dl_iterate_phdr(note_generation, &generation);
    return generation;
}

typedef struct search {
    const void *address; /* NULL: any object */
    const char *name;    /* NULL: any object */
    bool past_us, found;
    masu_object object;
    void *value;
} search;

static masu_object object_from(const struct dl_phdr_info *info) {
    masu_object o = {.base = info->dlpi_addr, .first = UINTPTR_MAX, .path = info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_DYNAMIC)
            o.dynamic = (const void *)from;
        if (part->p_type != PT_LOAD)
            continue;
        o.first = from < o.first ? from : o.first;
        o.last = from + part->p_memsz > o.last ? from + part->p_memsz : o.last;
    }
    o.ours = (uintptr_t)masu_cuda_generation >= o.first && (uintptr_t)masu_cuda_generation < o.last;
    return o;
}

static int look(struct dl_phdr_info *info, size_t size, void *state) {
    (void)size;
    search *s = state;
    masu_object o = object_from(info);
    s->past_us |= o.ours;
    o.in_front = !s->past_us;
    if (s->address) {
        s->found = (uintptr_t)s->address >= o.first && (uintptr_t)s->address < o.last;
    } else if (!o.in_front && !o.ours) {
        s->value = masu_cuda_defined(&o, s->name);
        s->found = s->value != NULL;
    }
    if (s->found)
        s->object = o;
    return s->found;
}

bool masu_cuda_object_of(const void *address, masu_object *out) {
    search s = {.address = address};
    dl_iterate_phdr(look, &s);
    *out = s.object;
    return s.found;
}

void *masu_cuda_defined_behind(const char *name) {
    search s = {.name = name};
    dl_iterate_phdr(look, &s);
    return s.value;
}
