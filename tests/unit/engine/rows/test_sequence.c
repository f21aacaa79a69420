#include "support/ckpt_place.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/rows/scout.h"
#include "engine/rows/shards.h"

#include <math.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)

/* 0-4 | | 5 | 6-16 */
static const uint64_t shards[] = {5, 0, 1, 11, 0};
enum { TOTAL = 17 };

static sherd_rows *make(void **state)
{
	sherd_rows *rows = NULL;
	rows_set_make(STORE, "d", shards, COUNT_OF(shards), 3);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	return rows;
}

/* The batches of one rank as text: number[first+count], padding in round brackets. */
static void assert_sequence(const sherd_rows *rows, const sherd_rows_stream_options *options, const char *want)
{
	rows_sequence s;
	rows_pick pick = {0};
	SHD_AUTO_BUF text = {0};
	assert_ok(shd_rows_sequence_init(&s, rows, options, err));
	for (int turn = 0; turn < 2; turn++) {
		text.len = 0;
		while (shd_rows_sequence_next(&s, &pick, NULL) > 0)
			shd_buf_printf(&text, pick.padding ? "%s%d(%d+%d)" : "%s%d[%d+%d]", text.len ? " " : "",
			               (int)pick.number, (int)pick.first, (int)pick.count);
		assert_int_equal(shd_rows_sequence_next(&s, &pick, NULL), 0);
		shd_buf_u8(&text, 0);
		assert_string_equal((const char *)text.data, want);
		shd_rows_sequence_reset(&s);
	}
	shd_vec_done(&pick.ids);
}

TEST(batches_end_where_shards_end)
{
	ROWS rows = make(state);
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4},
	                "0[0+4] 1[4+1] 2[5+1] 3[6+4] 4[10+4] 5[14+3]");
	assert_sequence(rows, &(sherd_rows_stream_options){0}, "0[0+5] 1[5+1] 2[6+11]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = UINT64_MAX}, "0[0+5] 1[5+1] 2[6+11]");
}

TEST(a_stream_may_begin_anywhere)
{
	ROWS rows = make(state);
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .from = 3},
	                "0[3+2] 1[5+1] 2[6+4] 3[10+4] 4[14+3]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .from = 16}, "0[16+1]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .from = TOTAL}, "");
}

TEST(batches_may_be_counted_in_bytes)
{
	ROWS rows = make(state);
	const char *fours = "0[0+4] 1[4+1] 2[5+1] 3[6+4] 4[10+4] 5[14+3]";
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_bytes = 48}, fours);
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_bytes = 59}, fours);
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_bytes = 1, .from = 14}, "0[14+1] 1[15+1] 2[16+1]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_bytes = 1, .batch_rows = 2, .from = 14},
	                "0[14+2] 1[16+1]");
}

TEST(a_batch_belongs_to_the_rank_of_its_number)
{
	ROWS rows = make(state);
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .world = 4}, "0[0+4] 4[10+4]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .world = 4, .rank = 1}, "1[4+1] 5[14+3]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .world = 4, .rank = 2}, "2[5+1]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .world = 4, .rank = 3}, "3[6+4]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .world = UINT32_MAX, .rank = 5}, "5[14+3]");
	assert_sequence(rows, &(sherd_rows_stream_options){.batch_rows = 4, .world = UINT32_MAX, .rank = 6}, "");
}

TEST(tails_make_step_counts_equal)
{
	ROWS rows = make(state);
	sherd_rows_stream_options o = {.batch_rows = 4, .world = 4, .tail = SHERD_ROWS_TAIL_DROP};
	assert_sequence(rows, &o, "0[0+4]");
	o.rank = 3;
	assert_sequence(rows, &o, "3[6+4]");
	o.tail = SHERD_ROWS_TAIL_PAD;
	assert_sequence(rows, &o, "3[6+4] 7(4+1)");
	o.rank = 2;
	assert_sequence(rows, &o, "2[5+1] 6(0+4)");
	o.rank = 1;
	assert_sequence(rows, &o, "1[4+1] 5[14+3]");
	/* More ranks than batches: the beginning comes again and again. */
	o.world = 20;
	o.rank = 19;
	assert_sequence(rows, &o, "19(4+1)");
	o.tail = SHERD_ROWS_TAIL_DROP;
	assert_sequence(rows, &o, "");
}

TEST(whole_rounds_have_no_tail)
{
	ROWS rows = make(state);
	for (sherd_rows_tail tail = SHERD_ROWS_TAIL_KEEP; tail <= SHERD_ROWS_TAIL_PAD; tail++)
		assert_sequence(rows,
		                &(sherd_rows_stream_options){.batch_rows = 4, .world = 3, .rank = 2, .tail = tail},
		                "2[5+1] 5[14+3]");
}

TEST(bad_options_are_refused)
{
	ROWS rows = make(state);
	rows_sequence s;
	static const sherd_rows_stream_options bad[] = {
		{.rank = 1},
		{.rank = 4, .world = 4},
		{.from = TOTAL + 1},
		{.dtype = SHERD_I64},
		{.dtype = SHERD_U16},
		{.resume = "x", .from = 1},
		{.resume = "x", .epoch = 1},
		{.sample = true, .fraction = (double)NAN},
		{.access = (sherd_rows_access)4},
		{.tail = (sherd_rows_tail)3},
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_refused(SHERD_EINVAL, "bad-argument", shd_rows_sequence_init(&s, rows, &bad[i], err));
}

/* What the scout hints at when batches are taken one after the other: each call's ranges, joined by "|". */
static void assert_hints(const sherd_rows *rows, const sherd_rows_stream_options *o, uint64_t window, const char *want)
{
	rows_sequence s;
	rows_scout scout = {0};
	rows_hints hints = {0};
	rows_pick pick = {0};
	SHD_AUTO_BUF text = {0};
	assert_ok(shd_rows_sequence_init(&s, rows, o, err));
	shd_rows_scout_init(&scout, &s, window);
	while (shd_rows_sequence_next(&s, &pick, NULL) > 0) {
		shd_rows_scout_follow(&scout, &pick, &hints);
		for (size_t i = 0; i < hints.list.count; i++)
			shd_buf_printf(&text, "%s%d+%d", i ? " " : "", (int)hints.list.items[i].first,
			               (int)hints.list.items[i].count);
		shd_buf_str(&text, "|");
	}
	shd_buf_u8(&text, 0);
	assert_string_equal((const char *)text.data, want);
	shd_vec_done(&pick.ids);
	shd_vec_done(&hints.list);
	shd_rows_scout_done(&scout);
}

TEST(the_window_runs_ahead_of_the_batch)
{
	ROWS rows = make(state);
	/* 12 bytes a row; the first batch, and five rows more */
	assert_hints(rows, &(sherd_rows_stream_options){.batch_rows = 2}, 60, "0+7||7+3||10+3||13+4||||");
	/* batches that are larger than the window */
	assert_hints(rows, &(sherd_rows_stream_options){.batch_rows = 5}, 24, "0+7|7+1|8+5|13+4||");
	/* a window of nothing still says what is needed now */
	assert_hints(rows, &(sherd_rows_stream_options){.batch_rows = 5}, 1, "0+5|5+1|6+5|11+5|16+1|");
	/* only what this rank gets */
	assert_hints(rows, &(sherd_rows_stream_options){.batch_rows = 2, .world = 3, .rank = 1}, 24, "2+2 6+2|12+2||");
}

/* Every row is hinted at before or when it is taken, once, and no more rows than the window holds are ahead. */
static void assert_hinted_once(const sherd_rows *rows, const sherd_rows_stream_options *o, uint64_t window)
{
	rows_sequence s;
	rows_scout scout = {0};
	rows_hints hints = {0};
	rows_pick pick = {0};
	uint64_t hinted = 0, taken = 0;
	bool had[TOTAL] = {false};
	assert_ok(shd_rows_sequence_init(&s, rows, o, err));
	shd_rows_scout_init(&scout, &s, window * 12);
	while (shd_rows_sequence_next(&s, &pick, NULL) > 0) {
		shd_rows_scout_follow(&scout, &pick, &hints);
		assert_true(hints.single);
		const rows_hint *h = hints.list.items;
		for (size_t i = 0; i < hints.list.count; i++)
			for (uint64_t row = h[i].first; row < h[i].first + h[i].count; row++, hinted++) {
				assert_true(row < TOTAL && !had[row]);
				had[row] = true;
			}
		for (size_t i = 0; i < pick.count; i++)
			assert_true(had[pick.ids.items[i]]);
		taken += pick.count;
		assert_in_range(hinted, taken, taken + window);
	}
	assert_int_equal(hinted, taken);
	assert_true(taken > 0);
	shd_vec_done(&pick.ids);
	shd_vec_done(&hints.list);
	shd_rows_scout_done(&scout);
}

TEST(shuffled_and_sampled_rows_are_hinted_at_in_time)
{
	ROWS rows = make(state);
	for (uint64_t window = 0; window < 20; window++)
		for (uint64_t batch = 1; batch < 8; batch += 2)
			for (uint32_t world = 1; world < 4; world++) {
				sherd_rows_stream_options o = {
					.batch_rows = batch, .world = world, .shuffle = true, .seed = batch};
				assert_hinted_once(rows, &o, window);
				o.shuffle_window = 4;
				assert_hinted_once(rows, &o, window);
				o.sample = true;
				o.fraction = 0.9;
				assert_hinted_once(rows, &o, window);
				o.shuffle = false;
				assert_hinted_once(rows, &o, window);
			}
}

TEST(to_look_for_rows_of_a_thin_sample_twice_is_not_worth_it)
{
	ROWS rows = make(state);
	rows_sequence s;
	rows_scout scout = {0};
	sherd_rows_stream_options o = {.sample = true, .fraction = 0x1p-15};
	assert_ok(shd_rows_sequence_init(&s, rows, &o, err));
	shd_rows_scout_init(&scout, &s, 1000);
	assert_false(scout.idle);
	o.fraction = 0x1p-17;
	assert_ok(shd_rows_sequence_init(&s, rows, &o, err));
	shd_rows_scout_init(&scout, &s, 1000);
	assert_true(scout.idle);
}

/* What the queue is told to ask for: rows that lie together, as they are needed. */
TEST(a_scout_runs_through_all_rows_of_its_rank)
{
	ROWS rows = make(state);
	for (uint64_t most = 1; most < 7; most++)
		for (uint32_t world = 1; world < 4; world++)
			for (uint32_t rank = 0; rank < world; rank++) {
				sherd_rows_stream_options o = {.batch_rows = 2, .world = world, .rank = rank};
				rows_sequence s;
				rows_scout scout = {0};
				rows_pick pick = {0};
				uint64_t row, runs = 0;
				assert_ok(shd_rows_sequence_init(&s, rows, &o, err));
				shd_rows_scout_init(&scout, &s, 0);
				uint64_t left = 0, at = 0;
				while (shd_rows_sequence_next(&s, &pick, NULL) > 0)
					for (uint64_t i = 0; i < pick.count; i++, left--, at++) {
						if (!left) {
							size_t shard;
							assert_true(shd_rows_scout_next(&scout, &row));
							shard = shd_rows_shard_of(rows, row);
							left = shd_rows_scout_take(&scout, at = row,
							                           rows->shards[shard].first +
							                                   rows->shards[shard].rows,
							                           most);
							assert_in_range(left, 1, most);
							runs++;
						}
						assert_int_equal(at, pick.first + i);
					}
				assert_int_equal(left, 0);
				assert_false(shd_rows_scout_next(&scout, &row));
				assert_true(runs > 1);
			}
}

TEST(the_window_looks_into_few_shards)
{
	uint64_t many[200];
	ROWS rows = NULL;
	rows_sequence s;
	rows_scout scout = {0};
	rows_hints hints = {0};
	rows_pick pick = {0};
	for (size_t i = 0; i < COUNT_OF(many); i++)
		many[i] = 1;
	rows_set_make(STORE, "m", many, COUNT_OF(many), 1);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "m", NULL, err));
	assert_ok(shd_rows_sequence_init(&s, rows, &(sherd_rows_stream_options){0}, err));
	shd_rows_scout_init(&scout, &s, 1 << 20);
	uint64_t hinted = 0;
	while (shd_rows_sequence_next(&s, &pick, NULL) > 0) {
		shd_rows_scout_follow(&scout, &pick, &hints);
		for (size_t i = 0; i < hints.list.count; i++) {
			assert_int_equal(hints.list.items[i].first, hinted);
			hinted += hints.list.items[i].count;
		}
		assert_in_range(hinted, pick.first + 1, pick.first + ROWS_OPEN / 2);
	}
	assert_int_equal(hinted, COUNT_OF(many));
	shd_vec_done(&hints.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(batches_end_where_shards_end),
		CASE_IN_MEMORY(a_stream_may_begin_anywhere),
		CASE_IN_MEMORY(batches_may_be_counted_in_bytes),
		CASE_IN_MEMORY(a_batch_belongs_to_the_rank_of_its_number),
		CASE_IN_MEMORY(tails_make_step_counts_equal),
		CASE_IN_MEMORY(whole_rounds_have_no_tail),
		CASE_IN_MEMORY(bad_options_are_refused),
		CASE_IN_MEMORY(the_window_runs_ahead_of_the_batch),
		CASE_IN_MEMORY(shuffled_and_sampled_rows_are_hinted_at_in_time),
		CASE_IN_MEMORY(to_look_for_rows_of_a_thin_sample_twice_is_not_worth_it),
		CASE_IN_MEMORY(a_scout_runs_through_all_rows_of_its_rank),
		CASE_IN_MEMORY(the_window_looks_into_few_shards),
	};
	return cmocka_run_group_tests_name("rows sequence", tests, NULL, NULL);
}
