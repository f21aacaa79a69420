/* Pickles as inert trees: every protocol, every instruction, and what becomes of hostile ones. */
#include "support/corpus.h"
#include "support/source_file.h"
#include "support/test.h"

#include "format/pickle/pickle.h"
#include "format/torch/state.h"

#include <stdio.h>
#include <stdlib.h>

static int decode_alone(const uint8_t *data, size_t len, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle p;
	return shd_pickle_decode(data, len, &arena, &p, err);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/pickle", decode_alone, 12, 30, 0);
}

/* What is no tensor, as texts; the arena holds it. */
static void values_of(const char *bytes, size_t len, shd_arena *arena, shd_buf *out)
{
	shd_pickle p;
	shd_torch_state s;
	SHD_AUTO_FREE sherd_pair *pairs = NULL;
	size_t count;
	assert_ok(shd_pickle_decode(bytes, len, arena, &p, err));
	assert_ok(shd_torch_state_of(&p, NULL, arena, &s, err));
	assert_ok(sherd_pairs_of_values(&pairs, &count, s.values, s.value_count, err));
	for (size_t i = 0; i < count; i++)
		shd_buf_printf(out, "%s=%s\n", pairs[i].key, pairs[i].value);
	shd_buf_u8(out, 0);
}

TEST(all_protocols_say_the_same)
{
	static const char wanted[] =
		"a=[1, -1, 2147483648, 1099511627776, \"1180591620717411303424\", \"-1180591620717411303424\", 1.5, "
		"\"inf\", "
		"null, true, false]\nt=[1, [2], []]\ns=gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \xe2\x82\xac\n";
	for (int protocol = 1; protocol < 6; protocol++) {
		SHD_DONE(shd_arena_done) shd_arena arena = {0};
		SHD_AUTO_BUF text = {0};
		char path[64];
		size_t len;
		(void)snprintf(path, sizeof(path), "tests/corpus/pickle/y_protocol_%d", protocol);
		SHD_AUTO_FREE uint8_t *data = source_file_read(path, &len);
		values_of((const char *)data, len, &arena, &text);
		assert_memory_equal(text.data, wanted, sizeof(wanted) - 1);
		assert_non_null(strstr((const char *)text.data, "argparse.Namespace"));
		assert_non_null(strstr((const char *)text.data, "\n3=4\n"));
	}
}

TEST(values_have_types)
{
	static const char bytes[] =
		"}(X\1\0\0\0bI01\nX\1\0\0\0f\x47\x3f\xe0\0\0\0\0\0\0X\1\0\0\0u\x8a\x09\xff\xff\xff\xff\xff"
		"\xff\xff\xff\0X\1\0\0\0l](K\1K\2eu.";
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle p;
	shd_torch_state s;
	assert_ok(shd_pickle_decode(bytes, sizeof(bytes) - 1, &arena, &p, err));
	assert_ok(shd_torch_state_of(&p, NULL, &arena, &s, err));
	assert_int_equal(s.value_count, 4);
	assert_int_equal(s.values[0].type, SHERD_BOOL);
	assert_int_equal(s.values[1].type, SHERD_F64);
	assert_true(*(const double *)s.values[1].items == 0.5);
	assert_int_equal(s.values[2].type, SHERD_U64);
	assert_true(*(const uint64_t *)s.values[2].items == UINT64_MAX);
	assert_true(s.values[3].is_array && s.values[3].type == SHERD_I64 && s.values[3].count == 2);
}

TEST(what_is_called_is_told_and_what_is_only_named_too)
{
	static const char bytes[] = "cos\nsystem\nX\1\0\0\0x\x85R0cbuiltins\neval\n0c__main__\nThing\n)\x81.";
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle p;
	assert_ok(shd_pickle_decode(bytes, sizeof(bytes) - 1, &arena, &p, err));
	assert_int_equal(p.global_count, 3);
	assert_string_equal(p.globals[0].name, "os.system");
	assert_true(p.globals[0].called && !p.globals[1].called && p.globals[2].called);
	assert_int_equal(p.root.kind, SHD_PICKLE_OBJECT);
}

/* A dictionary, its pairs as arguments of an object, and pairs that are set on the object alone. */
TEST(an_object_grows_apart_from_its_arguments)
{
	static const char bytes[] = "}q\0X\1\0\0\0aNs0ca\nb\n)h\0\x92(X\1\0\0\0bNX\1\0\0\0cNuh\0\x86.";
	static const size_t wanted[] = {6, 2};
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle p;
	const shd_pickle_value *items = NULL;
	shd_pickle_value v;
	assert_ok(shd_pickle_decode(bytes, sizeof(bytes) - 1, &arena, &p, err));
	assert_int_equal(shd_pickle_tuple(p.root, &items), 2);
	for (size_t i = 0; i < COUNT_OF(wanted); i++) {
		const shd_pickle_list *pairs = shd_pickle_pairs(items[i]);
		size_t runs = 0, walked = 0;
		for (const shd_pickle_run *run = pairs->first; run; run = run->next)
			runs += run->count;
		for (shd_pickle_cursor c = shd_pickle_walk(pairs); shd_pickle_next(&c, &v);)
			walked++;
		assert_int_equal(pairs->count, wanted[i]);
		assert_int_equal(runs, wanted[i]);
		assert_int_equal(walked, wanted[i]);
	}
}

/* Numbers whose low bits are alike: as fast as any others. */
TEST(values_are_remembered_under_any_number)
{
	enum { NUMBERS = 65535, TIMES = 400000 };
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_AUTO_BUF b = {0};
	shd_pickle p;
	for (uint32_t k = 0; k < NUMBERS; k++) {
		shd_buf_u8(&b, 'J');
		shd_buf_u32(&b, k);
		shd_buf_u8(&b, 'r');
		shd_buf_u32(&b, k << 16);
		shd_buf_u8(&b, '0');
	}
	for (uint32_t i = 0; i < TIMES; i++) {
		shd_buf_str(&b, i ? "0j" : "j");
		shd_buf_u32(&b, (NUMBERS - 1u) << 16);
	}
	shd_buf_u8(&b, '.');
	assert_ok(shd_pickle_decode(b.data, b.len, &arena, &p, err));
	assert_int_equal(p.root.kind, SHD_PICKLE_INT);
	assert_int_equal(p.root.integer, NUMBERS - 1);
}

TEST(a_pickle_that_breaks_off_names_what_it_would_have_called)
{
	static const char bytes[] = "cos\nsystem\nX\1\0\0\0x\x85R\xff";
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle p;
	sherd_error e = {0};
	assert_int_equal(shd_pickle_decode(bytes, sizeof(bytes) - 1, &arena, &p, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "bad-pickle");
	assert_int_equal(e.offset, sizeof(bytes) - 2);
	assert_non_null(strstr(e.message, "os.system"));
}

TEST(globals_are_judged)
{
	static const struct {
		const char *name;
		shd_pickle_verdict verdict;
	} cases[] = {
		{"os.system", SHD_PICKLE_DANGEROUS},
		{"posix.system", SHD_PICKLE_DANGEROUS},
		{"nt.system", SHD_PICKLE_DANGEROUS},
		{"builtins.eval", SHD_PICKLE_DANGEROUS},
		{"__builtin__.eval", SHD_PICKLE_DANGEROUS},
		{"builtins.getattr", SHD_PICKLE_DANGEROUS},
		{"builtins.str.format", SHD_PICKLE_DANGEROUS},
		{"subprocess.Popen", SHD_PICKLE_DANGEROUS},
		{"asyncio.unix_events._UnixSubprocessTransport._start", SHD_PICKLE_DANGEROUS},
		{"torch.serialization.load", SHD_PICKLE_DANGEROUS},
		{"torch.storage._load_from_bytes", SHD_PICKLE_DANGEROUS},
		{"numpy.testing._private.utils.runstring", SHD_PICKLE_DANGEROUS},
		{"copyreg.extension.7", SHD_PICKLE_DANGEROUS},
		{"operator.attrgetter", SHD_PICKLE_DANGEROUS},
		{"functools.partial", SHD_PICKLE_DANGEROUS},
		{"osmium.Thing", SHD_PICKLE_UNKNOWN},
		{"__main__.Net", SHD_PICKLE_UNKNOWN},
		{"torch.distributed.checkpoint.metadata.x.system", SHD_PICKLE_UNKNOWN},
		{"torch.nn.modules.linear.Linear", SHD_PICKLE_UNKNOWN},
		{"collections.OrderedDict", SHD_PICKLE_HARMLESS},
		{"torch._utils._rebuild_tensor_v2", SHD_PICKLE_HARMLESS},
		{"torch.FloatStorage", SHD_PICKLE_HARMLESS},
		{"torch.cuda.HalfStorage", SHD_PICKLE_HARMLESS},
		{"torch.float8_e4m3fn", SHD_PICKLE_HARMLESS},
		{"builtins.set", SHD_PICKLE_HARMLESS},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		if (shd_pickle_judge(cases[i].name) != cases[i].verdict)
			fail_msg("%s is judged %d", cases[i].name, shd_pickle_judge(cases[i].name));
}

TEST(an_enumeration_is_no_danger_and_other_attributes_are)
{
	static const struct {
		const char *bytes;
		shd_pickle_verdict verdict;
	} cases[] = {
		{"cbuiltins\ngetattr\n(ctorch\nfloat32\nVx\ntR.", SHD_PICKLE_HARMLESS},
		{"cbuiltins\ngetattr\n(ctorch\nfloat32\nV__class__\ntR.", SHD_PICKLE_DANGEROUS},
		{"cbuiltins\ngetattr\n(ca\nb\nVx\ntR.", SHD_PICKLE_DANGEROUS},
		{"cbuiltins\ngetattr\n(ctorch\nfloat32\nVx\ntR0cbuiltins\ngetattr\n(ca\nb\nVx\ntR.",
	         SHD_PICKLE_DANGEROUS},
		{"cbuiltins\ngetattr\n.", SHD_PICKLE_DANGEROUS},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_DONE(shd_arena_done) shd_arena arena = {0};
		shd_pickle p;
		assert_ok(shd_pickle_decode(cases[i].bytes, strlen(cases[i].bytes), &arena, &p, err));
		assert_int_equal(shd_pickle_judge_use(&p.globals[0]), cases[i].verdict);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_corpus_is_judged_as_its_names_say),
		cmocka_unit_test(all_protocols_say_the_same),
		cmocka_unit_test(values_have_types),
		cmocka_unit_test(what_is_called_is_told_and_what_is_only_named_too),
		cmocka_unit_test(an_object_grows_apart_from_its_arguments),
		cmocka_unit_test(values_are_remembered_under_any_number),
		cmocka_unit_test(a_pickle_that_breaks_off_names_what_it_would_have_called),
		cmocka_unit_test(globals_are_judged),
		cmocka_unit_test(an_enumeration_is_no_danger_and_other_attributes_are),
	};
	return cmocka_run_group_tests_name("pickle", tests, NULL, NULL);
}
