/* trace_format.h: the bytes of a trace file, version 1, for its writer (record_writer.c) and its reader
 * (recording/trace_reader.c). docs/trace-format.md describes them for others.
 *
 *     file      header, chunk, chunk, …
 *     header    "\x89MASU\r\n\x1a"  version u16  header bytes u16  0 u32  began at, ns since 1970, u64  process u64
 *     chunk     "MTCH"  payload bytes u32  CRC-32 of all that follows u32  records u32  time u64  payload
 *     record    kind  fields  time  the fields that are there, in the order of their bits
 *
 * Numbers of a record are LEB128, lowest seven bits first; time is the difference to the record before, or to the
 * chunk's time; the address is the difference to the one before in zigzag. A field that is not there is 0, but pool and
 * thread are those of the record before, and given_bytes is bytes. Each chunk begins with all of them 0.
 */
#ifndef MASU_BASE_TRACE_FORMAT_H
#define MASU_BASE_TRACE_FORMAT_H

#define MASU__TRACE_MAGIC "\x89MASU\r\n\x1a"
#define MASU__TRACE_CHUNK "MTCH"

enum {
    MASU__TRACE_VERSION = 1,
    MASU__TRACE_HEADER_BYTES = 32,
    MASU__TRACE_CHUNK_BYTES = 24,
    MASU__TRACE_MOST_PAYLOAD = 1 << 20,
    MASU__TRACE_MOST_TEXT = 1000,
    MASU__TRACE_MOST_RECORD = 120 + MASU__TRACE_MOST_TEXT /* no record is longer */
};

/* Kinds of records. Below DEFINED: masu_event_kind. */
enum {
    MASU__TRACE_DEFINED = 64,
    MASU__TRACE_PLACE = 64, /* place; other: its caller; bytes: line; text: file, zero, function */
    MASU__TRACE_POOL,       /* pool; other: the pool below; text: layer, zero, name */
    MASU__TRACE_THREAD,     /* thread; text: its name */
    MASU__TRACE_SETTING,    /* text: name, zero, value */
    MASU__TRACE_LOST,       /* bytes: so many events are missing here */
    MASU__TRACE_END         /* the file was closed; bytes: events in it */
};

enum {
    MASU__TRACE_HAS_ADDRESS = 1 << 0,
    MASU__TRACE_HAS_BYTES = 1 << 1,
    MASU__TRACE_HAS_GIVEN = 1 << 2, /* given_bytes - bytes, which may wrap */
    MASU__TRACE_HAS_OTHER = 1 << 3,
    MASU__TRACE_HAS_POOL = 1 << 4,
    MASU__TRACE_HAS_PLACE = 1 << 5,
    MASU__TRACE_HAS_THREAD = 1 << 6,
    MASU__TRACE_HAS_STREAM = 1 << 7,
    MASU__TRACE_HAS_ALIGNMENT = 1 << 8, /* its logarithm */
    MASU__TRACE_HAS_TEXT = 1 << 9,      /* length, bytes */
    MASU__TRACE_FIELDS = (1 << 10) - 1
};

#endif
