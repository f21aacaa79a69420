#include "engine/graph/buffer/metadata.h"

#include "codec/json.h"

#include <sherd/graph.h>

#include <stdlib.h>

#define EXPORTED "__exported"
#define CONTEXT "__file_context"
#define ENRICHMENT "__enrichment__/"

/* Words here begin with "__ in quotes, which is rare: most texts are done with after one look for '_'. */
static bool contains(shd_str text, const char *word)
{
	return text.len && memchr(text.ptr, '_', text.len) && memmem(text.ptr, text.len, word, strlen(word));
}

/* Goes to the value of a key of the outermost object; 1 when it stands there. What is no object has no keys. */
static int seek(shd_json *j, const char *want)
{
	shd_str key;
	int rc = shd_json_object(j, NULL);
	while (rc >= 0 && shd_json_key(j, &key, NULL) > 0) {
		if (shd_str_is(key, want))
			return 1;
		rc = shd_json_skip(j, NULL);
	}
	return 0;
}

bool shd_graph_is_exported(shd_str metadata)
{
	bool value = false;
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	if (!contains(metadata, "\"" EXPORTED "\"") || shd_json_open(&j, metadata.ptr, metadata.len, NULL, NULL) < 0 ||
	    !seek(j, EXPORTED))
		return false;
	return shd_json_bool(j, &value, NULL) == SHERD_OK && value;
}

bool shd_graph_may_name_file(shd_str metadata)
{
	return contains(metadata, "\"" CONTEXT "\"");
}

bool shd_graph_names_file(shd_str metadata, shd_str file)
{
	shd_str context;
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	if (!shd_graph_may_name_file(metadata) || shd_json_open(&j, metadata.ptr, metadata.len, NULL, NULL) < 0 ||
	    !seek(j, CONTEXT) || shd_json_string(j, &context, NULL) < 0)
		return false;
	if (shd_str_starts(context, ENRICHMENT)) {
		size_t head = strlen(ENRICHMENT);
		const char *slash = memchr(context.ptr + head, '/', context.len - head);
		if (!slash)
			return false;
		context.len -= (size_t)(slash + 1 - context.ptr);
		context.ptr = slash + 1;
	}
	return context.len == file.len && memcmp(context.ptr, file.ptr, file.len) == 0;
}

/* A key of an object and the text of its value. */
typedef struct pair {
	size_t key, key_len; /* in the buffer of keys */
	shd_str value;
	const shd_buf *keys;
} pair;

static int buffer_metadata_compare(const void *left, const void *right)
{
	const pair *a = left, *b = right;
	size_t n = a->key_len < b->key_len ? a->key_len : b->key_len;
	int c = memcmp(a->keys->data + a->key, b->keys->data + b->key, n);
	return c ? c : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static int write_value(shd_json_writer *w, shd_str text, sherd_error *err);

/* Objects come out sorted by key, without white space. */
static int write_object(shd_json_writer *w, shd_json *j, int exported, sherd_error *err)
{
	SHD_AUTO_BUF keys = {0};
	SHD_AUTO_VEC SHD_VEC(pair) pairs = {0};
	shd_str key;
	int rc;
	(void)shd_buf_reserve(&keys, 1); /* data must not be NULL where the only key is "" */
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		pair p = {.key = keys.len, .key_len = key.len, .keys = &keys};
		bool mark = exported >= 0 && shd_str_is(key, EXPORTED);
		shd_buf_append(&keys, key.ptr, key.len);
		TRY(shd_json_raw(j, &p.value, err));
		if (!mark)
			shd_vec_push(&pairs, p);
	}
	TRY(rc);
	if (exported > 0) {
		pair p = {.key = keys.len, .key_len = strlen(EXPORTED), .keys = &keys, .value = SHD_STR("true")};
		shd_buf_str(&keys, EXPORTED);
		shd_vec_push(&pairs, p);
	}
	TRY(shd_buf_check(&keys, err));
	TRY(shd_vec_check(&pairs, err));
	pair *list = pairs.items;
	size_t count = pairs.count;
	if (count)
		qsort(list, count, sizeof(*list), buffer_metadata_compare);
	shd_buf_str(w->buf, "{");
	for (size_t i = 0; i < count; i++) {
		if (i)
			shd_buf_str(w->buf, ",");
		shd_json_writer name;
		shd_json_writer_init(&name, w->buf);
		shd_json_put_string(&name, (shd_str){(const char *)keys.data + list[i].key, list[i].key_len});
		shd_buf_str(w->buf, ":");
		TRY(write_value(w, list[i].value, err));
	}
	shd_buf_str(w->buf, "}");
	return SHERD_OK;
}

static int write_array(shd_json_writer *w, shd_json *j, sherd_error *err)
{
	int rc;
	bool first = true;
	TRY(shd_json_array(j, err));
	shd_buf_str(w->buf, "[");
	while ((rc = shd_json_item(j, err)) > 0) {
		shd_str text;
		TRY(shd_json_raw(j, &text, err));
		if (!first)
			shd_buf_str(w->buf, ",");
		first = false;
		TRY(write_value(w, text, err));
	}
	TRY(rc);
	shd_buf_str(w->buf, "]");
	return SHERD_OK;
}

/* As deep as the parser of the whole allowed: no deeper than its limit. */
static int write_value(shd_json_writer *w, shd_str text, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	if (*text.ptr != '{' && *text.ptr != '[') {
		shd_buf_append(w->buf, text.ptr, text.len);
		return SHERD_OK;
	}
	TRY(shd_json_open(&j, text.ptr, text.len, NULL, err));
	return *text.ptr == '{' ? write_object(w, j, -1, err) : write_array(w, j, err);
}

int sherd_graph_metadata(char **out, size_t *len, sherd_graph_text json, bool exported, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_json_writer w;
	bool empty = json.len == 0;
	shd_json_writer_init(&w, &text);
	TRY(shd_json_open(&j, empty ? "{}" : json.ptr, empty ? 2 : json.len, NULL, err));
	if (shd_json_peek(j, err) != SHD_JSON_OBJECT)
		return shd_fail_at(err, SHERD_EINVAL, "bad-type", 0, "metadata is a JSON object");
	TRY(write_object(&w, j, exported, err));
	TRY(shd_json_end(j, err));
	if (text.len == 2 && empty)
		text.len = 0;
	TRY(shd_buf_check(&text, err));
	size_t n = text.len;
	char *taken = shd_buf_take(&text);
	if (!taken)
		return shd_fail_nomem(err);
	*out = taken;
	*len = n;
	return SHERD_OK;
}
