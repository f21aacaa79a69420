/* Two who write one set of rows, in many orders, with locks and without; one of them may have removed the other's
 * claim by hand, as those have to who cannot lock. Who succeeded has its rows there, once; who did not has none.
 *
 * SHD_KILLS: every order instead of some. */
#include "support/environment.h"
#include "support/test.h"
#include "support/turn_store.h"

#include "base/error.h"

#include <sherd/bundle.h>
#include <sherd/rows.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

#define STORE SHD_AUTO(sherd_store, sherd_store_close)

enum { WIDTH = 2, ROWS = 3, OLD = 1, FIRST, SECOND };

typedef struct deed {
	float value; /* of all rows */
	bool append, by_hand;
} deed;

static int act(sherd_store *store, void *arg, sherd_error *err)
{
	const deed *d = arg;
	const sherd_rows_writer_options o = {.append = d->append, .rows_per_shard = 2};
	float values[ROWS * WIDTH];
	sherd_rows_writer *w;
	for (size_t i = 0; i < COUNT_OF(values); i++)
		values[i] = d->value;
	if (d->by_hand)
		TRY(sherd_store_remove(store, "d/rows.packing", err));
	TRY(sherd_rows_writer_open(&w, store, "d", WIDTH, &o, err));
	int rc = sherd_rows_writer_append(w, SHERD_F32, values, ROWS, err);
	if (rc == SHERD_OK)
		return sherd_rows_writer_commit(w, err);
	sherd_rows_writer_abort(w);
	return rc;
}

/* How many rows of each value there are. */
static void count_rows(sherd_store *store, unsigned counts[SECOND + 1])
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	sherd_error e = {0};
	float values[3 * ROWS * WIDTH];
	memset(counts, 0, (SECOND + 1) * sizeof(*counts));
	int rc = sherd_bundle_open(&b, store, "d", NULL, &e);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return;
	if (rc < 0)
		fail_msg("%s: %s", e.object, e.message);
	uint64_t bytes = sherd_bundle_tensor(b, 0)->bytes;
	assert_true(bytes && bytes <= sizeof(values));
	assert_ok(sherd_bundle_read(b, 0, 0, values, (size_t)bytes, err));
	for (size_t i = 0; i < bytes / sizeof(float); i += WIDTH) {
		assert_true(values[i] >= OLD && values[i] <= SECOND && values[i] == values[i + 1]);
		counts[(unsigned)values[i]]++;
	}
	assert_ok(sherd_verify(&r, store, "d", NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
}

static void run(bool append, bool locks, bool by_hand, long first, long second, long steps[2])
{
	STORE store = NULL;
	unsigned counts[SECOND + 1];
	deed old = {.value = OLD},
	     deeds[2] = {{.value = FIRST, .append = append}, {.value = SECOND, .append = append, .by_hand = by_hand}};
	turn_actor actors[2] = {{.act = act, .arg = &deeds[0]}, {.act = act, .arg = &deeds[1]}};
	assert_ok(sherd_store_open_memory(&store, err));
	if (append)
		assert_ok(act(store, &old, err));
	turn_run(store, locks, actors, first, second);
	count_rows(store, counts);
	bool good = counts[OLD] == (append ? ROWS : 0);
	for (unsigned i = 0; i < 2; i++) {
		int rc = actors[i].rc;
		good = good && counts[FIRST + i] == (rc == SHERD_OK ? ROWS : 0);
		good = good && (rc == SHERD_OK || rc == SHERD_ECONFLICT || rc == SHERD_EEXIST);
		steps[i] = actors[i].steps;
	}
	good = good && (by_hand || actors[0].rc == SHERD_OK || actors[1].rc == SHERD_OK);
	if (!good)
		fail_msg("%s, %s, %s, %ld, %ld: %d (%s: %s) and %d (%s: %s); %u, %u, %u rows",
		         append ? "append" : "pack", locks ? "locks" : "no locks", by_hand ? "by hand" : "alone", first,
		         second, actors[0].rc, actors[0].err.object, actors[0].err.message, actors[1].rc,
		         actors[1].err.object, actors[1].err.message, counts[OLD], counts[FIRST], counts[SECOND]);
}

static void in_many_orders(bool by_hand)
{
	long stride = environment_number("SHERD_KILLS", 0) ? 1 : 5;
	for (unsigned mode = 0; mode < 4; mode++) {
		long steps[2] = {1, 1};
		for (long first = 0; first <= steps[0]; first++)
			for (long second = first % stride; second <= steps[1]; second += stride)
				run(mode & 1, mode & 2, by_hand, first, second, steps);
	}
}

TEST(of_two_writers_who_succeeds_has_its_rows_there)
{
	in_many_orders(false);
}

TEST(so_it_is_when_a_claim_was_removed_by_hand)
{
	in_many_orders(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_writers_who_succeeds_has_its_rows_there),
		cmocka_unit_test(so_it_is_when_a_claim_was_removed_by_hand),
	};
	return cmocka_run_group_tests_name("thread/rows_turns", tests, NULL, NULL);
}
