/* write_pickle.h: pickles by hand, so that tests need no Python: instructions of protocol 4, one call each. */
#ifndef MASU_TESTS_WRITE_PICKLE_H
#define MASU_TESTS_WRITE_PICKLE_H

#include "base/buffer.h"

void put_code(masu__buffer *out, char code);
void put_begin(masu__buffer *out); /* PROTO 4 */
void put_end(masu__buffer *out);   /* STOP */
void put_int(masu__buffer *out, long long value);
void put_text(masu__buffer *out, const char *text);
void put_bool(masu__buffer *out, int value);

/* A dict or list: open, what it holds, close. */
void open_dict(masu__buffer *out);
void close_dict(masu__buffer *out);
void open_list(masu__buffer *out);
void close_list(masu__buffer *out);
/* A key and its value. */
void put_number(masu__buffer *out, const char *key, long long value);
void put_word(masu__buffer *out, const char *key, const char *value);

/* ---- snapshots ------------------------------------------------------------------------------------------------ */

/* A snapshot: begin_snapshot, segments, begin_traces, entries, end_snapshot. */
void begin_snapshot(masu__buffer *out);
void open_segment(masu__buffer *out, long long address, long long bytes, int is_small, int is_expandable);
void put_block(masu__buffer *out, long long address, long long bytes, long long asked, int is_live);
void close_segment(masu__buffer *out);
void begin_traces(masu__buffer *out);
void put_entry(masu__buffer *out, const char *action, long long address, long long bytes, long long stream,
               long long time);
/* The list of this device is over, the next device's begins. */
void next_device(masu__buffer *out);
/* expandable: -1: the snapshot says nothing of its settings. max_split: -1: no limit. */
void end_snapshot(masu__buffer *out, int expandable, long long max_split);

#endif
