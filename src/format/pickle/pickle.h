/* format/pickle/pickle.h - a Python pickle as an inert tree of values. docs/formats/torch.md.
 *
 * Nothing is looked up, imported, called or made: what a pickle would call stands in the tree as a call. All protocols
 * (0 to 5) are read. Decoding takes time and memory in proportion to the bytes, at most SHD_PICKLE_MEMORY bytes for
 * each: what is shared stays shared, so that a walk through the tree may be exponentially longer than the pickle, and
 * may not end where values contain themselves. Who walks counts what it does. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define SHD_PICKLE_MEMORY 128
/* How deep a walk through values may go. */
#define SHD_PICKLE_DEPTH 400

typedef enum shd_pickle_kind {
	SHD_PICKLE_NONE = 0,
	SHD_PICKLE_BOOL,
	SHD_PICKLE_INT,
	SHD_PICKLE_LONG, /* does not fit INT: its two's complement, little-endian, more than 8 bytes */
	SHD_PICKLE_FLOAT,
	SHD_PICKLE_TEXT,   /* UTF-8, checked */
	SHD_PICKLE_BYTES,  /* also text that is no UTF-8 */
	SHD_PICKLE_GLOBAL, /* something that would be imported */
	/* Those with a node: */
	SHD_PICKLE_TUPLE,
	SHD_PICKLE_LIST,
	SHD_PICKLE_SET,
	SHD_PICKLE_DICT,
	SHD_PICKLE_CALL,   /* what calling something would have given */
	SHD_PICKLE_OBJECT, /* what making an object of a class would have given */
	SHD_PICKLE_PERSID, /* what the reader's program would have found under a name: args */
	SHD_PICKLE_MARK    /* never handed out */
} shd_pickle_kind;

typedef struct shd_pickle_value {
	uint32_t kind;
	uint32_t len; /* of text, bytes and longs; of a global, which one */
	union {
		int64_t integer; /* also of BOOL */
		double real;
		const char *text; /* not NUL-terminated */
		struct shd_pickle_node *node;
	};
} shd_pickle_value;

/* Values in the order in which they were added; of pairs, key and value alternate. */
typedef struct shd_pickle_run {
	struct shd_pickle_run *next;
	size_t count;
	shd_pickle_value items[];
} shd_pickle_run;

typedef struct shd_pickle_list {
	shd_pickle_run *first, *last;
	size_t count; /* values; twice that of the pairs */
} shd_pickle_list;

typedef struct shd_pickle_node {
	uint32_t number; /* below nodes of the pickle: no two are alike */
	uint32_t at;     /* the byte of the pickle that made it */
	shd_pickle_list items;
} shd_pickle_node;

/* Of CALL, OBJECT and PERSID; items are what was appended, pairs what was set, state what it was built with. */
typedef struct shd_pickle_call {
	shd_pickle_node node;
	shd_pickle_value callee; /* anything */
	shd_pickle_value args;   /* a tuple; of PERSID anything */
	shd_pickle_value state;  /* NONE: none */
	shd_pickle_list pairs;
} shd_pickle_call;

typedef struct shd_pickle_global {
	const char *name; /* "os.system"; UTF-8, NUL-terminated */
	uint32_t at;      /* where it is first named */
	bool called;
	bool wild; /* of getattr: it was called for something else than a plain attribute of something harmless */
} shd_pickle_global;

typedef struct shd_pickle {
	shd_pickle_value root;
	size_t bytes;   /* with its end; others may follow */
	uint32_t nodes; /* how many there are */
	const shd_pickle_global *globals;
	size_t global_count; /* also when decoding failed: those that were named before */
} shd_pickle;

/* Decodes the pickle that the bytes begin with; the tree points into them, and lives in the arena. What is damaged is
 * SHERD_ECORRUPT, "bad-pickle" or "truncated"; the message names something dangerous that would have been called
 * before.
 */
int shd_pickle_decode(const void *data, size_t len, shd_arena *arena, shd_pickle *out, sherd_error *err);

static inline bool shd_pickle_has_node(shd_pickle_value v)
{
	return v.kind >= SHD_PICKLE_TUPLE && v.kind < SHD_PICKLE_MARK;
}

static inline const shd_pickle_call *shd_pickle_call_of(shd_pickle_value v)
{
	return v.kind >= SHD_PICKLE_CALL && v.kind <= SHD_PICKLE_PERSID ? (const shd_pickle_call *)v.node : NULL;
}

static inline shd_str shd_pickle_text(shd_pickle_value v)
{
	return (shd_str){v.text, v.len};
}

static inline bool shd_pickle_is_text(shd_pickle_value v, const char *text)
{
	return v.kind == SHD_PICKLE_TEXT && shd_str_is(shd_pickle_text(v), text);
}

/* The items of a tuple, side by side, and how many; 0 of anything else. */
size_t shd_pickle_tuple(shd_pickle_value v, const shd_pickle_value **out);

/* Walks a list, never beyond its count: for (c = shd_pickle_walk(&list); shd_pickle_next(&c, &v);). */
typedef struct shd_pickle_cursor {
	const shd_pickle_run *run;
	size_t at;
	size_t left; /* values to come */
} shd_pickle_cursor;

static inline shd_pickle_cursor shd_pickle_walk(const shd_pickle_list *list)
{
	return (shd_pickle_cursor){list->first, 0, list->count};
}

bool shd_pickle_next(shd_pickle_cursor *c, shd_pickle_value *out);

/* Pairs of a dictionary: of DICT, and of what was set on a call or object; NULL of anything else. */
const shd_pickle_list *shd_pickle_pairs(shd_pickle_value v);
/* The value of the last pair with this text as key; NONE when there is none. */
shd_pickle_value shd_pickle_find(shd_pickle_value v, const char *key);

/* What a global is known to do. */
typedef enum shd_pickle_verdict {
	SHD_PICKLE_HARMLESS = 0, /* makes values, and is recognised here */
	SHD_PICKLE_UNKNOWN,      /* would run whatever code goes by that name */
	SHD_PICKLE_DANGEROUS     /* runs commands or code, reads or writes files, or opens connections */
} shd_pickle_verdict;
shd_pickle_verdict shd_pickle_judge(const char *global);
/* The same of a global as the pickle uses it: enumerations are made by getattr. */
shd_pickle_verdict shd_pickle_judge_use(const shd_pickle_global *global);
