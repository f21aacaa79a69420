#include "support/ckpt_place.h"
#include "support/fail_store.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"

#include <string.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
SHD_AUTO_DEFINE(sherd_rows_dispenser, sherd_rows_dispenser_close)
SHD_AUTO_DEFINE(sherd_rows_slot, sherd_rows_slot_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)
#define DISPENSER SHD_AUTO(sherd_rows_dispenser, sherd_rows_dispenser_close)
#define SLOT SHD_AUTO(sherd_rows_slot, sherd_rows_slot_close)

static const uint64_t shards[] = {5, 0, 1, 11, 0};

static sherd_rows *make(sherd_store *store)
{
	sherd_rows *rows = NULL;
	rows_set_make(store, "d", shards, COUNT_OF(shards), 3);
	assert_ok(sherd_rows_open_folder(&rows, store, "d", NULL, err));
	return rows;
}

/* Two slots in turn get what one cursor gets. */
static void assert_dispenses(const sherd_rows *rows, const sherd_rows_stream_options *o)
{
	CURSOR c = NULL;
	DISPENSER d = NULL;
	SLOT even = NULL;
	SLOT odd = NULL;
	assert_ok(sherd_rows_cursor_open(&c, rows, o, err));
	assert_ok(sherd_rows_dispenser_open(&d, rows, o, err));
	assert_ok(sherd_rows_slot_open(&even, d, err));
	assert_ok(sherd_rows_slot_open(&odd, d, err));
	sherd_rows_batch want, got[2] = {0};
	for (int turn = 0;; turn ^= 1) {
		int more = sherd_rows_next(&want, c, NULL);
		assert_int_equal(sherd_rows_slot_next(&got[turn], turn ? odd : even, NULL), more);
		if (!more)
			break;
		assert_int_equal(got[turn].number, want.number);
		assert_int_equal(got[turn].padding, want.padding);
		assert_int_equal(got[turn].dtype, want.dtype);
		assert_rows(&got[turn], want.ids, want.first_id, want.rows);
		/* What the other slot has is still there. */
		if (got[turn ^ 1].rows)
			assert_true(rows_set_is_row(&got[turn ^ 1], 0, rows_batch_id(&got[turn ^ 1], 0)));
	}
	assert_int_equal(sherd_rows_slot_next(&got[0], even, NULL), 0);
	assert_int_equal(sherd_rows_slot_next(&got[0], odd, NULL), 0);
}

TEST(slots_share_the_batches_of_one_stream)
{
	ROWS rows = make(STORE);
	assert_dispenses(rows, NULL);
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++) {
		assert_dispenses(rows, &(sherd_rows_stream_options){.batch_rows = 2, .access = access});
		assert_dispenses(rows, &(sherd_rows_stream_options){
					       .batch_rows = 2, .access = access, .dtype = SHERD_F32, .from = 3});
		assert_dispenses(rows,
		                 &(sherd_rows_stream_options){.batch_rows = 3, .access = access, .shuffle = true});
		assert_dispenses(
			rows,
			&(sherd_rows_stream_options){
				.batch_rows = 1, .access = access, .world = 4, .rank = 3, .tail = SHERD_ROWS_TAIL_PAD});
	}
}

TEST(a_dispenser_resumes_too)
{
	ROWS rows = make(STORE);
	char text[SHERD_ROWS_CURSOR_TEXT];
	CURSOR c = NULL;
	DISPENSER d = NULL;
	SLOT s = NULL;
	sherd_rows_batch b;
	assert_ok(sherd_rows_cursor_open(&c, rows, &(sherd_rows_stream_options){.batch_rows = 2}, err));
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_ok(sherd_rows_tell(text, c, err));
	assert_ok(sherd_rows_dispenser_open(&d, rows, &(sherd_rows_stream_options){.resume = text}, err));
	memset(text, 'x', sizeof(text) - 1);
	assert_ok(sherd_rows_slot_open(&s, d, err));
	assert_int_equal(sherd_rows_slot_next(&b, s, NULL), 1);
	assert_int_equal(b.number, 1);
	assert_rows(&b, NULL, 2, 2);
	sherd_rows_dispenser *none = NULL;
	assert_refused(SHERD_EINVAL, "bad-cursor",
	               sherd_rows_dispenser_open(&none, rows, &(sherd_rows_stream_options){.resume = text}, err));
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_rows_dispenser_open(&none, rows, &(sherd_rows_stream_options){.rank = 1}, err));
}

TEST(a_slot_that_failed_owes_its_batch)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	SHD_AUTO(sherd_store, sherd_store_close) store = fail_store_over(inner);
	ROWS rows = make(store);
	DISPENSER d = NULL;
	SLOT unlucky = NULL;
	SLOT lucky = NULL;
	sherd_rows_batch b;
	sherd_rows_stream_options o = {.batch_rows = 4, .access = SHERD_ROWS_READ};
	assert_ok(sherd_rows_dispenser_open(&d, rows, &o, err));
	assert_ok(sherd_rows_slot_open(&unlucky, d, err));
	assert_ok(sherd_rows_slot_open(&lucky, d, err));
	assert_int_equal(sherd_rows_slot_next(&b, unlucky, NULL), 1);
	fail_store_at(store, 1);
	assert_int_equal(sherd_rows_slot_next(&b, unlucky, NULL), SHERD_EIO);
	assert_int_equal(sherd_rows_slot_next(&b, lucky, NULL), 1);
	assert_int_equal(b.number, 2);
	assert_rows(&b, NULL, 5, 1);
	assert_int_equal(sherd_rows_slot_next(&b, unlucky, NULL), 1);
	assert_int_equal(b.number, 1);
	assert_rows(&b, NULL, 4, 1);
	assert_int_equal(sherd_rows_slot_next(&b, unlucky, NULL), 1);
	assert_int_equal(b.number, 3);
}

static void assert_slot(sherd_rows_slot *s, uint64_t number, uint64_t first, size_t count)
{
	sherd_rows_batch b;
	assert_int_equal(sherd_rows_slot_next(&b, s, NULL), 1);
	assert_int_equal(b.number, number);
	assert_rows(&b, NULL, first, count);
}

/* Batches of 4: 0[0+4] 1[4+1] 2[5+1] 3[6+4] 4[10+4] 5[14+3]. */
TEST(a_dispenser_tells_resets_and_begins_epochs)
{
	ROWS rows = make(STORE);
	char text[SHERD_ROWS_CURSOR_TEXT];
	DISPENSER d = NULL;
	DISPENSER on = NULL;
	SLOT a = NULL;
	SLOT b = NULL;
	SLOT c = NULL;
	assert_ok(sherd_rows_dispenser_open(&d, rows, &(sherd_rows_stream_options){.batch_rows = 4}, err));
	assert_ok(sherd_rows_slot_open(&a, d, err));
	assert_ok(sherd_rows_slot_open(&b, d, err));
	assert_slot(a, 0, 0, 4);
	assert_slot(b, 1, 4, 1);
	assert_slot(b, 2, 5, 1);
	assert_ok(sherd_rows_dispenser_tell(text, d, err));
	assert_ok(sherd_rows_dispenser_open(&on, rows, &(sherd_rows_stream_options){.resume = text}, err));
	assert_ok(sherd_rows_slot_open(&c, on, err));
	assert_slot(c, 3, 6, 4);
	sherd_rows_dispenser_reset(on);
	assert_slot(c, 0, 0, 4);
	sherd_rows_dispenser_reset(d);
	assert_slot(b, 0, 0, 4);
	sherd_rows_dispenser_begin_epoch(d, 7);
	sherd_rows_batch batch;
	assert_int_equal(sherd_rows_slot_next(&batch, a, NULL), 1);
	assert_int_equal(batch.epoch, 7);
	assert_int_equal(batch.number, 0);
	assert_ok(sherd_rows_dispenser_tell(text, d, err));
	assert_memory_equal(text, "rows2:7:0:4:1:4:17:3:", 21);
}

/* What could not be brought is neither lost nor passed over, whoever comes next. */
TEST(what_a_slot_owes_is_told_and_goes_to_others)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	SHD_AUTO(sherd_store, sherd_store_close) store = fail_store_over(inner);
	ROWS rows = make(store);
	for (int reset = 0; reset < 2; reset++) {
		char text[SHERD_ROWS_CURSOR_TEXT];
		DISPENSER d = NULL;
		sherd_rows_slot *unlucky = NULL;
		SLOT lucky = NULL;
		sherd_rows_stream_options o = {.batch_rows = 4, .access = SHERD_ROWS_READ};
		assert_ok(sherd_rows_dispenser_open(&d, rows, &o, err));
		assert_ok(sherd_rows_slot_open(&unlucky, d, err));
		assert_ok(sherd_rows_slot_open(&lucky, d, err));
		assert_slot(lucky, 0, 0, 4);
		fail_store_at(store, 1);
		assert_int_equal(sherd_rows_slot_next(&(sherd_rows_batch){0}, unlucky, NULL), SHERD_EIO);
		assert_slot(lucky, 2, 5, 1);
		for (int closed = 0; closed < 2; closed++) {
			assert_ok(sherd_rows_dispenser_tell(text, d, err));
			assert_memory_equal(text, "rows2:0:0:4:1:4:17:3:", 21);
			if (closed == 0)
				sherd_rows_slot_close(unlucky);
		}
		if (reset)
			sherd_rows_dispenser_reset(d);
		assert_slot(lucky, reset ? 0 : 1, reset ? 0 : 4, reset ? 4 : 1);
		assert_slot(lucky, reset ? 1 : 3, reset ? 4 : 6, reset ? 1 : 4);
	}
}

/* A slot that owes a batch of before does not bring it after a reset. */
TEST(a_reset_forgets_what_is_owed)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	SHD_AUTO(sherd_store, sherd_store_close) store = fail_store_over(inner);
	ROWS rows = make(store);
	DISPENSER d = NULL;
	SLOT s = NULL;
	char text[SHERD_ROWS_CURSOR_TEXT];
	sherd_rows_stream_options o = {.batch_rows = 4, .access = SHERD_ROWS_READ, .from = 5};
	assert_ok(sherd_rows_dispenser_open(&d, rows, &o, err));
	assert_ok(sherd_rows_slot_open(&s, d, err));
	assert_slot(s, 0, 5, 1);
	fail_store_at(store, 1);
	assert_int_equal(sherd_rows_slot_next(&(sherd_rows_batch){0}, s, NULL), SHERD_EIO);
	sherd_rows_dispenser_reset(d);
	assert_ok(sherd_rows_dispenser_tell(text, d, err));
	assert_memory_equal(text, "rows2:0:5:5:0:4:17:3:", 21);
	assert_slot(s, 0, 5, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(slots_share_the_batches_of_one_stream),
		CASE_IN_MEMORY(a_dispenser_resumes_too),
		cmocka_unit_test(a_slot_that_failed_owes_its_batch),
		CASE_ON_BOTH(a_dispenser_tells_resets_and_begins_epochs),
		cmocka_unit_test(what_a_slot_owes_is_told_and_goes_to_others),
		cmocka_unit_test(a_reset_forgets_what_is_owed),
	};
	return cmocka_run_group_tests_name("rows dispenser", tests, NULL, NULL);
}
