/* S-11: a set that is replaced at any moment while it is opened, read and verified is one of the two, whole. */
#include "support/container_make.h"
#include "support/fail_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

/* What stands there, and what replaces it. */
typedef struct turn {
	sherd_store *inner, *outer;
	uint32_t before, after; /* shards; 1: one file */
} turn;

static void save(sherd_store *store, uint32_t shards)
{
	const sherd_model_save_options o = {.shards = shards, .replace = true};
	container_write(store, "m", false, &o, 0);
}

static void replace(void *arg, sherd_store *inner)
{
	const turn *t = arg;
	save(inner, t->after);
}

static void read_it(sherd_store *store)
{
	container_assert(store, "m", false, true);
}

static void verify_it(sherd_store *store)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_ok(sherd_verify(&r, store, "m", NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
	if (sherd_report_warnings(r))
		fail_msg("%s: %s", sherd_report_warning(r, 0)->object, sherd_report_warning(r, 0)->message);
}

/* Once for each operation that the reader makes. */
static void at_every_moment(uint32_t before, uint32_t after, void (*use)(sherd_store *store))
{
	turn t = {.before = before, .after = after};
	assert_ok(sherd_store_open_memory(&t.inner, err));
	t.outer = fail_store_over(t.inner);
	long nth = 0;
	do {
		save(t.inner, before);
		fail_store_call_at(t.outer, ++nth, replace, &t);
		use(t.outer);
	} while (fail_store_hit(t.outer));
	assert_true(nth > (before > 1 ? 10 : 4));
	sherd_store_close(t.outer);
}

TEST(a_set_replaced_by_one_of_as_many_shards_is_read_whole)
{
	at_every_moment(3, 3, read_it);
}

TEST(a_set_replaced_by_one_of_another_number_of_shards_is_read_whole)
{
	at_every_moment(2, 3, read_it);
	at_every_moment(3, 2, read_it);
}

TEST(a_set_replaced_by_one_file_and_back_is_read_whole)
{
	at_every_moment(2, 1, read_it);
	at_every_moment(1, 3, read_it);
}

TEST(a_set_replaced_meanwhile_verifies)
{
	at_every_moment(2, 2, verify_it);
	at_every_moment(3, 2, verify_it);
	at_every_moment(2, 1, verify_it);
	at_every_moment(1, 2, verify_it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_replaced_by_one_of_as_many_shards_is_read_whole),
		cmocka_unit_test(a_set_replaced_by_one_of_another_number_of_shards_is_read_whole),
		cmocka_unit_test(a_set_replaced_by_one_file_and_back_is_read_whole),
		cmocka_unit_test(a_set_replaced_meanwhile_verifies),
	};
	return cmocka_run_group_tests_name("container_race", tests, NULL, NULL);
}
