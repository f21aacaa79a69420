#include "format/samediff/encode.h"

#include "format/samediff/nd4j_array.h"
#include "format/samediff/encoder.h"

#include <stdio.h>

void shd_samediff_encoder_init(shd_samediff_encoder *e, const shd_samediff_source *source, shd_samediff_style style,
                               shd_arena *arena, uint32_t depth)
{
	*e = (shd_samediff_encoder){.source = source, .style = style, .arena = arena, .depth = depth};
	shd_flatbuf_build_init(&e->build);
}

static size_t payloads_of(const shd_samediff_encoder *e, const shd_samediff_payload **out)
{
	*out = e->payloads.items;
	return e->payloads.count;
}

void shd_samediff_encoder_done(shd_samediff_encoder *e)
{
	const shd_samediff_payload *payloads;
	size_t count = payloads_of(e, &payloads);
	for (size_t i = 0; i < count; i++)
		if (payloads[i].graph)
			shd_samediff_encoder_done(payloads[i].graph);
	shd_vec_done(&e->payloads);
	shd_flatbuf_build_done(&e->build);
}

void shd_samediff_refuse(shd_samediff_encoder *e, const char *fmt, ...)
{
	static const char *const names[] = {"a SameDiff FlatBuffers file", "a container", "an SDNB file"};
	char text[sizeof(e->error.message)];
	va_list args;
	if (e->rc < 0)
		return;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	e->rc = shd_fail(&e->error, SHERD_EUNSUPPORTED, "cannot-hold", "%s cannot hold %s", names[e->style], text);
}

uint8_t shd_samediff_number(shd_samediff_encoder *e, sherd_dtype dtype, const char *owner)
{
	uint8_t number = shd_nd4j_number(dtype);
	const sherd_dtype_info *info = sherd_dtype_describe(dtype);
	if (!number && info && e->style == SHD_SAMEDIFF_CONTAINER)
		return (uint8_t)(SHD_SAMEDIFF_OUR_TYPES + dtype);
	if (!number)
		shd_samediff_refuse(e, "%.128s of type %s", owner, info ? info->name : "unknown");
	return number;
}

/* ---- one piece after the other */

typedef struct flattening {
	shd_buf bytes;                      /* of all pieces */
	SHD_VEC(shd_samediff_piece) pieces; /* without their pointers */
	size_t begin;                       /* where the bytes of the next piece begin */
} flattening;

static void close_piece(flattening *f, shd_samediff_piece piece)
{
	piece.len = f->bytes.len - f->begin;
	f->begin = f->bytes.len;
	shd_vec_push(&f->pieces, piece);
}

static void put_elements(flattening *f, const shd_samediff_encoder *e, size_t array)
{
	const sherd_tensor *t = &e->source->arrays[array];
	const shd_samediff_piece piece = {
		.array = array,
		.extra = t->bytes,
		.fortran = shd_samediff_is_fortran(e, array),
		.swap = e->style == SHD_SAMEDIFF_LEGACY && sherd_dtype_element_bytes(t->dtype) > 1,
	};
	close_piece(f, piece);
}

static void flatten(flattening *f, const shd_samediff_encoder *e)
{
	const shd_flatbuf_span *spans;
	const shd_samediff_payload *payloads;
	size_t count = shd_flatbuf_build_spans(&e->build, &spans);
	uint64_t pos = e->build.out.len;
	(void)payloads_of(e, &payloads);
	shd_buf_append(&f->bytes, e->build.out.data, e->build.out.len);
	for (size_t i = 0; i < count; i++) {
		shd_buf_zero(&f->bytes, (size_t)(spans[i].at - 4 - pos));
		shd_buf_u32(&f->bytes, (uint32_t)spans[i].len);
		if (payloads[i].graph)
			flatten(f, payloads[i].graph);
		else
			put_elements(f, e, payloads[i].array);
		pos = spans[i].at + spans[i].len;
	}
	shd_buf_zero(&f->bytes, (size_t)(e->size - pos));
}

static int encode_keep(const flattening *f, shd_arena *arena, shd_samediff_encoding *out, sherd_error *err)
{
	TRY(shd_buf_check(&f->bytes, err));
	TRY(shd_vec_check(&f->pieces, err));
	const uint8_t *bytes = shd_arena_copy(arena, f->bytes.data, f->bytes.len);
	shd_samediff_piece *pieces = shd_vec_copy(&f->pieces, arena);
	size_t count = f->pieces.count;
	if (!bytes || !pieces)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		pieces[i].bytes = bytes;
		bytes += pieces[i].len;
	}
	out->pieces = pieces;
	out->piece_count = count;
	return SHERD_OK;
}

int shd_samediff_encode(const shd_samediff_source *source, shd_samediff_style style, shd_arena *arena,
                        shd_samediff_encoding *out, sherd_error *err)
{
	shd_samediff_encoder e;
	flattening f = {0};
	shd_samediff_encoding made = {0};
	shd_samediff_encoder_init(&e, source, style, arena, 0);
	int rc = shd_samediff_encode_graph(&e, source->graph, err);
	if (rc == SHERD_OK) {
		flatten(&f, &e);
		close_piece(&f, (shd_samediff_piece){.array = SHERD_NO_ARRAY});
		made.size = e.size;
		rc = encode_keep(&f, arena, &made, err);
	}
	shd_samediff_encoder_done(&e);
	shd_buf_done(&f.bytes);
	shd_vec_done(&f.pieces);
	if (rc == SHERD_OK)
		*out = made;
	return rc;
}
