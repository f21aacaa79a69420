#include "format/samediff/nd4j_array.h"

#include "base/cursor.h"
#include "base/dtype.h"
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

sherd_dtype shd_nd4j_dtype(uint8_t number)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].number == number)
			return types[i].dtype;
	return SHERD_DTYPE_NONE;
}

uint8_t shd_nd4j_number(sherd_dtype dtype)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].dtype == dtype)
			return types[i].number;
	return 0;
}

static sherd_dtype nd4j_array_by_name(shd_str name)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (shd_str_is(name, types[i].name))
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

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint64_t shd_nd4j_get_u64(const uint8_t *p)
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

/* Where numbers stand in the file, and how many bytes each has. */
typedef struct place {
	uint64_t at;
	uint32_t size;
} place;

static uint64_t byte_of(place p, size_t index)
{
	return p.at + (uint64_t)p.size * index;
}

/* Dense strides in any order of the dimensions: sorted, they are those of C order. */
static int take_strides(const int64_t *info, size_t rank, place p, shd_arena *arena, shd_nd4j_array *out,
                        sherd_error *err)
{
	const int64_t *dims = info + 1, *strides = info + 1 + rank;
	bool seen[SHERD_MAX_DIMS] = {false};
	uint64_t step = 1;
	uint64_t *kept = shd_arena_alloc(arena, rank + 1, sizeof(*kept));
	if (!kept)
		return shd_fail_nomem(err);
	for (size_t k = 0; k < rank; k++) {
		size_t d = 0;
		while (d < rank && (seen[d] || dims[d] == 1 || (uint64_t)strides[d] != step))
			d++;
		if (d == rank)
			break;
		seen[d] = true;
		step *= (uint64_t)dims[d];
	}
	for (size_t d = 0; d < rank; d++) {
		if (!seen[d] && dims[d] != 1)
			return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-strides", byte_of(p, 1 + rank + d),
			                   "the stride of dimension %zu is %lld: the elements do not lie side by side",
			                   d, (long long)strides[d]);
		kept[d] = (uint64_t)strides[d];
	}
	out->strides = kept;
	return SHERD_OK;
}

/* The strides are what ND4J itself goes by; the letter at the end may differ where both fit. */
static int take_order(const int64_t *info, size_t rank, place p, shd_arena *arena, shd_nd4j_array *out,
                      sherd_error *err)
{
	int64_t letter = info[2 * rank + 3];
	if (letter != 'c' && letter != 'f')
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", byte_of(p, 2 * rank + 3),
		                   "the order is %lld, neither 'c' nor 'f'", (long long)letter);
	if (out->dtype == SHERD_UTF8 ? false : !out->bytes || !sherd_dtype_element_bytes(out->dtype))
		return SHERD_OK;
	if (strides_are(info + 1, info + 1 + rank, rank, letter == 'f'))
		out->fortran = letter == 'f' && rank > 1;
	else if (strides_are(info + 1, info + 1 + rank, rank, letter != 'f'))
		out->fortran = letter != 'f' && rank > 1;
	else
		return take_strides(info, rank, p, arena, out, err);
	return SHERD_OK;
}

static int nd4j_array_take_dims(const int64_t *dims, size_t rank, place p, shd_arena *arena, shd_nd4j_array *out,
                                sherd_error *err)
{
	bool zero = false;
	uint64_t *shape = shd_arena_alloc(arena, rank + 1, sizeof(*shape));
	if (!shape)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < rank; i++) {
		if (dims[i] < 0)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", byte_of(p, i), "dimension %zu is %lld", i,
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
	if (!shd_dtype_is_sized(out->dtype))
		return SHERD_OK;
	if (!sherd_tensor_bytes(&out->bytes, out->dtype, out->ndim, shape))
		return shd_fail_at(err, SHERD_ECORRUPT, "overflow", p.at, "the size of the array does not fit 64 bits");
	return SHERD_OK;
}

static int check_rank(size_t rank, uint64_t at, const sherd_limits *limits, sherd_error *err)
{
	if (rank > shd_limits_or_default(limits).dims)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", at, "%zu dimensions", rank);
	return SHERD_OK;
}

/* The numbers lie at p, one after the other. */
static int decode_shape(const int64_t *info, size_t count, place p, const sherd_limits *limits, shd_arena *arena,
                        shd_nd4j_array *out, sherd_error *err)
{
	if (count < 4 || info[0] < 0 || (uint64_t)info[0] != (count - 4) / 2 || count % 2)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", p.at,
		                   "%zu numbers do not tell a shape of rank %lld", count,
		                   count ? (long long)info[0] : 0);
	size_t rank = (size_t)info[0];
	TRY(check_rank(rank, p.at, limits, err));
	out->empty = (info[2 * rank + 1] & EXTRA_EMPTY) != 0;
	TRY(nd4j_array_take_dims(info + 1, rank, (place){byte_of(p, 1), p.size}, arena, out, err));
	return take_order(info, rank, p, arena, out, err);
}

int shd_nd4j_shape_decode(const int64_t *info, size_t count, uint64_t at, const sherd_limits *limits, shd_arena *arena,
                          shd_nd4j_array *out, sherd_error *err)
{
	return decode_shape(info, count, (place){at, 8}, limits, arena, out, err);
}

int shd_nd4j_dims_decode(const int64_t *dims, size_t rank, bool fortran, uint64_t at, const sherd_limits *limits,
                         shd_arena *arena, shd_nd4j_array *out, sherd_error *err)
{
	TRY(check_rank(rank, at, limits, err));
	TRY(nd4j_array_take_dims(dims, rank, (place){at, 8}, arena, out, err));
	out->fortran = fortran && rank > 1 && (out->bytes || out->dtype == SHERD_UTF8);
	return SHERD_OK;
}

bool shd_nd4j_is_empty(const sherd_tensor *tensor)
{
	for (uint32_t i = 0; i < tensor->ndim; i++)
		if (!tensor->shape[i])
			return true;
	return false;
}

static int64_t extras_of(const sherd_tensor *tensor)
{
	int64_t extras = shd_nd4j_is_empty(tensor) ? EXTRA_EMPTY : 0;
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].dtype == tensor->dtype)
			extras |= types[i].extra | (types[i].is_unsigned ? EXTRA_UNSIGNED : 0);
	return extras;
}

size_t shd_nd4j_shape_encode(const sherd_tensor *tensor, bool fortran, bool hollow, int64_t info[SHD_ND4J_INFO_MOST])
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

int shd_nd4j_size_check(const shd_nd4j_array *array, uint64_t at, sherd_error *err)
{
	if (array->stored != array->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", at,
		                   "a buffer of %llu bytes for an array of %llu", (unsigned long long)array->stored,
		                   (unsigned long long)array->bytes);
	return SHERD_OK;
}

/* ---- a file by itself */

/* Text as Java's writeUTF() has it: a big-endian 16-bit length before it. */
static shd_str nd4j_array_take_text(shd_cursor *c)
{
	const uint8_t *p = shd_cursor_bytes(c, 2);
	size_t len = p ? (size_t)p[0] << 8 | p[1] : 0;
	const uint8_t *text = shd_cursor_bytes(c, len);
	return text ? (shd_str){(const char *)text, len} : SHD_STR("");
}

/* Ways of storing a part that ND4J had a name for, the newest first. */
typedef struct mode {
	const char *name;
	bool wide;   /* the count has 64 bits, not 32 */
	bool extras; /* the number after the strides is extras, not an offset in a buffer */
} mode;

static const mode modes[] = {
	{"MIXED_DATA_TYPES", true, true}, /* since 1.0.0-beta4 */
	{"LONG_SHAPE", true, true},       /* since 1.0.0-beta */
	{"JAVACPP", false, false},        {"HEAP", false, false}, {"DIRECT", false, false},
};

static const mode *mode_of(shd_str name)
{
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		if (shd_str_is(name, modes[i].name))
			return &modes[i];
	return NULL;
}

bool shd_nd4j_probe(const uint8_t *bytes, size_t len)
{
	shd_cursor c = shd_cursor_over(bytes, len);
	shd_str name = nd4j_array_take_text(&c);
	return !c.failed && mode_of(name);
}

/* How its numbers are stored, their count, their type. */
static int nd4j_array_take_part(shd_cursor *c, const mode **how, uint64_t *count, sherd_dtype *dtype, sherd_error *err)
{
	size_t at = c->pos;
	shd_str name = nd4j_array_take_text(c);
	*how = c->failed ? &modes[0] : mode_of(name);
	if (!*how)
		return shd_fail_at(err, at ? SHERD_EUNSUPPORTED : SHERD_ECORRUPT, "bad-magic", at,
		                   "a part of an array that is not stored as MIXED_DATA_TYPES, LONG_SHAPE or JAVACPP");
	const uint8_t *p = shd_cursor_bytes(c, (*how)->wide ? 8 : 4);
	size_t type_at = c->pos;
	shd_str type = nd4j_array_take_text(c);
	TRY(shd_cursor_check(c, "the head of an array", err));
	*count = (*how)->wide ? shd_nd4j_get_u64(p) : get_u32(p);
	*dtype = nd4j_array_by_name(type);
	if (!*dtype)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", type_at, "elements of type %.*s",
		                   type.len < NAME_MOST ? (int)type.len : NAME_MOST, type.ptr);
	return SHERD_OK;
}

/* The numbers of a shape: 64 bits each, or 32 in the oldest files. */
typedef struct shape_info {
	int64_t at[SHD_ND4J_INFO_MOST];
	size_t count;
	place p;
	bool empty; /* extras say so */
} shape_info;

static int take_info(shd_cursor *c, shape_info *info, sherd_error *err)
{
	uint64_t n = 0;
	sherd_dtype dtype = SHERD_DTYPE_NONE;
	const mode *how;
	TRY(nd4j_array_take_part(c, &how, &n, &dtype, err));
	if ((dtype != SHERD_I64 && (how->wide || dtype != SHERD_I32)) || n > SHD_ND4J_INFO_MOST || n < 4)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", 2 + strlen(how->name),
		                   "%llu numbers, which are not a shape", (unsigned long long)n);
	info->p = (place){c->pos, dtype == SHERD_I64 ? 8 : 4};
	info->count = (size_t)n;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = shd_cursor_bytes(c, info->p.size);
		info->at[i] = !p ? 0 : info->p.size == 8 ? (int64_t)shd_nd4j_get_u64(p) : (int32_t)get_u32(p);
	}
	TRY(shd_cursor_check(c, "the shape of an array", err));
	int64_t extras = info->at[n - 3];
	if (!how->extras && extras)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-strides", byte_of(info->p, n - 3),
		                   "the array begins at element %lld of its buffer", (long long)extras);
	info->empty = (extras & EXTRA_EMPTY) != 0;
	return SHERD_OK;
}

static int check_end(const shd_nd4j_array *a, uint64_t file_size, sherd_error *err)
{
	uint64_t have = file_size - a->data;
	if (have < a->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "%llu bytes of data are missing at the end", (unsigned long long)(a->bytes - have));
	if (have > a->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", a->data + a->bytes,
		                   "%llu bytes after the array", (unsigned long long)(have - a->bytes));
	return SHERD_OK;
}

int shd_nd4j_array_decode(const void *head, size_t len, uint64_t file_size, const sherd_limits *limits,
                          shd_arena *arena, shd_nd4j_array *out, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(head, len);
	shape_info info = {0};
	shd_nd4j_array a = {.swap = true};
	uint64_t count = 0;
	TRY(take_info(&c, &info, err));
	size_t at = c.pos;
	if (info.empty && c.pos == file_size) {
		a.dtype = by_extras(info.at[info.count - 3]);
	} else {
		const mode *how;
		TRY(nd4j_array_take_part(&c, &how, &count, &a.dtype, err));
	}
	if (a.dtype == SHERD_DTYPE_NONE || a.dtype == SHERD_UTF8)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", at,
		                   "elements of a type that has no size of its own");
	TRY(decode_shape(info.at, info.count, info.p, limits, arena, &a, err));
	uint32_t element = sherd_dtype_element_bytes(a.dtype);
	if (__builtin_mul_overflow(count, (uint64_t)element, &a.stored))
		return shd_fail_at(err, SHERD_ECORRUPT, "overflow", at, "%llu elements", (unsigned long long)count);
	a.data = c.pos;
	TRY(shd_nd4j_size_check(&a, at, err));
	TRY(check_end(&a, file_size, err));
	a.swap = element > 1;
	*out = a;
	return SHERD_OK;
}
