/* native_module.c: what a shared module made by `masu build --shared` does when its table is called: the runtime's
 * instances (runtime/calls/), with the program's own places in what they say.
 *
 * Lies in libmasu_program.a; module.c, which the build writes, names these functions in `masu_module`.
 */
#include "tool/native/run_end.h"

extern const masu_native_program masu_native_data;
extern void masu_main(void);

/* These are named by text that the build writes (compiler/module_text.c). */
masu_status masu_native_create(const masu_module *module, const masu_instance_options *options, masu_instance **out);
void masu_native_destroy(masu_instance *instance);
masu_status masu_native_call(masu_instance *instance, uint32_t function, const masu_value *arguments,
                             masu_value *results);
const char *masu_native_error(const masu_instance *instance);
void masu_native_release(masu_value *value);
masu_status masu_native_clone(masu_handle *handle, masu_handle **out);
void masu_native_drop(masu_handle *handle);
size_t masu_native_arena_used(const masu_instance *instance);

static bool has_place(const tl_error *error) {
    masu_place_info place;
    for (uint32_t s = 0; s < error->site_count; s++)
        if (masu_native_place(&masu_native_data, error->sites[s], &place))
            return true;
    return false;
}

static void describe(const tl_error *error, masu__buffer *out) {
    masu_text text;
    masu_run_error shown = tool_run_error(error);
    if (!has_place(error) || masu_native_format_error(&masu_native_data, &shown, &text) != MASU_OK) {
        masu__buffer_puts(out, error->text);
        return;
    }
    masu__buffer_append(out, text.data, text.length);
    masu_text_free(&text);
}

masu_status masu_native_create(const masu_module *module, const masu_instance_options *options, masu_instance **out) {
    return tl_instance_create(module, options, masu_main, describe, out);
}

void masu_native_destroy(masu_instance *instance) {
    tl_instance_destroy(instance);
}

masu_status masu_native_call(masu_instance *instance, uint32_t function, const masu_value *arguments,
                             masu_value *results) {
    return tl_instance_call(instance, function, arguments, results);
}

const char *masu_native_error(const masu_instance *instance) {
    return tl_instance_error(instance);
}

void masu_native_release(masu_value *value) {
    tl_value_release(value);
}

masu_status masu_native_clone(masu_handle *handle, masu_handle **out) {
    return tl_handle_clone(handle, out);
}

void masu_native_drop(masu_handle *handle) {
    tl_handle_drop(handle);
}

size_t masu_native_arena_used(const masu_instance *instance) {
    return tl_instance_arena_used(instance);
}
