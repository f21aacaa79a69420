/* fuzz_json - whatever the bytes, the parser ends with a verdict; what it accepts, the writer can write again so
 * that the same tokens come back. */
#include "base/error.h"
#include "codec/json.h"
#include "codec/seal.h"
#include "form.h"

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const fuzz_form *const fuzz_target_form = &form_json;

enum { DEPTH = 64 };

/* The kinds of the open containers, innermost last. */
typedef struct nesting {
	bool object[DEPTH];
	unsigned depth;
} nesting;

/* Tokens as bytes: a letter, and for texts their length and content. */
static void note(sherd_buf *tokens, char kind, sherd_str text)
{
	sherd_buf_u8(tokens, (uint8_t)kind);
	sherd_buf_u64(tokens, text.len);
	sherd_buf_append(tokens, text.ptr, text.len);
}

static int open_container(sherd_json *j, int type, sherd_json_writer *w, nesting *n, sherd_error *err)
{
	bool object = type == SHERD_JSON_OBJECT, within_line = n->depth % 3 == 2;
	if (object) {
		TRY(sherd_json_object(j, err));
		sherd_json_put_object(w, within_line);
	} else {
		TRY(sherd_json_array(j, err));
		sherd_json_put_array(w, within_line);
	}
	n->object[n->depth++] = object;
	return SHERD_OK;
}

static int copy_scalar(sherd_json *j, int type, sherd_json_writer *w, sherd_buf *tokens, sherd_error *err)
{
	sherd_str text = SHERD_STR("");
	bool truth;
	switch (type) {
	case SHERD_JSON_STRING:
		TRY(sherd_json_string(j, &text, err));
		note(tokens, 's', text);
		sherd_json_put_string(w, text);
		return SHERD_OK;
	case SHERD_JSON_NUMBER:
		TRY(sherd_json_number(j, &text, err));
		note(tokens, '0', text);
		sherd_json_put_raw(w, text);
		return SHERD_OK;
	case SHERD_JSON_NULL:
		TRY(sherd_json_null(j, err));
		note(tokens, 'n', text);
		sherd_json_put_null(w);
		return SHERD_OK;
	default:
		TRY(sherd_json_bool(j, &truth, err));
		note(tokens, truth ? 't' : 'f', text);
		sherd_json_put_bool(w, truth);
		return SHERD_OK;
	}
}

/* Moves to the next value: 1, or 0 when the document is over. */
static int next_value(sherd_json *j, sherd_json_writer *w, nesting *n, sherd_buf *tokens, sherd_error *err)
{
	while (n->depth) {
		bool object = n->object[n->depth - 1];
		sherd_str key = SHERD_STR("");
		int more = object ? sherd_json_key(j, &key, err) : sherd_json_item(j, err);
		TRY(more);
		if (more) {
			note(tokens, object ? 'k' : ',', key);
			if (object)
				sherd_json_put_key_str(w, key);
			return 1;
		}
		note(tokens, ')', SHERD_STR(""));
		if (object)
			sherd_json_put_object_end(w);
		else
			sherd_json_put_array_end(w);
		n->depth--;
	}
	return 0;
}

static int copy(const void *data, size_t size, sherd_buf *tokens, sherd_buf *text, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	sherd_json_writer w;
	nesting n = {0};
	int more;
	sherd_json_writer_init(&w, text);
	TRY(sherd_json_open(&j, data, size, NULL, err));
	do {
		int type = sherd_json_peek(j, err);
		TRY(type);
		if (type == SHERD_JSON_OBJECT || type == SHERD_JSON_ARRAY) {
			note(tokens, type == SHERD_JSON_OBJECT ? '{' : '[', SHERD_STR(""));
			TRY(open_container(j, type, &w, &n, err));
		} else {
			TRY(copy_scalar(j, type, &w, tokens, err));
		}
		more = next_value(j, &w, &n, tokens, err);
	} while (more > 0);
	TRY(more);
	return sherd_json_end(j, err);
}

static void must(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SHERD_AUTO_BUF tokens = {0}, text = {0}, tokens_again = {0}, text_again = {0};
	sherd_error err = {0};
	size_t bad;
	(void)sherd_seal_check(data, size);
	int rc = sherd_json_check(data, size, NULL, &err);
	/* Reading value by value comes to the same verdict, at the same byte. */
	sherd_error pulled = {0};
	must(copy(data, size, &tokens, &text, &pulled) == rc);
	if (rc < 0) {
		must(err.offset == pulled.offset && strcmp(err.reason, pulled.reason) == 0 && err.offset <= size);
		return 0;
	}
	must(sherd_utf8_valid(data, size, &bad));
	must(copy(text.data, text.len, &tokens_again, &text_again, &err) == SHERD_OK);
	must(tokens.len == tokens_again.len && memcmp(tokens.data, tokens_again.data, tokens.len) == 0);
	must(text.len == text_again.len && memcmp(text.data, text_again.data, text.len) == 0);
	return 0;
}
