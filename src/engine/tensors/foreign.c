#include "engine/tensors/foreign.h"

#include <strings.h>

static bool begins_with_word(shd_str s, const char *word)
{
	size_t at = 0, n = strlen(word);
	while (at < s.len && s.ptr[at] && strchr(" \t\r\n", s.ptr[at]))
		at++;
	return s.len - at >= n && strncasecmp(s.ptr + at, word, n) == 0;
}

/* The protocol, then an instruction that a pickle may begin with: a number alone would be a chance. */
int shd_probe_pickle(shd_evidence *e, sherd_error *err)
{
	(void)err;
	shd_str s = e->first;
	return s.len > 2 && (uint8_t)s.ptr[0] == 0x80 && s.ptr[1] >= 2 && s.ptr[1] <= 5 && s.ptr[2] &&
	       strchr("}]()cX\x8a\x8c\x95", s.ptr[2]);
}

/* A protocol buffer without magic: the version, then a text, who made it. */
int shd_probe_onnx(shd_evidence *e, sherd_error *err)
{
	(void)err;
	shd_str s = e->first;
	if (s.len < 5 || s.ptr[0] != 8 || s.ptr[1] < 1 || s.ptr[1] > 20 || s.ptr[2] != 0x12 || s.ptr[3] < 2)
		return 0;
	for (size_t i = 0; i < (size_t)s.ptr[3] && 4 + i < s.len; i++)
		if (s.ptr[4 + i] < 0x20 || s.ptr[4 + i] > 0x7e)
			return 0;
	return 1;
}

int shd_probe_tflite(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return e->first.len >= 8 && memcmp(e->first.ptr + 4, "TFL3", 4) == 0;
}

int shd_probe_html(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return begins_with_word(e->first, "<!doctype html") || begins_with_word(e->first, "<html");
}

int shd_probe_xml(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return begins_with_word(e->first, "<?xml");
}

bool shd_is_empty(const shd_evidence *e)
{
	return e->size == 0;
}
