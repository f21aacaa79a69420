#include "format/onnx/fields.h"

#include "codec/json.h"

#include <string.h>

int shd_onnx_bad(const shd_onnx_field *field, const char *what, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", field->at, "%s", what);
}

static int onnx_byte(shd_onnx_fields *f, uint64_t at, uint8_t *out, sherd_error *err)
{
	if (at < f->begin || at >= f->begin + f->filled) {
		uint64_t left = f->source->size - at;
		size_t n = left < SHD_ONNX_WINDOW ? (size_t)left : SHD_ONNX_WINDOW;
		f->filled = 0;
		TRY(f->source->fetch(f->source->source, at, f->window, n, err));
		f->begin = at;
		f->filled = n;
	}
	*out = f->window[at - f->begin];
	return SHERD_OK;
}

int shd_onnx_number(shd_onnx_fields *f, shd_onnx_span *span, uint64_t *out, sherd_error *err)
{
	uint64_t from = span->at;
	*out = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;
		if (span->at >= span->end)
			return shd_fail_at(err, SHERD_ECORRUPT, "truncated", from, "a number ends too early");
		TRY(onnx_byte(f, span->at++, &byte, err));
		if (shift < 64)
			*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return SHERD_OK;
	}
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-number", from, "a number of more than 10 bytes");
}

int shd_onnx_next(shd_onnx_fields *f, shd_onnx_span *message, shd_onnx_field *out, sherd_error *err)
{
	uint64_t tag, len = 0;
	if (message->at >= message->end)
		return 0;
	*out = (shd_onnx_field){.at = message->at};
	TRY(shd_onnx_number(f, message, &tag, err));
	out->number = tag >> 3;
	out->wire = tag & 7;
	if (!out->number)
		return shd_onnx_bad(out, "a field without a number: this is no ONNX model, or a damaged one", err);
	switch (out->wire) {
	case 0: TRY(shd_onnx_number(f, message, &out->value, err)); return 1;
	case 1: len = 8; break;
	case 2: TRY(shd_onnx_number(f, message, &len, err)); break;
	case 5: len = 4; break;
	default: return shd_onnx_bad(out, "a field of no kind that there is", err);
	}
	if (len > message->end - message->at)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", out->at,
		                   "a field of %llu bytes where %llu are left", (unsigned long long)len,
		                   (unsigned long long)(message->end - message->at));
	out->bytes = (shd_onnx_span){message->at, message->at + len};
	message->at += len;
	return 1;
}

int shd_onnx_bytes(shd_onnx_fields *f, shd_onnx_span span, void *buf, sherd_error *err)
{
	return span.end > span.at ? f->source->fetch(f->source->source, span.at, buf, (size_t)(span.end - span.at), err)
	                          : SHERD_OK;
}

int shd_onnx_text(shd_onnx_fields *f, const shd_onnx_field *field, uint64_t most, shd_arena *arena, const char **out,
                  sherd_error *err)
{
	size_t bad, len = (size_t)(field->bytes.end - field->bytes.at);
	if (field->wire != 2)
		return shd_onnx_bad(field, "a text that is none", err);
	if (field->bytes.end - field->bytes.at > most)
		return shd_fail_at(err, SHERD_ELIMIT, "too-long", field->at, "a text of %zu bytes", len);
	char *text = shd_arena_alloc(arena, len + 1, 1);
	if (!text)
		return shd_fail_nomem(err);
	TRY(shd_onnx_bytes(f, field->bytes, text, err));
	text[len] = 0;
	if (memchr(text, 0, len) || !shd_utf8_valid(text, len, &bad))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", field->bytes.at, "a text that is not UTF-8");
	*out = text;
	return SHERD_OK;
}
