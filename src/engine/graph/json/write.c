/* engine/graph/json/write.c - records as lines of JSON. */
#include <sherd/graph_json.h>

#include "codec/json.h"

#include <stdlib.h>

static void json_write_put_text(shd_buf *b, const char *key, sherd_graph_text text)
{
	shd_json_writer w;
	shd_buf_str(b, key);
	shd_json_writer_init(&w, b);
	shd_json_put_string(&w, (shd_str){text.ptr ? text.ptr : "", text.len});
}

static void put_id(shd_buf *b, const char *key, sherd_graph_id id)
{
	char digits[SHERD_GRAPH_ID_TEXT];
	sherd_graph_id_format(digits, id);
	shd_buf_str(b, key);
	shd_buf_str(b, digits);
	shd_buf_str(b, "\"");
}

/* An object that is empty without the mark was nothing before it was marked, or as good as that. What somebody marked
 * that is no JSON after the mark stays as it is. */
static int put_unmarked(shd_buf *b, sherd_graph_text metadata, sherd_error *err)
{
	char *plain = NULL;
	size_t len;
	int rc = sherd_graph_metadata(&plain, &len, metadata, false, err);
	if (rc == SHERD_ENOMEM)
		return rc;
	if (rc < 0)
		json_write_put_text(b, ",\"metadata\":", metadata);
	else if (len > strlen("{}"))
		json_write_put_text(b, ",\"metadata\":", (sherd_graph_text){plain, len});
	free(plain);
	return SHERD_OK;
}

static int put_metadata(shd_buf *b, const sherd_graph_node *node, sherd_error *err)
{
	if (node->exported) {
		shd_buf_str(b, ",\"exported\":true");
		return put_unmarked(b, node->metadata, err);
	}
	if (node->metadata.len)
		json_write_put_text(b, ",\"metadata\":", node->metadata);
	return SHERD_OK;
}

/* The caller's memory for as long as the line is written. */
static shd_buf borrow(char **line, const size_t *room)
{
	return (shd_buf){.data = (uint8_t *)*line, .cap = *line ? *room : 0};
}

/* Gives it back, grown or not. */
static int give_back(shd_buf *b, char **line, size_t *room, size_t *len, int rc, sherd_error *err)
{
	shd_buf_u8(b, 0);
	*line = (char *)b->data;
	*room = b->cap;
	TRY(rc);
	TRY(shd_buf_check(b, err));
	*len = b->len - 1;
	return SHERD_OK;
}

int sherd_graph_node_line(char **line, size_t *room, size_t *len, const sherd_graph_node *node, sherd_error *err)
{
	shd_buf b = borrow(line, room);
	put_id(&b, "{\"id\":\"", node->id);
	json_write_put_text(&b, ",\"semanticId\":", node->semantic_id);
	json_write_put_text(&b, ",\"nodeType\":", node->type);
	json_write_put_text(&b, ",\"name\":", node->name);
	json_write_put_text(&b, ",\"file\":", node->file);
	int rc = put_metadata(&b, node, err);
	if (node->content_hash)
		shd_buf_printf(&b, ",\"contentHash\":%llu", (unsigned long long)node->content_hash);
	shd_buf_str(&b, "}");
	return give_back(&b, line, room, len, rc, err);
}

int sherd_graph_edge_line(char **line, size_t *room, size_t *len, const sherd_graph_edge *edge, sherd_error *err)
{
	shd_buf b = borrow(line, room);
	put_id(&b, "{\"src\":\"", edge->src);
	put_id(&b, ",\"dst\":\"", edge->dst);
	json_write_put_text(&b, ",\"edgeType\":", edge->type);
	if (edge->metadata.len)
		json_write_put_text(&b, ",\"metadata\":", edge->metadata);
	shd_buf_str(&b, "}");
	return give_back(&b, line, room, len, SHERD_OK, err);
}
