/* Every file of tests/corpus/json: y_ must be accepted, n_ refused, i_ must only be survived. */
#include "codec/json.h"

#include "support/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int is_case(const struct dirent *e)
{
	size_t len = strlen(e->d_name);
	return len > 7 && e->d_name[1] == '_' && strcmp(e->d_name + len - 5, ".json") == 0;
}

static void read_file(const char *folder, const char *name, sherd_buf *out)
{
	SHERD_AUTO_BUF path = {0};
	sherd_buf_printf(&path, "%s/%s", folder, name);
	assert_false(path.failed);
	FILE *f = fopen((const char *)path.data, "rb");
	if (!f)
		fail_msg("cannot open %s", (const char *)path.data);
	for (int c; (c = getc(f)) != EOF;)
		sherd_buf_u8(out, (uint8_t)c);
	assert_int_equal(ferror(f), 0);
	(void)fclose(f);
}

static void check_file(const char *folder, const char *name)
{
	SHERD_AUTO_BUF b = {0};
	sherd_error err = {0};
	read_file(folder, name, &b);
	int rc = sherd_json_check(b.data, b.len, NULL, &err);
	if (name[0] == 'y' && rc != SHERD_OK)
		fail_msg("%s is refused: byte %lld: %s: %s", name, (long long)err.offset, err.reason, err.message);
	if (name[0] == 'n' && rc != SHERD_ECORRUPT)
		fail_msg("%s gives status %d", name, rc);
	if (rc < 0) {
		assert_int_equal(err.code, rc);
		assert_true(err.offset <= b.len);
		assert_true(err.message[0] != 0);
	}
}

TEST(each_file_of_the_corpus_gets_the_verdict_in_its_name)
{
	const char *source = getenv("SHERD_SOURCE");
	SHERD_AUTO_BUF folder = {0};
	struct dirent **cases = NULL;
	size_t kinds[3] = {0};
	assert_non_null(source);
	sherd_buf_printf(&folder, "%s/tests/corpus/json", source);
	assert_false(folder.failed);
	int count = scandir((const char *)folder.data, &cases, is_case, alphasort);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		const char *name = cases[i]->d_name;
		static const char letters[] = "yni";
		const char *kind = strchr(letters, name[0]);
		if (!kind)
			fail_msg("%s: what should become of it?", name);
		kinds[kind - letters]++;
		check_file((const char *)folder.data, name);
		free(cases[i]);
	}
	free(cases);
	/* Files that were lost on the way must not make the test pass. */
	assert_true(kinds[0] >= 25 && kinds[1] >= 40 && kinds[2] >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_file_of_the_corpus_gets_the_verdict_in_its_name)};
	return cmocka_run_group_tests_name("json_corpus", tests, NULL, NULL);
}
