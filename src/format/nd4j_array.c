#include "format/nd4j_array.h"

#include "base/cursor.h"
#include "base/limits.h"
#include "base/str.h"

enum {
	EXTRA_EMPTY = 8,
	EXTRA_UNSIGNED = 1 << 23,
	NAME_MOST = 16 /* of the name of a type */
};

static const struct {
	uint8_t number; /* in FlatBuffers */
	sherd_dtype dtype;
	const char *name; /* in binary arrays */
	uint32_t extra;   /* in shape information, beside the mark of unsigned ones */
	bool is_unsigned;
} types[] = {
	{1, SHERD_BOOL, "BOOL", 1 << 19, false},      {3, SHERD_F16, "HALF", 1 << 12, false},
	{5, SHERD_F32, "FLOAT", 1 << 13, false},      {6, SHERD_F64, "DOUBLE", 1 << 14, false},
	{7, SHERD_I8, "BYTE", 1 << 15, false},        {8, SHERD_I16, "SHORT", 1 << 16, false},
	{9, SHERD_I32, "INT", 1 << 17, false},        {10, SHERD_I64, "LONG", 1 << 18, false},
	{11, SHERD_U8, "UBYTE", 1 << 15, true},       {12, SHERD_U16, "UINT16", 1 << 16, true},
	{13, SHERD_U32, "UINT32", 1 << 17, true},     {14, SHERD_U64, "UINT64", 1 << 18, true},
	{17, SHERD_BF16, "BFLOAT16", 1 << 11, false}, {50, SHERD_UTF8, "UTF8", 1 << 20, false},
};

sherd_dtype sherd_nd4j_dtype(uint8_t number)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].number == number)
			return types[i].dtype;
	return SHERD_DTYPE_NONE;
}

uint8_t sherd_nd4j_number(sherd_dtype dtype)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].dtype == dtype)
			return types[i].number;
	return 0;
}

static sherd_dtype by_name(sherd_str name)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (sherd_str_is(name, types[i].name))
			return types[i].dtype;
	return SHERD_DTYPE_NONE;
}

static sherd_dtype by_extras(int64_t extras)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (extras & types[i].extra && types[i].is_unsigned == ((extras & EXTRA_UNSIGNED) != 0))
			return types[i].dtype;
	return SHERD_DTYPE_NONE;
}

uint64_t sherd_nd4j_get_u64(const uint8_t *p)
{
	uint64_t v = 0;
	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* Do the strides walk over the elements one by one, in this order? Dimensions of 1 do not matter. */
static bool strides_are(const int64_t *dims, const int64_t *strides, size_t rank, bool fortran)
{
	uint64_t step = 1;
	for (size_t k = 0; k < rank; k++) {
		size_t d = fortran ? k : rank - 1 - k;
		if (dims[d] != 1 && (uint64_t)strides[d] != step)
			return false;
		step *= (uint64_t)dims[d]; /* wraps only where the size of the array does, which is refused */
	}
	return true;
}

/* The strides are what ND4J itself goes by; the letter at the end may differ where both fit. */
static int take_order(const int64_t *info, size_t rank, uint64_t at, sherd_nd4j_array *out, sherd_error *err)
{
	int64_t letter = info[2 * rank + 3];
	if (letter != 'c' && letter != 'f')
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-shape", at + 8 * (2 * rank + 3),
		                     "the order is %lld, neither 'c' nor 'f'", (long long)letter);
	if (out->bytes == 0 && out->dtype != SHERD_UTF8)
		return SHERD_OK;
	if (strides_are(info + 1, info + 1 + rank, rank, letter == 'f')) {
		out->fortran = letter == 'f' && rank > 1;
		return SHERD_OK;
	}
	if (!strides_are(info + 1, info + 1 + rank, rank, letter != 'f'))
		return sherd_fail_at(err, SHERD_EUNSUPPORTED, "bad-strides", at + 8 * (1 + rank),
		                     "the elements do not lie side by side");
	out->fortran = letter != 'f' && rank > 1;
	return SHERD_OK;
}

static int take_dims(const int64_t *dims, size_t rank, uint64_t at, sherd_arena *arena, sherd_nd4j_array *out,
                     sherd_error *err)
{
	bool zero = false;
	uint64_t *shape = sherd_arena_alloc(arena, rank + 1, sizeof(*shape));
	if (!shape)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < rank; i++) {
		if (dims[i] < 0)
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-shape", at + 8 * i, "dimension %zu is %lld", i,
			                     (long long)dims[i]);
		shape[i] = (uint64_t)dims[i];
		zero |= shape[i] == 0;
	}
	out->ndim = (uint32_t)rank;
	out->shape = shape;
	out->hollow = out->empty && !zero;
	if (out->hollow) {
		out->ndim = 1;
		shape[0] = 0;
	}
	if (out->dtype == SHERD_UTF8)
		return SHERD_OK;
	if (!sherd_tensor_bytes(out->dtype, out->ndim, shape, &out->bytes))
		return sherd_fail_at(err, SHERD_ECORRUPT, "overflow", at, "the size of the array does not fit 64 bits");
	return SHERD_OK;
}

static int check_rank(size_t rank, uint64_t at, const sherd_limits *limits, sherd_error *err)
{
	if (rank > sherd_limits_or_default(limits).dims)
		return sherd_fail_at(err, SHERD_ELIMIT, "too-many-dims", at, "%zu dimensions", rank);
	return SHERD_OK;
}

int sherd_nd4j_shape_decode(const int64_t *info, size_t count, uint64_t at, const sherd_limits *limits,
                            sherd_arena *arena, sherd_nd4j_array *out, sherd_error *err)
{
	if (count < 4 || info[0] < 0 || (uint64_t)info[0] != (count - 4) / 2 || count % 2)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-shape", at,
		                     "%zu numbers do not tell a shape of rank %lld", count,
		                     count ? (long long)info[0] : 0);
	size_t rank = (size_t)info[0];
	TRY(check_rank(rank, at, limits, err));
	out->empty = (info[2 * rank + 1] & EXTRA_EMPTY) != 0;
	TRY(take_dims(info + 1, rank, at + 8, arena, out, err));
	return take_order(info, rank, at, out, err);
}

int sherd_nd4j_dims_decode(const int64_t *dims, size_t rank, bool fortran, uint64_t at, const sherd_limits *limits,
                           sherd_arena *arena, sherd_nd4j_array *out, sherd_error *err)
{
	TRY(check_rank(rank, at, limits, err));
	TRY(take_dims(dims, rank, at, arena, out, err));
	out->fortran = fortran && rank > 1 && (out->bytes || out->dtype == SHERD_UTF8);
	return SHERD_OK;
}

bool sherd_nd4j_is_empty(const sherd_tensor *tensor)
{
	for (uint32_t i = 0; i < tensor->ndim; i++)
		if (!tensor->shape[i])
			return true;
	return false;
}

static int64_t extras_of(const sherd_tensor *tensor)
{
	int64_t extras = sherd_nd4j_is_empty(tensor) ? EXTRA_EMPTY : 0;
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].dtype == tensor->dtype)
			extras |= types[i].extra | (types[i].is_unsigned ? EXTRA_UNSIGNED : 0);
	return extras;
}

size_t sherd_nd4j_shape_encode(const sherd_tensor *tensor, bool fortran, bool hollow,
                               int64_t info[SHERD_ND4J_INFO_MOST])
{
	size_t rank = hollow ? 0 : tensor->ndim;
	uint64_t step = 1;
	info[0] = (int64_t)rank;
	for (size_t k = 0; k < rank; k++) {
		size_t d = fortran ? k : rank - 1 - k;
		info[1 + d] = (int64_t)tensor->shape[d];
		info[1 + rank + d] = (int64_t)step;
		step *= tensor->shape[d] ? tensor->shape[d] : 1; /* wraps only where there are no elements */
	}
	info[2 * rank + 1] = extras_of(tensor);
	info[2 * rank + 2] = 1;
	info[2 * rank + 3] = fortran ? 'f' : 'c';
	return 2 * rank + 4;
}

int sherd_nd4j_size_check(const sherd_nd4j_array *array, uint64_t at, sherd_error *err)
{
	if (array->stored != array->bytes)
		return sherd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", at,
		                     "a buffer of %llu bytes for an array of %llu", (unsigned long long)array->stored,
		                     (unsigned long long)array->bytes);
	return SHERD_OK;
}

/* ---- a file by itself */

/* Text as Java's writeUTF() has it: a big-endian 16-bit length before it. */
static sherd_str take_text(sherd_cursor *c)
{
	const uint8_t *p = sherd_cursor_bytes(c, 2);
	size_t len = p ? (size_t)p[0] << 8 | p[1] : 0;
	const uint8_t *text = sherd_cursor_bytes(c, len);
	return text ? (sherd_str){(const char *)text, len} : SHERD_STR("");
}

/* How its numbers are stored, their count, their type. */
static int take_part(sherd_cursor *c, uint64_t *count, sherd_dtype *dtype, sherd_error *err)
{
	size_t at = c->pos;
	sherd_str mode = take_text(c);
	if (!c->failed && !sherd_str_is(mode, "MIXED_DATA_TYPES"))
		return sherd_fail_at(err, at ? SHERD_EUNSUPPORTED : SHERD_ECORRUPT, "bad-magic", at,
		                     "MIXED_DATA_TYPES is not there");
	const uint8_t *p = sherd_cursor_bytes(c, 8);
	size_t type_at = c->pos;
	sherd_str type = take_text(c);
	TRY(sherd_cursor_check(c, "the head of an array", err));
	*count = sherd_nd4j_get_u64(p);
	*dtype = by_name(type);
	if (!*dtype)
		return sherd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", type_at, "elements of type %.*s",
		                     type.len < NAME_MOST ? (int)type.len : NAME_MOST, type.ptr);
	return SHERD_OK;
}

static int take_info(sherd_cursor *c, int64_t info[SHERD_ND4J_INFO_MOST], size_t *count, sherd_error *err)
{
	uint64_t n;
	sherd_dtype dtype;
	TRY(take_part(c, &n, &dtype, err));
	if (dtype != SHERD_I64 || n > SHERD_ND4J_INFO_MOST)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-shape", SHERD_ND4J_MAGIC_BYTES,
		                     "%llu numbers, which are not a shape", (unsigned long long)n);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = sherd_cursor_bytes(c, 8);
		info[i] = p ? (int64_t)sherd_nd4j_get_u64(p) : 0;
	}
	*count = (size_t)n;
	return sherd_cursor_check(c, "the shape of an array", err);
}

static int check_end(const sherd_nd4j_array *a, uint64_t file_size, sherd_error *err)
{
	uint64_t have = file_size - a->data;
	if (have < a->bytes)
		return sherd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                     "%llu bytes of data are missing at the end",
		                     (unsigned long long)(a->bytes - have));
	if (have > a->bytes)
		return sherd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", a->data + a->bytes,
		                     "%llu bytes behind the array", (unsigned long long)(have - a->bytes));
	return SHERD_OK;
}

int sherd_nd4j_array_decode(const void *head, size_t len, uint64_t file_size, const sherd_limits *limits,
                            sherd_arena *arena, sherd_nd4j_array *out, sherd_error *err)
{
	sherd_cursor c = sherd_cursor_over(head, len);
	int64_t info[SHERD_ND4J_INFO_MOST] = {0};
	sherd_nd4j_array a = {.swap = true};
	size_t info_count = 0;
	uint64_t count = 0;
	TRY(take_info(&c, info, &info_count, err));
	size_t at = c.pos;
	if (info_count >= 4 && info[info_count - 3] & EXTRA_EMPTY && c.pos == file_size)
		a.dtype = by_extras(info[info_count - 3]);
	else
		TRY(take_part(&c, &count, &a.dtype, err));
	if (a.dtype == SHERD_DTYPE_NONE || a.dtype == SHERD_UTF8)
		return sherd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", at,
		                     "elements of a type that has no size of its own");
	uint64_t info_at = at - 8 * info_count;
	TRY(sherd_nd4j_shape_decode(info, info_count, info_at, limits, arena, &a, err));
	uint32_t element = sherd_dtype_describe(a.dtype)->block_bytes;
	if (__builtin_mul_overflow(count, (uint64_t)element, &a.stored))
		return sherd_fail_at(err, SHERD_ECORRUPT, "overflow", at, "%llu elements", (unsigned long long)count);
	a.data = c.pos;
	TRY(sherd_nd4j_size_check(&a, at, err));
	TRY(check_end(&a, file_size, err));
	a.swap = element > 1;
	*out = a;
	return SHERD_OK;
}
