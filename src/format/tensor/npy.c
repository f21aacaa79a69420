#include "format/tensor/npy.h"

#include "base/cursor.h"
#include "base/limits.h"
#include "base/str.h"
#include "codec/json.h"

enum { ALIGN = 64, GROWTH_DIGITS = 21 };

/* Without the letter that tells the order of bytes. */
static const struct {
	const char *name;
	sherd_dtype dtype;
} names[] = {
	{"b1", SHERD_BOOL}, {"i1", SHERD_I8},  {"u1", SHERD_U8},  {"i2", SHERD_I16}, {"u2", SHERD_U16},
	{"i4", SHERD_I32},  {"u4", SHERD_U32}, {"i8", SHERD_I64}, {"u8", SHERD_U64}, {"f2", SHERD_F16},
	{"f4", SHERD_F32},  {"f8", SHERD_F64}, {"c8", SHERD_C64},
};

/* How long magic, version and the length of the text are, and the length of the text. */
static int decode_first(shd_cursor *c, uint64_t *text_len, sherd_error *err)
{
	const uint8_t *magic = shd_cursor_bytes(c, SHD_NPY_MAGIC_BYTES);
	if (magic && memcmp(magic, SHD_NPY_MAGIC, SHD_NPY_MAGIC_BYTES) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "not a NumPy file");
	uint8_t major = shd_cursor_u8(c), minor = shd_cursor_u8(c);
	if (!c->failed && (major < 1 || major > 3 || minor != 0))
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", SHD_NPY_MAGIC_BYTES,
		                   "version %u.%u of the format", major, minor);
	uint64_t n = major == 1 ? shd_cursor_u16(c) : shd_cursor_u32(c);
	TRY(shd_cursor_check(c, "the head", err));
	*text_len = n;
	return major;
}

int shd_npy_decode_length(const void *raw, size_t len, uint64_t file_size, uint64_t *head_len, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(raw, len < file_size ? len : (size_t)file_size);
	uint64_t text_len;
	TRY(decode_first(&c, &text_len, err));
	if (text_len > file_size - c.pos)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "the file ends before its head of %llu bytes does",
		                   (unsigned long long)(c.pos + text_len));
	*head_len = c.pos + text_len;
	return SHERD_OK;
}

/* The text of the head: as much of Python's literals as arrays need, and no more. */
typedef struct parser {
	const char *text;
	size_t len, pos;
	uint64_t base; /* of text in the file */
	bool longs;    /* numbers may end with L: Python 2 wrote versions 1.0 and 2.0 */
	uint32_t max_dims;
	shd_npy out;
	bool fortran;
} parser;

static int bad_text(const parser *p, size_t at, const char *what, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-header", p->base + at, "%s", what);
}

/* The next byte that is no white space, without taking it; 0 at the end, which no literal contains. */
static char peek(parser *p)
{
	while (p->pos < p->len && p->text[p->pos] && strchr(" \t\n\r\f", p->text[p->pos]))
		p->pos++;
	return p->pos < p->len ? p->text[p->pos] : 0;
}

static bool tensor_npy_take(parser *p, char want)
{
	if (peek(p) != want || p->pos == p->len)
		return false;
	p->pos++;
	return true;
}

static int expect(parser *p, char want, const char *what, sherd_error *err)
{
	return tensor_npy_take(p, want) ? SHERD_OK : bad_text(p, p->pos, what, err);
}

static int parse_string(parser *p, shd_str *out, sherd_error *err)
{
	char quote = peek(p);
	if (quote != '\'' && quote != '"')
		return bad_text(p, p->pos, "text in quotes is expected", err);
	size_t start = ++p->pos;
	while (p->pos < p->len && p->text[p->pos] != quote) {
		unsigned char c = (unsigned char)p->text[p->pos];
		if (c == '\\' || c < 0x20)
			return bad_text(p, p->pos, "an escape or control character in quotes", err);
		p->pos++;
	}
	if (p->pos == p->len)
		return bad_text(p, p->pos, "the text in quotes does not end", err);
	*out = (shd_str){p->text + start, p->pos++ - start};
	return SHERD_OK;
}

static int parse_descr(parser *p, sherd_error *err)
{
	shd_str s;
	char first = peek(p);
	size_t at = p->pos;
	if (first == '[' || first == '(')
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", p->base + at,
		                   "structured element types are not supported");
	TRY(parse_string(p, &s, err));
	if (s.len && strchr("<>|=", s.ptr[0]))
		for (size_t i = 0; i < COUNT_OF(names); i++)
			if (shd_str_is((shd_str){s.ptr + 1, s.len - 1}, names[i].name))
				p->out.dtype = names[i].dtype;
	if (p->out.dtype == SHERD_DTYPE_NONE)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", p->base + at,
		                   "element type '%.*s' is not supported", s.len > 64 ? 64 : (int)s.len, s.ptr);
	p->out.swap = s.ptr[0] == '>' && sherd_dtype_element_bytes(p->out.dtype) > 1;
	return SHERD_OK;
}

static bool tensor_npy_take_word(parser *p, const char *word)
{
	(void)peek(p);
	if (!shd_str_starts((shd_str){p->text + p->pos, p->len - p->pos}, word))
		return false;
	p->pos += strlen(word);
	return true;
}

static int parse_fortran(parser *p, sherd_error *err)
{
	p->fortran = tensor_npy_take_word(p, "True");
	if (!p->fortran && !tensor_npy_take_word(p, "False"))
		return bad_text(p, p->pos, "fortran_order is neither True nor False", err);
	return SHERD_OK;
}

static bool is_digit(const parser *p)
{
	return p->pos < p->len && p->text[p->pos] >= '0' && p->text[p->pos] <= '9';
}

static int parse_dim(parser *p, uint64_t *out, sherd_error *err)
{
	uint64_t v = 0;
	(void)peek(p);
	size_t at = p->pos;
	for (; is_digit(p); p->pos++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(p->text[p->pos] - '0'), &v))
			return shd_fail_at(err, SHERD_ECORRUPT, "overflow", p->base + at,
			                   "a dimension does not fit 64 bits");
	if (p->pos == at)
		return bad_text(p, at, "a dimension is expected", err);
	if (p->text[at] == '0' && p->pos - at > 1)
		return bad_text(p, at, "a dimension with leading zeros", err);
	if (p->longs && p->pos < p->len && p->text[p->pos] == 'L')
		p->pos++;
	*out = v;
	return SHERD_OK;
}

/* A tuple: "()", "(3,)", "(2, 3)", "(2, 3,)". One number in parentheses is no tuple. */
static int parse_shape(parser *p, sherd_error *err)
{
	uint32_t n = 0;
	bool comma = true;
	TRY(expect(p, '(', "shape is not a tuple", err));
	while (!tensor_npy_take(p, ')')) {
		if (!comma)
			return bad_text(p, p->pos, "a comma or ) is expected in shape", err);
		if (n == p->max_dims)
			return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", p->base + p->pos,
			                   "more than %u dimensions", p->max_dims);
		TRY(parse_dim(p, &p->out.shape[n++], err));
		comma = tensor_npy_take(p, ',');
	}
	if (n == 1 && !comma)
		return bad_text(p, p->pos - 1, "shape is a number, not a tuple", err);
	p->out.ndim = n;
	return SHERD_OK;
}

static int parse_pair(parser *p, unsigned *seen, sherd_error *err)
{
	static const struct {
		const char *key;
		int (*parse)(parser *, sherd_error *);
	} keys[] = {{"descr", parse_descr}, {"fortran_order", parse_fortran}, {"shape", parse_shape}};
	shd_str key;
	(void)peek(p);
	size_t at = p->pos;
	TRY(parse_string(p, &key, err));
	for (unsigned i = 0; i < COUNT_OF(keys); i++) {
		if (!shd_str_is(key, keys[i].key))
			continue;
		if (*seen & 1u << i)
			return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-key", p->base + at, "%s stands there twice",
			                   keys[i].key);
		*seen |= 1u << i;
		TRY(expect(p, ':', "a colon is expected", err));
		return keys[i].parse(p, err);
	}
	return bad_text(p, at, "a key other than descr, fortran_order and shape", err);
}

static int parse_dictionary(parser *p, sherd_error *err)
{
	unsigned seen = 0;
	bool comma = true;
	TRY(expect(p, '{', "the head is not a dictionary", err));
	while (!tensor_npy_take(p, '}')) {
		if (!comma)
			return bad_text(p, p->pos, "a comma or } is expected", err);
		TRY(parse_pair(p, &seen, err));
		comma = tensor_npy_take(p, ',');
	}
	if (seen != 7)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", p->base + p->pos - 1, "the head has no %s",
		                   !(seen & 1)   ? "descr"
		                   : !(seen & 2) ? "fortran_order"
		                                 : "shape");
	if (peek(p) || p->pos < p->len)
		return bad_text(p, p->pos, "text after the dictionary", err);
	return SHERD_OK;
}

static int tensor_npy_check_data(shd_npy *npy, uint64_t at, uint64_t file_size, sherd_error *err)
{
	if (!sherd_tensor_bytes(&npy->bytes, npy->dtype, npy->ndim, npy->shape))
		return shd_fail_at(err, SHERD_ECORRUPT, "overflow", at, "the size of the array does not fit 64 bits");
	uint64_t have = file_size - npy->data;
	if (npy->bytes > have)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "%llu bytes of data are missing at the end",
		                   (unsigned long long)(npy->bytes - have));
	if (npy->bytes < have)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", npy->data + npy->bytes,
		                   "%llu bytes after the array", (unsigned long long)(have - npy->bytes));
	return SHERD_OK;
}

int shd_npy_decode(const void *head, size_t len, uint64_t file_size, const sherd_limits *limits, shd_npy *out,
                   sherd_error *err)
{
	sherd_limits l = shd_limits_or_default(limits);
	shd_cursor c = shd_cursor_over(head, len);
	uint64_t text_len;
	int version = decode_first(&c, &text_len, err);
	TRY(version);
	const char *text = (const char *)shd_cursor_bytes(&c, text_len);
	TRY(shd_cursor_end(&c, "the head", err));
	if (file_size < len)
		return shd_fail(err, SHERD_EINVAL, "bad-length", "a head of %zu bytes in a file of %llu", len,
		                (unsigned long long)file_size);
	if (len > l.metadata_bytes)
		return shd_fail(err, SHERD_ELIMIT, "too-long", "a head of %zu bytes", len);
	size_t bad;
	if (version == 3 && !shd_utf8_valid(text, text_len, &bad))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", len - text_len + bad, "the head is not UTF-8");

	parser p = {.text = text,
	            .len = text_len,
	            .base = len - text_len,
	            .longs = version < 3,
	            .max_dims = l.dims,
	            .out = {.data = len, .version = (uint8_t)version}};
	TRY(parse_dictionary(&p, err));
	TRY(tensor_npy_check_data(&p.out, p.base, file_size, err));
	p.out.fortran = p.fortran && p.out.ndim > 1;
	*out = p.out;
	return SHERD_OK;
}

static const char *tensor_npy_name_of(sherd_dtype dtype)
{
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (names[i].dtype == dtype)
			return names[i].name;
	return NULL;
}

/* NumPy leaves room for the first dimension to grow, so that files can be appended to in place. */
static void tensor_npy_put_text(shd_buf *out, const sherd_tensor *t, const char *name)
{
	shd_buf_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
	               sherd_dtype_element_bytes(t->dtype) > 1 ? '<' : '|', name);
	int digits = 0;
	for (uint32_t i = 0; i < t->ndim; i++) {
		size_t before = out->len;
		shd_buf_printf(out, "%llu", (unsigned long long)t->shape[i]);
		if (i == 0)
			digits = (int)(out->len - before);
		if (i + 1 < t->ndim)
			shd_buf_str(out, ", ");
	}
	shd_buf_str(out, t->ndim == 1 ? ",), }" : "), }");
	if (t->ndim)
		shd_buf_printf(out, "%*s", GROWTH_DIGITS - digits, "");
}

int shd_npy_encode(const sherd_tensor *tensor, shd_buf *out, sherd_error *err)
{
	uint64_t bytes;
	const char *name = tensor_npy_name_of(tensor->dtype);
	if (!name) {
		const sherd_dtype_info *info = sherd_dtype_describe(tensor->dtype);
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "npy cannot hold %.128s, which is %s",
		                tensor->name, info ? info->name : "of an unknown type");
	}
	if (tensor->ndim > SHERD_MAX_DIMS || !sherd_tensor_bytes(&bytes, tensor->dtype, tensor->ndim, tensor->shape) ||
	    bytes != tensor->bytes)
		return shd_fail(err, SHERD_EINVAL, "size-mismatch", "%.128s does not have the size its shape gives",
		                tensor->name);
	SHD_AUTO_BUF text = {0};
	tensor_npy_put_text(&text, tensor, name);
	/* A head that ends on the boundary already gets another 64 spaces, as NumPy does it. */
	size_t fixed = SHD_NPY_MAGIC_BYTES + 4;
	size_t pad = ALIGN - (fixed + text.len + 1) % ALIGN;
	shd_buf_printf(&text, "%*s\n", (int)pad, "");
	TRY(shd_buf_check(&text, err));

	shd_buf_append(out, SHD_NPY_MAGIC "\x01\x00", SHD_NPY_MAGIC_BYTES + 2);
	shd_buf_u16(out, (uint16_t)text.len);
	shd_buf_append(out, text.data, text.len);
	return shd_buf_check(out, err);
}
