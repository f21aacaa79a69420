/* P-1: the Python that SHD_BENCH_PYTHON names finds the packages of its virtual environment. */
#include "../../../bench/measure.h"
#include "../../../bench/python.h"

#include "support/scratch.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void bench_fail(const char *fmt, ...)
{
	fail_msg("%s", fmt);
	abort();
}

static bool has_python(void)
{
	return access("/usr/bin/python3", X_OK) == 0;
}

TEST(a_virtual_environment_is_seen)
{
	char *folder = scratch_make(), command[4096], python[1024];
	static const char *const script[] = {"-c", "import sys; print(sys.prefix)", NULL};
	if (!has_python())
		skip();
	(void)snprintf(
		command, sizeof(command),
		"mkdir -p %s/bin && ln -s /usr/bin/python3 %s/bin/python3 && echo 'home = /usr/bin' >%s/pyvenv.cfg",
		folder, folder, folder);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a command of our own */
	(void)snprintf(python, sizeof(python), "%s/bin/python3", folder);
	assert_int_equal(setenv("SHERD_BENCH_PYTHON", python, 1), 0);
	bench_python p;
	bench_python_start(&p, script);
	const char *line = bench_python_line(&p);
	assert_non_null(line);
	assert_string_equal(line, folder);
	bench_python_stop(&p);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_virtual_environment_is_seen)};
	return cmocka_run_group_tests_name("bench_python", tests, NULL, NULL);
}
