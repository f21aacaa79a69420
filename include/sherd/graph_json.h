/* sherd/graph_json.h - nodes and edges as JSON Lines, one record a line.
 *
 * A node is {"id", "semanticId"?, "nodeType"?, "name"?, "file"?, "exported"?, "metadata"?, "contentHash"?}, an edge
 * {"src", "dst", "edgeType"?, "metadata"?}. An id is a text, as sherd_graph_id_of() takes it, or a number of up to 128
 * bits. Metadata as a text is kept as it is; as an object it is written compactly with sorted keys. What is absent or
 * null is what the real server makes of it: the type UNKNOWN, name, file and metadata empty, and for the semantic id
 * the text TYPE:name@file. Other keys are passed over. */
#ifndef SHERD_GRAPH_JSON_H
#define SHERD_GRAPH_JSON_H

#include <sherd/graph.h>

SHERD_BEGIN_DECLS

typedef enum sherd_graph_record {
	SHERD_GRAPH_ANY = 0, /* an edge is what has a "src" or a "dst" */
	SHERD_GRAPH_NODE = 1,
	SHERD_GRAPH_EDGE = 2
} sherd_graph_record;

/* Records that were read from lines, until they are cleared. Belongs to one thread. */
typedef struct sherd_graph_lines sherd_graph_lines;

/* Begins without records. limits gives depth, number_bytes, and the longest line (metadata_bytes); NULL means defaults.
 */
SHERD_API int sherd_graph_lines_open(sherd_graph_lines **out, const sherd_limits *limits, sherd_error *err);
SHERD_API void sherd_graph_lines_close(sherd_graph_lines *lines); /* NULL is fine */
/* Reads one line, with or without its end, which need not outlive the call. Returns what it was, or 0 when there is
 * nothing but white space on it. Offsets of errors count from the start of the line. SHERD_ECORRUPT of what
 * is no record ("bad-json", "missing-key", "bad-type", ...), SHERD_ELIMIT of a line that is too long. */
SHERD_API int sherd_graph_lines_add(sherd_graph_lines *lines, sherd_graph_record what, const char *line, size_t len,
                                    sherd_error *err);
/* In the order of their lines, as sherd_graph_add_nodes() and the others take them; until the next call that adds or
 * clears. */
SHERD_API size_t sherd_graph_lines_nodes(const sherd_graph_node **out, const sherd_graph_lines *lines);
/* The same of edges. */
SHERD_API size_t sherd_graph_lines_edges(const sherd_graph_edge **out, const sherd_graph_lines *lines);
/* Forgets the records; what was handed out is not valid any more. */
SHERD_API void sherd_graph_lines_clear(sherd_graph_lines *lines);

/* ---- many lines */

/* Where lines come from. */
typedef struct sherd_graph_source {
	/* Puts at most room bytes into buf, and returns how many; 0 at the end, or a code after filling err. */
	int64_t (*read)(void *arg, void *buf, size_t room, sherd_error *err);
	void *arg;
	const char *name;        /* the object of errors; NULL: they have none */
	sherd_graph_record what; /* its lines are */
	uint64_t size;           /* for progress; 0: unknown */
} sherd_graph_source;

/* Adds every line that the source has. Errors have its name, the line in their message, and offsets from its start;
 * after one, what was added before stays. name must outlive the records. */
SHERD_API int sherd_graph_lines_read(sherd_graph_lines *lines, const sherd_graph_source *source, sherd_error *err);
/* Where rc is what a writer says of one of these records by its index, says it of the line that it stood on, as above,
 * and SHERD_EINVAL becomes SHERD_ECORRUPT: the data is to blame, not the call. nodes: how many of the records were
 * nodes that were given before edges. Returns the code. */
SHERD_API int sherd_graph_lines_blame(const sherd_graph_lines *lines, size_t nodes, int rc, sherd_error *err);

typedef struct sherd_graph_import_options {
	bool skip_unknown;              /* edges whose source is no node are left out, and counted */
	sherd_pool *pool;               /* reads lines while others are added; may be NULL */
	const sherd_limits *limits;     /* as sherd_graph_lines_open() */
	const sherd_progress *progress; /* bytes of lines */
} sherd_graph_import_options;

typedef struct sherd_graph_import_result {
	uint64_t nodes, edges; /* that were added */
	uint64_t skipped;      /* edges that were left out */
} sherd_graph_import_result;

/* Adds what the source holds to a writer, whose buffer makes room (sherd_graph_spill()) as often as is needed: memory
 * does not grow with the source, but for each worker by some pieces of lines. What is added, in which order, and which
 * error is told, does not depend on the pool. After a failure the writer is good for closing only. Errors as
 * sherd_graph_lines_read() and sherd_graph_lines_blame(). result may be NULL. */
SHERD_API int sherd_graph_import(sherd_graph *graph, const sherd_graph_source *source,
                                 const sherd_graph_import_options *options, sherd_graph_import_result *result,
                                 sherd_error *err);

/* Where lines go: SHERD_OK, 1 to stop (the call then succeeds), or a code after filling err. */
typedef int sherd_graph_sink_fn(void *arg, const void *text, size_t len, sherd_error *err);

typedef struct sherd_graph_export_options {
	bool nodes, edges;              /* which; nodes come first */
	sherd_pool *pool;               /* makes lines; may be NULL */
	const sherd_progress *progress; /* bytes of lines; the total is not known */
} sherd_graph_export_options;

typedef struct sherd_graph_export_result {
	uint64_t nodes, edges, bytes;
} sherd_graph_export_result;

/* Hands everything that is live to the sink, whole lines at a time, on the caller's thread. The bytes do not depend on
 * the pool. result may be NULL. */
SHERD_API int sherd_graph_export(const sherd_graph *graph, const sherd_graph_export_options *options,
                                 sherd_graph_sink_fn *sink, void *arg, sherd_graph_export_result *result,
                                 sherd_error *err);

/* One line, without its end, that reads back as the same record: ids are decimal texts; of an exported node the
 * metadata comes without the mark and with sorted keys; what is empty is left out. NUL-terminated. As with
 * getline(), *line is used again and grows: begin with NULL and *room 0, end with sherd_free(). */
SHERD_API int sherd_graph_node_line(char **line, size_t *room, size_t *len, const sherd_graph_node *node,
                                    sherd_error *err);
/* The same of an edge. */
SHERD_API int sherd_graph_edge_line(char **line, size_t *room, size_t *len, const sherd_graph_edge *edge,
                                    sherd_error *err);

SHERD_END_DECLS

#endif
