/* report.h: the forms of `masu report`. Each appends to a buffer; all say the same facts. */
#ifndef MASU_TOOL_REPORT_REPORT_H
#define MASU_TOOL_REPORT_REPORT_H

#include "base/buffer.h"
#include "tool/report/facts.h"

/* other: the second run of --diff; NULL: there is one. */
void report_text(masu__buffer *out, const report_facts *facts, const report_facts *other);
void report_json(masu__buffer *out, const report_facts *facts, const report_facts *other);
void report_html(masu__buffer *out, const report_facts *facts, const report_facts *other);

/* Sentences: what a person should know first. Shared by all forms (report_words.c). */
void report_say_peak(masu__buffer *out, const report_facts *facts);
void report_say_fragmentation(masu__buffer *out, const report_facts *facts);
void report_say_leaks(masu__buffer *out, const report_facts *facts);
void report_say_whole(masu__buffer *out, const report_facts *facts); /* whether something is missing; "" when not */
void report_say_refusal(masu__buffer *out, const report_facts *facts, const report_refusal *refusal);

/* The page without its data: page.html, embedded when masu is built. */
extern const char report_page[];
extern const size_t report_page_bytes;

#endif
