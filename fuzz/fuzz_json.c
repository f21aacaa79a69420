/* fuzz_json - whatever the bytes, the parser ends with a verdict; what it accepts, the writer can write again so
 * that the same tokens come back. */
#include "base/error.h"
#include "codec/json.h"
#include "codec/seal.h"
#include "form.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const fuzz_form *const fuzz_target_form = &form_json;

enum { DEPTH = 64 };

/* The kinds of the open containers, innermost last. */
typedef struct nesting {
	bool object[DEPTH];
	unsigned depth;
} nesting;

/* Tokens as bytes: a letter, and for texts their length and content. */
static void note(shd_buf *tokens, char kind, shd_str text)
{
	shd_buf_u8(tokens, (uint8_t)kind);
	shd_buf_u64(tokens, text.len);
	shd_buf_append(tokens, text.ptr, text.len);
}

static int open_container(shd_json *j, int type, shd_json_writer *w, nesting *n, sherd_error *err)
{
	bool object = type == SHD_JSON_OBJECT, within_line = n->depth % 3 == 2;
	if (object) {
		TRY(shd_json_object(j, err));
		shd_json_put_object(w, within_line);
	} else {
		TRY(shd_json_array(j, err));
		shd_json_put_array(w, within_line);
	}
	n->object[n->depth++] = object;
	return SHERD_OK;
}

static int copy_scalar(shd_json *j, int type, shd_json_writer *w, shd_buf *tokens, sherd_error *err)
{
	shd_str text = SHD_STR("");
	bool truth;
	switch (type) {
	case SHD_JSON_STRING:
		TRY(shd_json_string(j, &text, err));
		note(tokens, 's', text);
		shd_json_put_string(w, text);
		return SHERD_OK;
	case SHD_JSON_NUMBER:
		TRY(shd_json_number(j, &text, err));
		note(tokens, '0', text);
		shd_json_put_raw(w, text);
		return SHERD_OK;
	case SHD_JSON_NULL:
		TRY(shd_json_null(j, err));
		note(tokens, 'n', text);
		shd_json_put_null(w);
		return SHERD_OK;
	default:
		TRY(shd_json_bool(j, &truth, err));
		note(tokens, truth ? 't' : 'f', text);
		shd_json_put_bool(w, truth);
		return SHERD_OK;
	}
}

/* Moves to the next value: 1, or 0 when the document is over. */
static int next_value(shd_json *j, shd_json_writer *w, nesting *n, shd_buf *tokens, sherd_error *err)
{
	while (n->depth) {
		bool object = n->object[n->depth - 1];
		shd_str key = SHD_STR("");
		int more = object ? shd_json_key(j, &key, err) : shd_json_item(j, err);
		TRY(more);
		if (more) {
			note(tokens, object ? 'k' : ',', key);
			if (object)
				shd_json_put_key_str(w, key);
			return 1;
		}
		note(tokens, ')', SHD_STR(""));
		if (object)
			shd_json_put_object_end(w);
		else
			shd_json_put_array_end(w);
		n->depth--;
	}
	return 0;
}

static int copy(const void *data, size_t size, shd_buf *tokens, shd_buf *text, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_json_writer w;
	nesting n = {0};
	int more;
	shd_json_writer_init(&w, text);
	TRY(shd_json_open(&j, data, size, NULL, err));
	do {
		int type = shd_json_peek(j, err);
		TRY(type);
		if (type == SHD_JSON_OBJECT || type == SHD_JSON_ARRAY) {
			note(tokens, type == SHD_JSON_OBJECT ? '{' : '[', SHD_STR(""));
			TRY(open_container(j, type, &w, &n, err));
		} else {
			TRY(copy_scalar(j, type, &w, tokens, err));
		}
		more = next_value(j, &w, &n, tokens, err);
	} while (more > 0);
	TRY(more);
	return shd_json_end(j, err);
}

static void must(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SHD_AUTO_BUF tokens = {0}, text = {0}, tokens_again = {0}, text_again = {0};
	sherd_error err = {0};
	size_t bad;
	(void)shd_seal_check(data, size);
	int rc = shd_json_check(data, size, NULL, &err);
	/* Reading value by value comes to the same verdict, at the same byte. */
	sherd_error pulled = {0};
	must(copy(data, size, &tokens, &text, &pulled) == rc);
	if (rc < 0) {
		must(err.offset == pulled.offset && strcmp(err.reason, pulled.reason) == 0 && err.offset <= size);
		return 0;
	}
	must(shd_utf8_valid(data, size, &bad));
	must(copy(text.data, text.len, &tokens_again, &text_again, &err) == SHERD_OK);
	must(tokens.len == tokens_again.len && memcmp(tokens.data, tokens_again.data, tokens.len) == 0);
	must(text.len == text_again.len && memcmp(text.data, text_again.data, text.len) == 0);
	return 0;
}
