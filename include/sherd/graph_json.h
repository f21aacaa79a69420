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
/* The id that the edge of this index begins at, as its line says it: for messages. */
SHERD_API sherd_graph_text sherd_graph_lines_source(const sherd_graph_lines *lines, size_t edge);
/* Forgets the records; what was handed out is not valid any more. */
SHERD_API void sherd_graph_lines_clear(sherd_graph_lines *lines);

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
