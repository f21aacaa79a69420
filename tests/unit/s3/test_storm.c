/* Random faults, SHERD_STORMS schedules of them (20): what a call tells is true, and stays so when what was under way
 * arrives. The seed of each is its number, or SHERD_SEED alone. */
#include "base/error.h"
#include "base/rng.h"
#include "support/s3_server.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 6 };
#define ABSENT ""

static s3_server *server;
static sherd_store *store;
static uint64_t state_of_rng;

static unsigned pick(unsigned below)
{
	state_of_rng++;
	return (unsigned)(shd_splitmix64(state_of_rng) % below);
}

/* What is there, and its identity, when nothing goes wrong; ABSENT when nothing is. */
static void look(char text[32], char identity[72])
{
	char *data = NULL;
	size_t len = 0;
	sherd_stat stat = {0};
	int rc = sherd_store_get(&data, &len, store, "k", 31, NULL);
	(void)snprintf(text, 32, "%s", rc == SHERD_OK ? data : ABSENT);
	free(data);
	assert_true(rc == SHERD_OK || rc == SHERD_ENOTFOUND);
	assert_int_equal(sherd_store_stat(&stat, store, "k", NULL), rc);
	(void)snprintf(identity, 72, "%s", stat.identity);
}

static void begin_faults(void)
{
	static const s3_fault kinds[] = {S3_RESET,    S3_RESET_DONE, S3_LATE, S3_500,     S3_503,
	                                 S3_DONE_500, S3_429,        S3_502,  S3_DONE_502};
	static const char *const methods[] = {"PUT", "PUT", "HEAD", "DELETE", ""};
	for (unsigned i = pick(5); i > 0; i--)
		s3_server_fail(server, methods[pick(COUNT_OF(methods))], "dir/k", kinds[pick(COUNT_OF(kinds))],
		               1 + (int)pick(3));
}

static int write_text(const char *text, const char *if_identity, char *identity)
{
	sherd_write_options o = {.mode = if_identity ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                         .if_identity = if_identity};
	o.identity = identity;
	sherd_writer *w = NULL;
	int rc = sherd_store_write(&w, store, "k", &o, NULL);
	if (rc == SHERD_OK)
		rc = sherd_writer_append(w, text, strlen(text), NULL);
	return rc == SHERD_OK ? sherd_writer_commit(w, NULL) : rc;
}

/* Is what is there now what the call may leave? */
static void judge(uint64_t seed, unsigned step, int rc, const char *before, const char *wanted, const char *now)
{
	bool was = strcmp(now, before) == 0, is = strcmp(now, wanted) == 0;
	bool fine = rc == SHERD_OK ? is : rc == SHERD_EUNKNOWN ? was || is : was;
	if (!fine)
		fail_msg("SHERD_SEED=%llu, step %u: %d, but \"%s\" is there; \"%s\" was, \"%s\" was to be",
		         (unsigned long long)seed, step, rc, now, before, wanted);
}

static void storm(uint64_t seed)
{
	char before[32], wanted[32], now[32], identity[72], told[72], later[72];
	state_of_rng = seed * 1000003;
	for (unsigned step = 0; step < STEPS; step++) {
		int rc;
		look(before, identity);
		bool there = *before, stale = pick(5) == 0;
		unsigned verb = pick(3);
		begin_faults();
		(void)snprintf(wanted, sizeof(wanted), "%llu.%u", (unsigned long long)seed, step);
		told[0] = 0;
		if (verb == 0) {
			rc = write_text(wanted, NULL, told);
			assert_true(rc != SHERD_OK || !there);
		} else if (verb == 1) {
			rc = write_text(wanted, stale || !there ? "0123456789" : identity, told);
			assert_true(rc != SHERD_OK || (there && !stale));
		} else {
			rc = sherd_store_remove_if(store, "k", stale || !there ? "0123456789" : identity, NULL);
			assert_true(rc != SHERD_OK || !there || !stale);
			wanted[0] = 0;
		}
		s3_server_calm(server);
		look(now, later);
		judge(seed, step, rc, before, wanted, now);
		if (rc == SHERD_OK && verb < 2)
			assert_string_equal(told, later);
		(void)s3_server_deliver(server);
		look(now, later);
		judge(seed, step, rc, before, wanted, now);
	}
}

static void storms(const s3_quirks *quirks)
{
	const char *one = getenv("SHERD_SEED"), *count = getenv("SHERD_STORMS");
	server = s3_server_start(quirks);
	store = s3_server_store(server, "dir", "retries=2", NULL);
	assert_ok(sherd_store_put(store, "first", SHERD_WRITE_NEW, "", 0, err));
	for (uint64_t i = 1; !one && i <= (count ? strtoull(count, NULL, 10) : 20); i++)
		storm(i);
	if (one)
		storm(strtoull(one, NULL, 10));
	sherd_store_close(store);
	s3_server_stop(server);
}

TEST(what_is_told_is_true_whatever_happens_on_the_way)
{
	storms(NULL);
}

TEST(and_with_a_server_of_other_manners)
{
	storms(&(s3_quirks){.unquoted = true, .deaf_delete = true, .angry = true});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_told_is_true_whatever_happens_on_the_way),
		cmocka_unit_test(and_with_a_server_of_other_manners),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
