/* engine/graph/json_write.c - records as lines of JSON. */
#include <sherd/graph_json.h>

#include "codec/json.h"

#include <stdlib.h>

static void put_text(sherd_buf *b, const char *key, sherd_graph_text text)
{
	sherd_json_writer w;
	sherd_buf_str(b, key);
	sherd_json_writer_init(&w, b);
	sherd_json_put_string(&w, (sherd_str){text.ptr ? text.ptr : "", text.len});
}

static void put_id(sherd_buf *b, const char *key, sherd_graph_id id)
{
	char digits[SHERD_GRAPH_ID_TEXT];
	sherd_graph_id_format(id, digits);
	sherd_buf_str(b, key);
	sherd_buf_str(b, digits);
	sherd_buf_str(b, "\"");
}

static bool is_empty_object(const char *text, size_t len)
{
	return len == 2 && memcmp(text, "{}", 2) == 0;
}

/* The metadata without the mark, NULL in *out where marking that would not give it back, byte for byte. */
static int unmark(sherd_graph_text metadata, char **out, size_t *len, sherd_error *err)
{
	char *plain, *marked = NULL;
	size_t plain_len, marked_len = 0;
	*out = NULL;
	int rc = sherd_graph_metadata(metadata, false, &plain, &plain_len, NULL);
	if (rc == SHERD_OK && is_empty_object(plain, plain_len))
		plain_len = 0;
	if (rc == SHERD_OK) {
		rc = sherd_graph_metadata((sherd_graph_text){plain, plain_len}, true, &marked, &marked_len, NULL);
		if (rc == SHERD_OK && marked_len == metadata.len && memcmp(marked, metadata.ptr, marked_len) == 0) {
			*out = plain;
			*len = plain_len;
		} else {
			free(plain);
		}
		free(marked);
	}
	return rc == SHERD_ENOMEM ? sherd_fail_nomem(err) : SHERD_OK;
}

static int put_metadata(sherd_buf *b, const sherd_graph_node *node, sherd_error *err)
{
	sherd_graph_text text = node->metadata;
	char *plain = NULL;
	size_t len = 0;
	if (node->exported) {
		TRY(unmark(text, &plain, &len, err));
		sherd_buf_str(b, ",\"exported\":true");
		if (plain)
			text = (sherd_graph_text){plain, len};
	}
	if (text.len)
		put_text(b, ",\"metadata\":", text);
	free(plain);
	return SHERD_OK;
}

/* The caller's memory for as long as the line is written. */
static sherd_buf borrow(char **line, size_t *room)
{
	return (sherd_buf){.data = (uint8_t *)*line, .cap = *line ? *room : 0};
}

/* Gives it back, grown or not. */
static int give_back(sherd_buf *b, char **line, size_t *room, size_t *len, int rc, sherd_error *err)
{
	sherd_buf_u8(b, 0);
	*line = (char *)b->data;
	*room = b->cap;
	TRY(rc);
	TRY(sherd_buf_check(b, err));
	*len = b->len - 1;
	return SHERD_OK;
}

int sherd_graph_node_line(const sherd_graph_node *node, char **line, size_t *room, size_t *len, sherd_error *err)
{
	sherd_buf b = borrow(line, room);
	put_id(&b, "{\"id\":\"", node->id);
	put_text(&b, ",\"semanticId\":", node->semantic_id);
	put_text(&b, ",\"nodeType\":", node->type);
	put_text(&b, ",\"name\":", node->name);
	put_text(&b, ",\"file\":", node->file);
	int rc = put_metadata(&b, node, err);
	if (node->content_hash)
		sherd_buf_printf(&b, ",\"contentHash\":%llu", (unsigned long long)node->content_hash);
	sherd_buf_str(&b, "}");
	return give_back(&b, line, room, len, rc, err);
}

int sherd_graph_edge_line(const sherd_graph_edge *edge, char **line, size_t *room, size_t *len, sherd_error *err)
{
	sherd_buf b = borrow(line, room);
	put_id(&b, "{\"src\":\"", edge->src);
	put_id(&b, ",\"dst\":\"", edge->dst);
	put_text(&b, ",\"edgeType\":", edge->type);
	if (edge->metadata.len)
		put_text(&b, ",\"metadata\":", edge->metadata);
	sherd_buf_str(&b, "}");
	return give_back(&b, line, room, len, SHERD_OK, err);
}
