/* how many shards are opened ahead of the one that is read. */
#include "support/ckpt_place.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/rows/pieces.h"

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)

enum { WIDTH = 2, MANY = 90 };

static sherd_rows *make(sherd_store *store, const char *folder, uint64_t each, size_t count)
{
	uint64_t sizes[MANY];
	sherd_rows *rows = NULL;
	for (size_t i = 0; i < count; i++)
		sizes[i] = each;
	rows_set_make(store, folder, sizes, count, WIDTH);
	assert_ok(sherd_rows_open_folder(&rows, store, folder, NULL, err));
	return rows;
}

static unsigned open_shards(const rows_shards *s)
{
	unsigned open = 0;
	for (size_t i = 0; i < ROWS_OPEN; i++)
		open += s->open[i].reader != NULL;
	return open;
}

/* What is in the ring when the first piece of the stream is asked for. */
static void assert_ring(const sherd_rows *rows, const sherd_rows_stream_options *o, unsigned pieces, unsigned shards)
{
	rows_sequence sequence;
	rows_scout scout = {0};
	rows_shards open = {.rows = rows};
	rows_pieces ring = {.window = UINT64_MAX};
	const rows_piece *piece;
	const uint8_t *data;
	assert_ok(shd_rows_sequence_init(&sequence, rows, o, err));
	shd_rows_scout_init(&scout, &sequence, UINT64_MAX);
	assert_ok(shd_rows_pieces_front(&ring, &open, &scout, 0, 0, &piece, &data, err));
	assert_non_null(piece);
	assert_int_equal(ring.count, pieces);
	assert_int_equal(open_shards(&open), shards);
	/* With the first shard done, one more is opened, and no more. */
	while (ring.count && ring.ring[ring.first].shard == 0)
		shd_rows_pieces_use(&ring, ring.ring[ring.first].to - ring.ring[ring.first].from);
	if (ring.count) {
		const rows_piece *next = &ring.ring[ring.first];
		assert_ok(shd_rows_pieces_front(&ring, &open, &scout, next->shard, next->from, &piece, &data, err));
		assert_int_equal(open_shards(&open), shards + 1);
	}
	shd_rows_pieces_drop(&ring);
	shd_rows_shards_done(&open);
	shd_rows_scout_done(&scout);
}

TEST(a_bounded_number_of_shards_is_open_ahead)
{
	ROWS rows = make(STORE, "one", 1, MANY);
	assert_ring(rows, &(sherd_rows_stream_options){.batch_rows = 1}, ROWS_OPEN_AHEAD, ROWS_OPEN_AHEAD);
}

/* This rank's batches lie apart: three pieces of every shard. */
TEST(pieces_of_one_shard_count_once)
{
	ROWS rows = make(STORE, "six", 6, MANY);
	sherd_rows_stream_options every_other = {.batch_rows = 1, .world = 2};
	assert_ring(rows, &every_other, 3 * ROWS_OPEN_AHEAD, ROWS_OPEN_AHEAD);
	ROWS one = make(STORE, "large", 1000, 1);
	assert_ring(one, &every_other, ROWS_PIECES, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(a_bounded_number_of_shards_is_open_ahead),
		CASE_IN_MEMORY(pieces_of_one_shard_count_once),
	};
	return cmocka_run_group_tests_name("rows pieces", tests, NULL, NULL);
}
