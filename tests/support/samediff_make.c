#include "support/samediff_make.h"

#include "support/flat_make.h"

#define ARRAY_FIELDS "4411"
#define VARIABLE_FIELDS "4414441444"
#define NODE_FIELDS "441844444444444444444444"
#define PROPERTY_FIELDS "44444444"
#define ROOT_FIELDS "8444444444"

#define B(text) text, sizeof(text) - 1

const samediff_row samediff_rows[] = {
	{"w",
         0,
         5,
         1,
         'f',
         2,
         {2, 3},
         8192,
         B("\x3f\x80\0\0\x40\x80\0\0\x40\0\0\0\x40\xa0\0\0\x40\x40\0\0\x40\xc0\0\0"),
         SHERD_F32,
         B("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40")},
	{"half", 1, 3, 1, 'c', 1, {2}, 4096, B("\x3c\0\xc0\0"), SHERD_F16, B("\0\x3c\0\xc0")},
	{"bf16", 1, 17, 1, 'c', 1, {2}, 2048, B("\x3f\x80\xc0\0"), SHERD_BF16, B("\x80\x3f\0\xc0")},
	{"bool", 1, 1, 1, 'c', 1, {3}, 524288, B("\1\0\1"), SHERD_BOOL, B("\1\0\1")},
	{"i8", 1, 7, 1, 'c', 1, {2}, 32768, B("\xff\2"), SHERD_I8, B("\xff\2")},
	{"u8", 1, 11, 1, 'f', 2, {2, 2}, 8421376, B("\1\3\2\4"), SHERD_U8, B("\1\2\3\4")},
	{"i16", 1, 8, 1, 'c', 1, {2}, 65536, B("\xff\xfe\0\2"), SHERD_I16, B("\xfe\xff\2\0")},
	{"u16", 1, 12, 1, 'c', 1, {1}, 8454144, B("\1\2"), SHERD_U16, B("\2\1")},
	{"i32", 1, 9, 1, 'c', 3, {1, 2, 1}, 131072, B("\1\2\3\4\5\6\7\10"), SHERD_I32, B("\4\3\2\1\10\7\6\5")},
	{"u32", 1, 13, 1, 'c', 0, {0}, 8519680, B("\1\2\3\4"), SHERD_U32, B("\4\3\2\1")},
	{"i64", 1, 10, 1, 'c', 0, {0}, 262144, B("\1\2\3\4\5\6\7\10"), SHERD_I64, B("\10\7\6\5\4\3\2\1")},
	{"u64", 1, 14, 1, 'c', 0, {0}, 8650752, B("\xff\2\3\4\5\6\7\10"), SHERD_U64, B("\10\7\6\5\4\3\2\xff")},
	{"f64", 1, 6, 1, 'c', 0, {0}, 16384, B("\x3f\xe0\0\0\0\0\0\0"), SHERD_F64, B("\0\0\0\0\0\0\xe0\x3f")},
	{"le", 1, 9, 0, 'c', 1, {2}, 131072, B("\1\0\0\0\2\0\0\0"), SHERD_I32, B("\1\0\0\0\2\0\0\0")},
	{"text",
         1,
         50,
         1,
         'c',
         1,
         {2},
         1048576,
         B("\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab"),
         SHERD_UTF8,
         B("\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab")},
	{"old",
         1,
         50,
         1,
         'c',
         0,
         {0},
         1048576,
         B("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3xyz"),
         SHERD_UTF8,
         B("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0xyz")},
	{"none", 1, 50, 1, 'c', 0, {0}, 1048584, NULL, 0, SHERD_UTF8, B("\0\0\0\0\0\0\0\0")},
	{"empty", 1, 6, 1, 'c', 0, {0}, 131080, NULL, 0, SHERD_F64, "", 0},
	{"zero", 1, 5, 1, 'c', 2, {2, 0}, 8200, NULL, 0, SHERD_F32, "", 0},
	{"@op/mul/scalar", 1, 7, 1, 'c', 0, {0}, 32768, B("\7"), SHERD_I8, B("\7")},
};
const size_t samediff_row_count = COUNT_OF(samediff_rows);

/* Makes the offset at from lead to the array. */
static void put_array(shd_buf *b, size_t from, const samediff_row *row)
{
	int64_t info[2 * 3 + 4] = {row->rank}, step = 1;
	uint32_t rank = row->rank;
	for (uint32_t k = 0; k < rank; k++) {
		uint32_t d = row->order == 'f' ? k : rank - 1 - k;
		info[1 + d] = row->dims[d];
		info[1 + rank + d] = step;
		step *= row->dims[d];
	}
	info[2 * rank + 1] = row->extras;
	info[2 * rank + 2] = 1;
	info[2 * rank + 3] = (unsigned char)row->order;
	size_t t = flat_table(b, row->data ? ARRAY_FIELDS : "4011");
	flat_point(b, from, t);
	flat_add_i64s(b, t, 0, info, 2 * rank + 4);
	if (row->data)
		flat_add_bytes(b, t, 1, row->data, row->len);
	flat_set_u8(b, t, 2, row->type);
	flat_set_u8(b, t, 3, row->big);
}

/* A small array for where any will do: F32 of one element. */
static void put_one(shd_buf *b, size_t from)
{
	static const samediff_row one = {
		.type = 5, .big = 1, .order = 'c', .rank = 1, .dims = {1}, .data = "\x40\x20\0", .len = 4};
	put_array(b, from, &one);
}

static size_t put_variable(shd_buf *b, size_t from, const char *name, uint8_t kind, uint8_t type, int32_t id,
                           const char *fields)
{
	size_t t = flat_table(b, fields);
	flat_point(b, from, t);
	size_t pair = flat_add_table(b, t, 0, "44");
	flat_set_i32(b, pair, 0, id);
	flat_add_text(b, t, 1, name);
	flat_set_u8(b, t, 2, type);
	flat_set_u8(b, t, 6, kind);
	return t;
}

static size_t begin_graph(shd_buf *b, const char *fields)
{
	flat_begin(b);
	size_t root = flat_table(b, fields);
	flat_point(b, 0, root);
	return root;
}

void samediff_make_small(shd_buf *b)
{
	static const samediff_row c = {.type = 5,
	                               .big = 1,
	                               .order = 'c',
	                               .rank = 1,
	                               .dims = {2},
	                               .extras = 8192,
	                               .data = "\x3f\xc0\0\0\xc0\0\0",
	                               .len = 8};
	size_t root = begin_graph(b, "044");
	size_t list = flat_add_offsets(b, root, 1, 1);
	size_t v = put_variable(b, list, "c", 1, 5, 1, "4410401");
	put_array(b, flat_field(b, v, 4), &c);
	(void)flat_add_offsets(b, root, 2, 0);
	shd_buf_zero(b, 8 - b->len % 8);
}

void samediff_make_hollow(shd_buf *b, const char *name)
{
	size_t root = begin_graph(b, "044");
	size_t list = flat_add_offsets(b, root, 1, 1);
	(void)put_variable(b, list, name, 1, 5, 1, "4410001");
	(void)flat_add_offsets(b, root, 2, 0);
}

static void put_texts(shd_buf *b, size_t t, unsigned field, const char *first, const char *second)
{
	const char *const texts[] = {first, second};
	flat_add_texts(b, t, field, texts, 2);
}

static void put_variables(shd_buf *b, size_t root)
{
	uint32_t count = (uint32_t)samediff_row_count + 2;
	size_t list = flat_add_offsets(b, root, 1, count);
	size_t in = put_variable(b, list, "in", 3, 5, 1, "4414041444");
	flat_add_i64s(b, in, 3, (const int64_t[]){-1, 3}, 2);
	flat_set_i32(b, in, 5, -1);
	put_texts(b, in, 7, "a", "b");
	put_texts(b, in, 8, "c", "d");
	put_texts(b, in, 9, "e", "f");
	for (uint32_t i = 0; i < samediff_row_count; i++) {
		const samediff_row *row = &samediff_rows[i];
		size_t v = put_variable(b, list + 4 * (size_t)(i + 1), row->name, row->kind, row->type, (int32_t)i + 2,
		                        "4410401");
		put_array(b, flat_field(b, v, 4), row);
	}
	(void)put_variable(b, list + 4 * (size_t)(count - 1), "out", 2, 5, 100, "4410001");
}

static void put_properties(shd_buf *b, size_t node)
{
	static const double reals[] = {0.5, -3};
	int64_t bits[2];
	memcpy(bits, reals, sizeof(bits));
	size_t list = flat_add_offsets(b, node, 4, 2);
	size_t all = flat_table(b, PROPERTY_FIELDS);
	flat_point(b, list, all);
	flat_add_text(b, all, 0, "all");
	flat_add_i32s(b, all, 1, (const int32_t[]){1, -2}, 2);
	flat_add_i64s(b, all, 2, (const int64_t[]){3, -4}, 2);
	flat_add_i64s(b, all, 3, bits, 2);
	size_t arrays = flat_add_offsets(b, all, 4, 2);
	put_one(b, arrays);
	put_one(b, arrays + 4);
	flat_add_bytes(b, all, 5, "\1\0", 2);
	put_texts(b, all, 6, "s", "t");
	flat_add_i32s(b, all, 7, (const int32_t[]){2}, 1);
	size_t null = flat_table(b, "4");
	flat_point(b, list + 4, null);
	flat_add_text(b, null, 0, "null");
}

static void put_node(shd_buf *b, size_t from)
{
	size_t n = flat_table(b, NODE_FIELDS);
	flat_point(b, from, n);
	flat_set_i32(b, n, 0, 100);
	flat_add_text(b, n, 1, "mul");
	flat_set_u8(b, n, 2, 21);
	flat_set_i64(b, n, 3, -273014250715117663);
	put_properties(b, n);
	flat_add_i32s(b, n, 5, NULL, 0);
	size_t pairs = flat_add_offsets(b, n, 6, 2);
	for (int32_t i = 0; i < 2; i++) {
		size_t pair = flat_table(b, "44");
		flat_point(b, pairs + 4 * (size_t)i, pair);
		flat_set_i32(b, pair, 0, i + 1);
	}
	flat_add_i32s(b, n, 7, (const int32_t[]){(int32_t)samediff_row_count + 1}, 1);
	flat_add_i64s(b, n, 8, (const int64_t[]){0x3ff8000000000000}, 1);
	flat_add_i64s(b, n, 9, (const int64_t[]){INT64_MIN, 7}, 2);
	flat_add_bytes(b, n, 10, "\1", 1);
	flat_add_i32s(b, n, 11, (const int32_t[]){INT32_MAX}, 1);
	flat_set_i32(b, n, 12, -1);
	flat_set_i32(b, n, 13, 5);
	flat_add_text(b, n, 14, "scope");
	flat_add_texts(b, n, 15, (const char *const[]){"out"}, 1);
	flat_add_text(b, n, 16, "mmul");
	flat_add_bytes(b, n, 17, "\5", 1);
	put_one(b, flat_field(b, n, 18));
	put_texts(b, n, 19, "x", "y");
	put_texts(b, n, 20, "in", "w");
	put_texts(b, n, 21, "z", "");
	flat_add_bytes(b, n, 22, "\6\1", 2);
	put_texts(b, n, 23, "p", "q");
}

static void put_states(shd_buf *b, size_t root)
{
	size_t list = flat_add_offsets(b, root, 8, 1);
	size_t state = flat_table(b, "444");
	flat_point(b, list, state);
	flat_add_text(b, state, 0, "w");
	put_texts(b, state, 1, "M", "V");
	size_t arrays = flat_add_offsets(b, state, 2, 2);
	put_one(b, arrays);
	put_one(b, arrays + 4);
	list = flat_add_offsets(b, root, 9, 1);
	size_t sequence = flat_table(b, "44");
	flat_point(b, list, sequence);
	flat_add_text(b, sequence, 0, "seq");
	put_one(b, flat_add_offsets(b, sequence, 1, 1));
}

void samediff_make_full(shd_buf *b)
{
	size_t root = begin_graph(b, ROOT_FIELDS);
	flat_set_i64(b, root, 0, 12);
	put_variables(b, root);
	put_node(b, flat_add_offsets(b, root, 2, 1));
	(void)flat_add_offsets(b, root, 3, 0);
	size_t c = flat_add_table(b, root, 4, "81111881");
	flat_set_i64(b, c, 0, -1);
	flat_set_u8(b, c, 3, 3);
	flat_set_u8(b, c, 4, 1);
	flat_set_i64(b, c, 6, 99);
	flat_set_u8(b, c, 7, 2);
	flat_add_texts(b, root, 5, (const char *const[]){"in"}, 1);
	flat_add_texts(b, root, 6, (const char *const[]){"out"}, 1);
	flat_add_text(b, root, 7, "{\"updater\":{}}");
	put_states(b, root);
}

void samediff_make_owner(shd_buf *b, const char *name, uint32_t arrays, bool elements)
{
	const samediff_row bare = {.type = 5, .order = 'c', .rank = 1, .dims = {1}, .extras = 8192};
	size_t root = begin_graph(b, "044");
	(void)flat_add_offsets(b, root, 1, 0);
	size_t list = flat_add_offsets(b, root, 2, 1);
	size_t node = flat_table(b, "04004000000000004");
	flat_point(b, list, node);
	flat_add_text(b, node, 1, name);
	flat_add_text(b, node, 16, "add");
	list = flat_add_offsets(b, node, 4, 1);
	size_t property = flat_table(b, "40004");
	flat_point(b, list, property);
	flat_add_text(b, property, 0, "p");
	list = flat_add_offsets(b, property, 4, arrays);
	for (uint32_t i = 0; i < arrays; i++) {
		if (elements)
			put_one(b, list + 4 * (size_t)i);
		else
			put_array(b, list + 4 * (size_t)i, &bare);
	}
	shd_buf_zero(b, 8 - b->len % 8);
}
