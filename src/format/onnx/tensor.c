#include "format/onnx/tensor.h"

#include <string.h>

enum {
	DIMS = 1,
	DATA_TYPE = 2,
	SEGMENT = 3,
	FLOATS = 4,
	INT32S = 5,
	STRINGS = 6,
	INT64S = 7,
	NAME = 8,
	RAW = 9,
	DOUBLES = 10,
	UINT64S = 11,
	EXTERNAL = 13,
	LOCATION = 14
};
enum { MOST_PATH = 1024 };

/* By the number of the type; bits of one element, and the field that has them as numbers. */
typedef struct onnx_type {
	sherd_dtype dtype;
	const char *name; /* of opaque ones */
	uint32_t bits;
	uint32_t field;
} onnx_type;

static const onnx_type types[] = {
	[1] = {SHERD_F32, NULL, 32, FLOATS},
	[2] = {SHERD_U8, NULL, 8, INT32S},
	[3] = {SHERD_I8, NULL, 8, INT32S},
	[4] = {SHERD_U16, NULL, 16, INT32S},
	[5] = {SHERD_I16, NULL, 16, INT32S},
	[6] = {SHERD_I32, NULL, 32, INT32S},
	[7] = {SHERD_I64, NULL, 64, INT64S},
	[8] = {SHERD_UTF8, NULL, 0, STRINGS},
	[9] = {SHERD_BOOL, NULL, 8, INT32S},
	[10] = {SHERD_F16, NULL, 16, INT32S},
	[11] = {SHERD_F64, NULL, 64, DOUBLES},
	[12] = {SHERD_U32, NULL, 32, UINT64S},
	[13] = {SHERD_U64, NULL, 64, UINT64S},
	[14] = {SHERD_C64, NULL, 64, FLOATS},
	[15] = {SHERD_OPAQUE, "complex128", 128, DOUBLES},
	[16] = {SHERD_BF16, NULL, 16, INT32S},
	[17] = {SHERD_F8_E4M3, NULL, 8, INT32S},
	[18] = {SHERD_F8_E4M3FNUZ, NULL, 8, INT32S},
	[19] = {SHERD_F8_E5M2, NULL, 8, INT32S},
	[20] = {SHERD_F8_E5M2FNUZ, NULL, 8, INT32S},
	[21] = {SHERD_OPAQUE, "UINT4", 4, INT32S},
	[22] = {SHERD_OPAQUE, "INT4", 4, INT32S},
	[23] = {SHERD_OPAQUE, "FLOAT4E2M1", 4, INT32S},
	[24] = {SHERD_F8_E8M0, NULL, 8, INT32S},
	[25] = {SHERD_OPAQUE, "UINT2", 2, INT32S},
	[26] = {SHERD_OPAQUE, "INT2", 2, INT32S},
};

/* A tensor being read. */
typedef struct reading {
	shd_onnx_fields *f;
	const sherd_limits *limits;
	shd_onnx_budget *budget;
	shd_arena *arena;
	uint64_t at; /* where it begins */
	uint32_t ndim;
	uint64_t shape[SHERD_MAX_DIMS];
	uint64_t type;
	const char *name;
	bool has_raw, external;
	shd_onnx_span raw;
	uint64_t field; /* that has numbers; 0: none */
	shd_buf values; /* of those, as they are handed out */
	SHD_VEC(shd_str) texts;
	uint64_t text_bytes;
	const char *location;
	uint64_t offset, length;
	bool has_length;
} reading;

static int bad_tensor(const reading *r, const char *reason, const char *what, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, reason, r->at, "initialiser %.128s %s", r->name ? r->name : "", what);
}

static int take_dim(reading *r, uint64_t v, sherd_error *err)
{
	if (r->ndim == r->limits->dims)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", r->at, "more than %u dimensions",
		                   r->limits->dims);
	if (v > INT64_MAX)
		return bad_tensor(r, "bad-shape", "has a negative dimension", err);
	r->shape[r->ndim++] = v;
	return SHERD_OK;
}

static int take_dims(reading *r, const shd_onnx_field *field, sherd_error *err)
{
	shd_onnx_span span = field->bytes;
	uint64_t v = field->value;
	if (field->wire == 0)
		return take_dim(r, v, err);
	while (span.at < span.end) {
		TRY(shd_onnx_number(r->f, &span, &v, err));
		TRY(take_dim(r, v, err));
	}
	return SHERD_OK;
}

static int spend_bytes(reading *r, uint64_t bytes, sherd_error *err)
{
	if (bytes > r->budget->left)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", r->at,
		                   "numbers of initialisers take too much memory");
	r->budget->left -= bytes;
	return SHERD_OK;
}

/* Fields that follow each other must be one kind of numbers. */
static int begin_numbers(reading *r, const shd_onnx_field *field, sherd_error *err)
{
	if (r->field && r->field != field->number)
		return bad_tensor(r, "bad-type", "has numbers of two kinds", err);
	r->field = field->number;
	return SHERD_OK;
}

/* Bytes of a whole number that an element keeps: 1, 2, 4 or 8; narrower ones are packed into bytes. */
static uint32_t kept_bytes(const reading *r)
{
	uint32_t bits = r->type < COUNT_OF(types) ? types[r->type].bits : 0;
	return bits <= 8 ? 1 : bits / 8 < 8 ? bits / 8 : 8;
}

static int tensor_add_number(reading *r, uint64_t v, sherd_error *err)
{
	uint8_t raw[8];
	shd_put_u64(raw, v);
	shd_buf_append(&r->values, raw, kept_bytes(r));
	return shd_buf_check(&r->values, err);
}

/* Packed or one by one; of reals, bytes as they are. The type stands before, as all who write ONNX have it. */
static int tensor_take_numbers(reading *r, const shd_onnx_field *field, sherd_error *err)
{
	bool real = field->number == FLOATS || field->number == DOUBLES;
	shd_onnx_span span = field->bytes;
	size_t len = (size_t)(span.end - span.at);
	TRY(begin_numbers(r, field, err));
	if (!r->type)
		return bad_tensor(r, "bad-type", "has numbers before its type", err);
	if (real) {
		TRY(spend_bytes(r, len, err));
		if (!shd_buf_reserve(&r->values, len))
			return shd_fail_nomem(err);
		TRY(shd_onnx_bytes(r->f, span, r->values.data + r->values.len, err));
		r->values.len += len;
		return SHERD_OK;
	}
	if (field->wire == 0) {
		TRY(spend_bytes(r, 8, err));
		return tensor_add_number(r, field->value, err);
	}
	TRY(spend_bytes(r, (uint64_t)len * kept_bytes(r), err));
	while (span.at < span.end) {
		uint64_t v = 0;
		TRY(shd_onnx_number(r->f, &span, &v, err));
		TRY(tensor_add_number(r, v, err));
	}
	return SHERD_OK;
}

static int tensor_take_string(reading *r, const shd_onnx_field *field, sherd_error *err)
{
	uint64_t len = field->bytes.end - field->bytes.at;
	TRY(begin_numbers(r, field, err));
	TRY(spend_bytes(r, len + 2 * sizeof(shd_str), err));
	char *text = shd_arena_alloc(r->arena, (size_t)len + 1, 1);
	if (!text)
		return shd_fail_nomem(err);
	TRY(shd_onnx_bytes(r->f, field->bytes, text, err));
	shd_vec_push(&r->texts, (shd_str){text, (size_t)len});
	r->text_bytes += len;
	return shd_vec_check(&r->texts, err);
}

static bool parse_decimal(const char *text, uint64_t *out)
{
	*out = 0;
	if (!*text)
		return false;
	for (; *text; text++)
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*text - '0'), out))
			return false;
	return true;
}

/* A pair of texts: location, offset, length; others, checksum among them, are passed over. */
static int take_external(reading *r, shd_onnx_span message, sherd_error *err)
{
	const char *key = "", *value = "";
	shd_onnx_field field;
	int rc;
	while ((rc = shd_onnx_next(r->f, &message, &field, err)) > 0)
		if (field.number == 1 || field.number == 2)
			TRY(shd_onnx_text(r->f, &field, MOST_PATH, r->arena, field.number == 1 ? &key : &value, err));
	TRY(rc);
	if (strcmp(key, "location") == 0)
		r->location = value;
	if (strcmp(key, "offset") == 0 && !parse_decimal(value, &r->offset))
		return bad_tensor(r, "bad-offsets", "has an offset that is no number", err);
	if (strcmp(key, "length") == 0) {
		r->has_length = true;
		if (!parse_decimal(value, &r->length))
			return bad_tensor(r, "bad-offsets", "has a length that is no number", err);
	}
	return SHERD_OK;
}

static int tensor_take_field(reading *r, const shd_onnx_field *field, sherd_error *err)
{
	switch (field->number) {
	case DIMS: return take_dims(r, field, err);
	case DATA_TYPE: r->type = field->value; return SHERD_OK;
	case SEGMENT: return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-codec", field->at, "a tensor in segments");
	case FLOATS:
	case INT32S:
	case INT64S:
	case DOUBLES:
	case UINT64S: return tensor_take_numbers(r, field, err);
	case STRINGS: return tensor_take_string(r, field, err);
	case NAME: return shd_onnx_text(r->f, field, r->limits->name_bytes, r->arena, &r->name, err);
	case RAW:
		if (field->wire != 2 || r->has_raw)
			return bad_tensor(r, "bad-head", "has raw bytes twice, or that are none", err);
		r->has_raw = true;
		r->raw = field->bytes;
		return SHERD_OK;
	case EXTERNAL: return take_external(r, field->bytes, err);
	case LOCATION: r->external = field->value == 1; return SHERD_OK;
	default: return SHERD_OK;
	}
}

/* ---- what it is, once all of it was read */

/* n+1 offsets from 0, then the texts. */
static int join_texts(reading *r, sherd_error *err)
{
	uint64_t at = 0;
	for (size_t i = 0; i < r->texts.count; i++) {
		shd_buf_u64(&r->values, at);
		at += r->texts.items[i].len;
	}
	shd_buf_u64(&r->values, at);
	for (size_t i = 0; i < r->texts.count; i++)
		shd_buf_append(&r->values, r->texts.items[i].ptr, r->texts.items[i].len);
	return shd_buf_check(&r->values, err);
}

static int count_bytes_of(const reading *r, uint64_t *out, uint64_t *elements, sherd_error *err)
{
	*elements = 1;
	for (uint32_t d = 0; d < r->ndim; d++)
		if (__builtin_mul_overflow(*elements, r->shape[d], elements))
			return bad_tensor(r, "overflow", "has a size that does not fit 64 bits", err);
	if (__builtin_mul_overflow(*elements, types[r->type].bits, out) || *out > UINT64_MAX - 7)
		return bad_tensor(r, "overflow", "has a size that does not fit 64 bits", err);
	*out = (*out + 7) / 8;
	return SHERD_OK;
}

static int place_values(reading *r, uint64_t bytes, uint64_t elements, shd_onnx_tensor *out, sherd_error *err)
{
	const onnx_type *type = &types[r->type];
	out->tensor.bytes = bytes;
	if (r->external) {
		if (!r->location || (r->has_length && r->length != bytes) || type->dtype == SHERD_UTF8)
			return bad_tensor(r, "size-mismatch", "has another size in its file, or no file", err);
		out->location = r->location;
		out->offset = r->offset;
		return SHERD_OK;
	}
	if (r->has_raw) {
		if (r->raw.end - r->raw.at != bytes || type->dtype == SHERD_UTF8)
			return bad_tensor(r, "size-mismatch", "has another number of raw bytes than its shape", err);
		out->offset = r->raw.at;
		return SHERD_OK;
	}
	if (r->field && r->field != type->field)
		return bad_tensor(r, "bad-type", "has numbers of another type", err);
	if (type->dtype == SHERD_UTF8) {
		if (r->texts.count != elements)
			return bad_tensor(r, "size-mismatch", "has another number of texts than its shape", err);
		TRY(join_texts(r, err));
		out->tensor.bytes = r->values.len;
	} else if (r->values.len != bytes) {
		return bad_tensor(r, "size-mismatch", "has another number of elements than its shape", err);
	}
	out->values = shd_arena_copy(r->arena, r->values.data, r->values.len);
	return out->values ? SHERD_OK : shd_fail_nomem(err);
}

static int finish_tensor(reading *r, shd_onnx_tensor *out, sherd_error *err)
{
	uint64_t bytes = 0, elements = 0;
	if (r->type >= COUNT_OF(types) || !types[r->type].dtype)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", r->at, "initialiser %.128s is of type %llu",
		                   r->name ? r->name : "", (unsigned long long)r->type);
	const onnx_type *type = &types[r->type];
	TRY(count_bytes_of(r, &bytes, &elements, err));
	const uint64_t *shape = shd_arena_copy(r->arena, r->shape, r->ndim * sizeof(*shape));
	if (!shape)
		return shd_fail_nomem(err);
	bool pairs = r->type == 23 && r->ndim && r->shape[r->ndim - 1] % 2 == 0;
	*out = (shd_onnx_tensor){.tensor = {.name = r->name ? r->name : "",
	                                    .dtype = pairs ? SHERD_F4 : type->dtype,
	                                    .ndim = r->ndim,
	                                    .shape = shape,
	                                    .type_name = pairs ? NULL : type->name}};
	return place_values(r, bytes, elements, out, err);
}

int shd_onnx_take_tensor(shd_onnx_fields *f, shd_onnx_span message, const sherd_limits *limits, shd_onnx_budget *budget,
                         shd_arena *arena, shd_onnx_tensor *out, sherd_error *err)
{
	reading r = {.f = f, .limits = limits, .budget = budget, .arena = arena, .at = message.at};
	shd_onnx_field field;
	int rc;
	while ((rc = shd_onnx_next(f, &message, &field, err)) > 0) {
		rc = tensor_take_field(&r, &field, err);
		if (rc < 0)
			break;
	}
	if (rc == 0)
		rc = finish_tensor(&r, out, err);
	shd_buf_done(&r.values);
	shd_vec_done(&r.texts);
	return rc;
}

int shd_onnx_take_name(shd_onnx_fields *f, shd_onnx_span message, const sherd_limits *limits, shd_arena *arena,
                       const char **out, sherd_error *err)
{
	shd_onnx_field field;
	int rc;
	*out = "";
	while ((rc = shd_onnx_next(f, &message, &field, err)) > 0)
		if (field.number == NAME)
			TRY(shd_onnx_text(f, &field, limits->name_bytes, arena, out, err));
	return rc;
}
