#include "unit/recording/write_pickle.h"

#include <string.h>

void put_code(masu__buffer *out, char code) {
    masu__buffer_putc(out, code);
}
void put_begin(masu__buffer *out) {
    masu__buffer_append(out, "\x80\x04", 2);
}
void put_end(masu__buffer *out) {
    put_code(out, '.');
}

void put_int(masu__buffer *out, long long value) {
    masu__buffer_append(out, "\x8a\x08", 2);
    for (int i = 0; i < 8; i++)
        put_code(out, (char)((unsigned long long)value >> 8 * i & 0xff));
}
void put_text(masu__buffer *out, const char *text) {
    put_code(out, '\x8c');
    put_code(out, (char)strlen(text));
    masu__buffer_puts(out, text);
}
void put_bool(masu__buffer *out, int value) {
    put_code(out, value ? '\x88' : '\x89');
}

void open_dict(masu__buffer *out) {
    masu__buffer_puts(out, "}(");
}
void close_dict(masu__buffer *out) {
    put_code(out, 'u');
}
void open_list(masu__buffer *out) {
    masu__buffer_puts(out, "](");
}
void close_list(masu__buffer *out) {
    put_code(out, 'e');
}
void put_number(masu__buffer *out, const char *key, long long value) {
    put_text(out, key);
    put_int(out, value);
}
void put_word(masu__buffer *out, const char *key, const char *value) {
    put_text(out, key);
    put_text(out, value);
}

void begin_snapshot(masu__buffer *out) {
    put_begin(out);
    open_dict(out);
    put_text(out, "segments");
    open_list(out);
}
void open_segment(masu__buffer *out, long long address, long long bytes, int is_small, int is_expandable) {
    open_dict(out);
    put_number(out, "address", address);
    put_number(out, "total_size", bytes);
    put_number(out, "stream", 0);
    put_number(out, "device", 0);
    put_word(out, "segment_type", is_small ? "small" : "large");
    put_text(out, "is_expandable");
    put_bool(out, is_expandable);
    put_text(out, "blocks");
    open_list(out);
}
void put_block(masu__buffer *out, long long address, long long bytes, long long asked, int is_live) {
    open_dict(out);
    put_number(out, "address", address);
    put_number(out, "size", bytes);
    put_number(out, "requested_size", asked);
    put_word(out, "state", is_live ? "active_allocated" : "inactive");
    close_dict(out);
}
void close_segment(masu__buffer *out) {
    close_list(out);
    close_dict(out);
}
void begin_traces(masu__buffer *out) {
    close_list(out);
    put_text(out, "device_traces");
    open_list(out);
    open_list(out);
}
void put_entry(masu__buffer *out, const char *action, long long address, long long bytes, long long stream,
               long long time) {
    open_dict(out);
    put_word(out, "action", action);
    put_number(out, strcmp(action, "oom") == 0 ? "device_free" : "addr", address);
    put_number(out, "size", bytes);
    put_number(out, "stream", stream);
    put_number(out, "time_us", time);
    close_dict(out);
}
void next_device(masu__buffer *out) {
    close_list(out);
    open_list(out);
}
void end_snapshot(masu__buffer *out, int expandable, long long max_split) {
    close_list(out);
    close_list(out);
    if (expandable >= 0) {
        put_text(out, "allocator_settings");
        open_dict(out);
        put_text(out, "expandable_segments");
        put_bool(out, expandable);
        put_number(out, "max_split_size", max_split);
        close_dict(out);
    }
    close_dict(out);
    put_end(out);
}
