/* network_header.c: a plan as a C header: the arena's size, an offset for each tensor, and the plan in the form that
 * TensorFlow Lite Micro's NonPersistentMemoryPlannerShim takes, for one memory or several.
 *
 * The shim adds an offset to the arena's address, whatever it is: a buffer of another memory gets the distance of that
 * memory from the arena. Addresses are known when the program is linked, so a function fills in what depends on them.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "tool/plan/network.h"

enum { MOST_PREFIX = NETWORK_MOST_PREFIX, PER_LINE = 8 };

/* The file's name without folder and ending, as a name of C. */
static void prefix_of(const char *path, char out[MOST_PREFIX]) {
    const char *from = strrchr(path, '/');
    size_t length = 0;
    from = from ? from + 1 : path;
    if (!isalpha((unsigned char)*from))
        length = (size_t)snprintf(out, MOST_PREFIX, "net_");
    for (; *from && *from != '.' && length < MOST_PREFIX - 1; from++)
        out[length++] = isalnum((unsigned char)*from) ? (char)tolower((unsigned char)*from) : '_';
    out[length] = 0;
}

static void put_upper(masu__buffer *out, const char *text) {
    for (; *text; text++)
        masu__buffer_putc(out, isalnum((unsigned char)*text) ? (char)toupper((unsigned char)*text) : '_');
}

void network_put_define(masu__buffer *out, const char *prefix, const char *memory, const char *what, uint64_t value) {
    masu__buffer_puts(out, "#define ");
    put_upper(out, prefix);
    if (memory) {
        masu__buffer_putc(out, '_');
        put_upper(out, memory);
    }
    masu__buffer_printf(out, "_%s %" PRIu64 "\n", what, value);
}

static void put_numbers(masu__buffer *out, const char *type, const char *prefix, const char *name, size_t count,
                        int64_t (*of)(const network *, const uint64_t *, const plan_parts *, size_t), const network *n,
                        const uint64_t *offsets, const plan_parts *in) {
    masu__buffer_printf(out, "static const %s %s_%s[%zu] = {", type, prefix, name, count ? count : 1);
    for (size_t i = 0; i < count; i++)
        masu__buffer_printf(out, "%s%" PRId64 ",", i % PER_LINE ? " " : "\n    ", of(n, offsets, in, i));
    masu__buffer_puts(out, count ? "\n};\n" : "0};\n");
}

static int64_t tensor_offset(const network *n, const uint64_t *offsets, const plan_parts *in, size_t tensor) {
    (void)in;
    return n->row_of[tensor] == SIZE_MAX ? -1 : (int64_t)offsets[n->row_of[tensor]];
}

static int64_t buffer_offset(const network *n, const uint64_t *offsets, const plan_parts *in, size_t row) {
    (void)n, (void)in;
    return (int64_t)offsets[row];
}

static int64_t buffer_memory(const network *n, const uint64_t *offsets, const plan_parts *in, size_t row) {
    (void)n, (void)offsets;
    return in->memory_of ? (int64_t)in->memory_of[row] : 0;
}

static int64_t tensor_memory(const network *n, const uint64_t *offsets, const plan_parts *in, size_t tensor) {
    return n->row_of[tensor] == SIZE_MAX ? -1 : buffer_memory(n, offsets, in, n->row_of[tensor]);
}

static void put_shim(masu__buffer *out, const char *prefix, size_t count, size_t memories) {
    masu__buffer_printf(
        out,
        "\n/* The plan for tflite::NonPersistentMemoryPlannerShim: pass reinterpret_cast<const tflite::BufferPlan "
        "*>(&plan), and\n"
        " * the shim to MicroAllocator::Create. Buffers are the tensors in the arena in their order, then scratch "
        "buffers in\n"
        " * the order in which kernels ask. memories[0] is the arena, aligned as the plan; %s_fill is false when a "
        "memory is\n"
        " * farther from it than 31 bits can say. */\n"
        "typedef struct %s_buffer_plan {\n"
        "    int32_t buffer_count;\n"
        "    int32_t offsets[%zu];\n"
        "} %s_buffer_plan;\n\n",
        prefix, prefix, count ? count : 1, prefix);
    masu__buffer_printf(out,
                        "static inline int %s_fill(%s_buffer_plan *plan, const void *const memories[%zu]) {\n"
                        "    int i, fits = 1;\n"
                        "    plan->buffer_count = %zu;\n"
                        "    for (i = 0; i < %zu; i++) {\n"
                        "        int64_t at = (int64_t)((uintptr_t)memories[%s_memory[i]] - (uintptr_t)memories[0]) + "
                        "(int64_t)%s_buffer_offset[i];\n"
                        "        if (sizeof(uintptr_t) == 4)\n"
                        "            at = (int32_t)(uint32_t)at; /* addresses wrap */\n"
                        "        plan->offsets[i] = (int32_t)at;\n"
                        "        fits = fits && plan->offsets[i] == at;\n"
                        "    }\n"
                        "    return fits;\n"
                        "}\n",
                        prefix, prefix, memories, count, count, prefix, prefix);
}

void network_begin_header(const char *path, char prefix[NETWORK_MOST_PREFIX], masu__buffer *out) {
    prefix_of(path, prefix);
    masu__buffer_puts(
        out, "/* Made by masu plan. Offsets are bytes from the beginning of a memory; -1: not in it. */\n#ifndef ");
    put_upper(out, prefix);
    masu__buffer_puts(out, "_PLAN_H\n#define ");
    put_upper(out, prefix);
    masu__buffer_puts(out, "_PLAN_H\n\n#include <stdint.h>\n\n");
}

void network_write_header(const network *n, const uint64_t *offsets, const plan_parts *in, masu__buffer *out) {
    char prefix[MOST_PREFIX];
    network_begin_header(n->args->path, prefix, out);
    for (size_t m = 0; m < in->count; m++)
        network_put_define(out, prefix, in->memory_of ? in->parts[m].name : NULL, "ARENA_BYTES",
                           in->parts[m].height_bytes);
    network_put_define(out, prefix, NULL, "ALIGNMENT", n->alignment);
    network_put_define(out, prefix, NULL, "TENSOR_COUNT", n->model.tensor_count);
    network_put_define(out, prefix, NULL, "BUFFER_COUNT", n->table.count);
    network_put_define(out, prefix, NULL, "MEMORY_COUNT", in->count);
    masu__buffer_puts(out, "\n/* For each tensor of the file, those of all graphs one behind the other. */\n");
    put_numbers(out, "int64_t", prefix, "tensor_offset", n->model.tensor_count, tensor_offset, n, offsets, in);
    put_numbers(out, "int8_t", prefix, "tensor_memory", n->model.tensor_count, tensor_memory, n, offsets, in);
    masu__buffer_puts(out, "\n/* For each buffer: the tensors that are in a memory, then scratch. */\n");
    put_numbers(out, "uint64_t", prefix, "buffer_offset", n->table.count, buffer_offset, n, offsets, in);
    put_numbers(out, "uint8_t", prefix, "memory", n->table.count, buffer_memory, n, offsets, in);
    if (n->model.format == MASU__MODEL_TFLITE)
        put_shim(out, prefix, n->table.count, in->count);
    masu__buffer_puts(out, "\n#endif\n");
}
