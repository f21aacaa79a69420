#include "support/samediff_old_make.h"

#include "support/flat_make.h"

enum { MMUL_ID = 9, TANH_ID = 7, ADD_ID = 8, RESULT_ID = 4, MORE_ID = 5 };

typedef struct old_array {
	const char *name;
	int32_t id;
	uint8_t type, big;
	uint32_t rank;
	int64_t dims[3], strides[3];
	char letter;
	const char *data;
	uint32_t len;
} old_array;

#define B(text) text, sizeof(text) - 1

static const old_array arrays[] = {
	{"w",
         1,
         5,
         1,
         2,
         {2, 3},
         {1, 2},
         'f',
         B("\x3f\x80\0\0\x40\x80\0\0\x40\0\0\0\x40\xa0\0\0\x40\x40\0\0\x40\xc0\0\0")},
	/* k varies slowest, then i, then j */
	{"p",
         2,
         9,
         1,
         3,
         {2, 3, 2},
         {3, 1, 6},
         'c',
         B("\0\0\0\0\0\0\0\x0a\0\0\0\x14\0\0\0\x64\0\0\0\x6e\0\0\0\x78"
           "\0\0\0\1\0\0\0\x0b\0\0\0\x15\0\0\0\x65\0\0\0\x6f\0\0\0\x79")},
	{"h", 3, 3, 0, 1, {2}, {1}, 'c', B("\0\x3c\0\xc0")},
	{"s", RESULT_ID, 6, 1, 0, {0}, {0}, 'c', B("\x3f\xe0\0\0\0\0\0\0")},
	{"m:1", MORE_ID, 10, 1, 0, {0}, {0}, 'c', B("\0\0\0\0\0\0\0\x2a")},
};

static void put_array(shd_buf *b, size_t from, const old_array *a, bool narrow)
{
	int64_t info[2 * 3 + 4] = {a->rank};
	int32_t narrowed[2 * 3 + 4];
	uint32_t n = 2 * a->rank + 4;
	for (uint32_t d = 0; d < a->rank; d++) {
		info[1 + d] = a->dims[d];
		info[1 + a->rank + d] = a->strides[d];
	}
	info[n - 2] = 1;
	info[n - 1] = (uint8_t)a->letter;
	for (uint32_t i = 0; i < n; i++)
		narrowed[i] = (int32_t)info[i];
	size_t t = flat_table(b, "4411");
	flat_point(b, from, t);
	if (narrow)
		flat_add_i32s(b, t, 0, narrowed, n);
	else
		flat_add_i64s(b, t, 0, info, n);
	flat_add_bytes(b, t, 1, a->data, a->len);
	flat_set_u8(b, t, 2, a->type);
	flat_set_u8(b, t, 3, a->big);
}

static void put_variable(shd_buf *b, size_t from, const old_array *a, samediff_age age)
{
	bool typed = age == SAMEDIFF_SNAPSHOT || age == SAMEDIFF_SHIFTED;
	size_t t = flat_table(b, typed ? "441044" : "44044");
	flat_point(b, from, t);
	size_t pair = flat_add_table(b, t, 0, "44");
	flat_set_i32(b, pair, 0, a->id);
	flat_add_text(b, t, 1, a->name);
	if (typed)
		flat_set_u8(b, t, 2, a->type);
	put_array(b, flat_field(b, t, typed ? 4 : 3), a, age == SAMEDIFF_SHORT_SHAPES || age == SAMEDIFF_SHORT_ID);
	flat_set_i32(b, t, typed ? 5 : 4, -1);
}

typedef struct old_node {
	int32_t id;
	const char *name, *op;
	uint8_t type;
	int64_t number;
	int32_t inputs[2];
	uint32_t scalar; /* bits */
} old_node;

static void put_inputs(shd_buf *b, size_t t, const old_node *n)
{
	uint32_t count = n->inputs[1] ? 2 : 1;
	size_t list = flat_add_offsets(b, t, 6, count);
	for (uint32_t i = 0; i < count; i++) {
		size_t pair = flat_table(b, "44");
		flat_point(b, list + 4 * (size_t)i, pair);
		flat_set_i32(b, pair, 0, n->inputs[i]);
	}
}

/* Fields as beta2 and beta3 have them; those of SHIFTED lack dataType and have bools instead. */
static void put_node(shd_buf *b, size_t from, const old_node *n, samediff_age age)
{
	bool shifted = age == SAMEDIFF_SHIFTED, named = age == SAMEDIFF_BETA3 || age == SAMEDIFF_SNAPSHOT || shifted;
	unsigned shift = shifted ? 1 : 0;
	size_t t = flat_table(b, shifted ? "441844444444400444" : named ? "441844404444440444" : "4418444044444404");
	flat_point(b, from, t);
	flat_set_i32(b, t, 0, n->id);
	flat_add_text(b, t, 1, n->name);
	flat_set_u8(b, t, 2, n->type);
	flat_set_i64(b, t, 3, n->number);
	(void)flat_add_offsets(b, t, 4, 0);
	flat_add_i32s(b, t, 5, NULL, 0);
	put_inputs(b, t, n);
	flat_add_i32s(b, t, 8 - shift, (const int32_t[]){55}, 1);
	flat_add_i64s(b, t, 9 - shift, (const int64_t[]){0x3ff8000000000000}, 1);
	flat_add_i64s(b, t, 10 - shift, (const int64_t[]){7}, 1);
	if (shifted)
		flat_add_bytes(b, t, 10, "\1", 1);
	flat_add_i32s(b, t, 11, (const int32_t[]){1}, 1);
	flat_set_i32(b, t, 12, -1);
	if (!shifted)
		flat_set_i32(b, t, 13, (int32_t)n->scalar);
	flat_add_text(b, t, 15, "scope");
	if (!named)
		return;
	flat_add_texts(b, t, 16, &n->name, 1);
	flat_add_text(b, t, 17, n->op);
}

void samediff_make_old(shd_buf *b, samediff_age age)
{
	bool custom = age == SAMEDIFF_BETA2_ONLY_CUSTOM;
	/* beta2 knows a result by its variable's id or by its operation's; both occur. */
	const old_node nodes[] = {
		{TANH_ID, "t", "tanh", custom ? 11 : 0, 5, {1, 0}, 0},
		{ADD_ID, "s", "add_scalar", custom ? 11 : 3, 0, {TANH_ID, 0}, 0x40200000},
		{MMUL_ID, "m", "mmul", 11, -273014250715117663, {age == SAMEDIFF_BETA3 ? ADD_ID : RESULT_ID, 1}, 0},
	};
	uint32_t variables = age == SAMEDIFF_BETA3 ? 4 : 5;
	flat_begin(b);
	size_t root = flat_table(b, age == SAMEDIFF_SHORT_ID ? "44444" : "84444");
	flat_point(b, 0, root);
	flat_set_i32(b, root, 0, 119);
	size_t list = flat_add_offsets(b, root, 1, variables);
	for (uint32_t i = 0; i < variables; i++) {
		old_array a = arrays[i];
		if (age == SAMEDIFF_BETA3 && a.id == RESULT_ID)
			a.id = ADD_ID;
		put_variable(b, list + 4 * (size_t)i, &a, age);
	}
	list = flat_add_offsets(b, root, 2, COUNT_OF(nodes));
	for (uint32_t i = 0; i < COUNT_OF(nodes); i++)
		put_node(b, list + 4 * (size_t)i, &nodes[i], age);
	(void)flat_add_offsets(b, root, 3, 0);
	size_t c = flat_add_table(b, root, 4, "81111881");
	flat_set_i64(b, c, 0, -1);
	flat_set_u8(b, c, 3, 3);
}
