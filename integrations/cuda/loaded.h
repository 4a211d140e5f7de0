/* loaded.h: what is loaded into the process, as the loader tells it, and which symbols an object itself defines.
 *
 * dlsym answers by scopes; here the question is "who defines this name, and does it stand in front of us?". Answers
 * hold as long as the generation is the same: it changes whenever anything is loaded or unloaded.
 */
#ifndef MASU_CUDA_LOADED_H
#define MASU_CUDA_LOADED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct masu_object {
    uintptr_t base, first, last; /* addresses from first up to last lie in it */
    const void *dynamic;
    const char *path; /* the loader's text; "" for the program */
    bool in_front;    /* of us, in the order in which names are looked up */
    bool ours;
} masu_object;

/* A number for what is loaded now. Cost: one call of the loader. Any thread. */
uint64_t masu_cuda_generation(void);
/* The object that holds the address; false: none (code made at run time). */
bool masu_cuda_object_of(const void *address, masu_object *out);
/* The object's own definition of that name; NULL: none. */
void *masu_cuda_defined(const masu_object *object, const char *name);
/* The first definition of the name in load order, of those that stand behind us, also of those in a
 * scope of their own (RTLD_LOCAL). NULL: there is none. */
void *masu_cuda_defined_behind(const char *name);

#endif
