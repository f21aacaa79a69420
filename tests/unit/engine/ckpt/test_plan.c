#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_ckpt_plan, sherd_ckpt_plan_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)
#define PLAN SHD_AUTO(sherd_ckpt_plan, sherd_ckpt_plan_close)

static bool goes_whole(const sherd_tensor *t)
{
	return !t->ndim || t->dtype == SHERD_UTF8;
}

/* Of a piece, how often each of its rows is copied to some rank. */
typedef struct tally {
	unsigned *rows; /* by piece and row */
	size_t most_rows;
} tally;

static void count_copies(const sherd_ckpt *c, const sherd_ckpt_plan *plan, uint32_t world, bool cut, size_t tensor,
                         tally *t)
{
	const sherd_tensor *whole = sherd_ckpt_tensor(c, tensor);
	const sherd_ckpt_piece *pieces = NULL;
	size_t n = sherd_ckpt_pieces(&pieces, c, tensor);
	for (uint32_t r = 0; r < world; r++) {
		const sherd_ckpt_copy *copies = NULL;
		size_t count = sherd_ckpt_plan_copies(&copies, plan, r), last = 0;
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(copies[i].rank, r);
			assert_true(copies[i].tensor >= last);
			last = copies[i].tensor;
			if (copies[i].tensor != tensor)
				continue;
			assert_true(copies[i].piece < n);
			const sherd_ckpt_piece *p = &pieces[copies[i].piece];
			uint64_t at = p->at && whole->ndim ? p->at[0] : 0, rows = whole->ndim ? p->shape[0] : 1;
			assert_true(copies[i].at0 >= at && copies[i].at0 + copies[i].rows <= at + rows);
			if (cut && !goes_whole(whole)) {
				/* its own rows and no others */
				assert_true(copies[i].at0 >= whole->shape[0] * r / world);
				assert_true(copies[i].at0 + copies[i].rows <= whole->shape[0] * (r + 1) / world);
			}
			for (uint64_t k = 0; k < copies[i].rows; k++)
				t->rows[copies[i].piece * t->most_rows + copies[i].at0 - at + k]++;
		}
	}
}

static void check_tensor(const sherd_ckpt *c, const sherd_ckpt_plan *plan, uint32_t world, bool cut, size_t tensor)
{
	const sherd_tensor *whole = sherd_ckpt_tensor(c, tensor);
	const sherd_ckpt_piece *pieces = NULL;
	size_t n = sherd_ckpt_pieces(&pieces, c, tensor);
	tally t = {.most_rows = whole->ndim ? (size_t)whole->shape[0] : 1};
	t.rows = calloc(n * t.most_rows + 1, sizeof(*t.rows));
	count_copies(c, plan, world, cut, tensor, &t);
	unsigned want = cut && goes_whole(whole) ? world : 1;
	for (size_t p = 0; p < n; p++) {
		uint64_t rows = whole->ndim ? pieces[p].shape[0] : 1;
		for (uint64_t k = 0; k < rows; k++)
			assert_int_equal(t.rows[p * t.most_rows + k], want);
	}
	free(t.rows);
}

TEST(the_copies_of_all_ranks_are_every_row_of_every_piece_once)
{
	for (uint32_t n = 1; n <= 4; n++) {
		SAMPLE s = ckpt_sample_full(n, n);
		CKPT c = NULL;
		char prefix[8];
		(void)snprintf(prefix, sizeof(prefix), "m%u", n);
		assert_ok(ckpt_sample_save(s, STORE, prefix, err));
		assert_ok(sherd_ckpt_open(&c, STORE, prefix, NULL, err));
		for (uint32_t world = 1; world <= 9; world++)
			for (int cut = 0; cut < 2; cut++) {
				PLAN plan = NULL;
				assert_ok(sherd_ckpt_plan_open(&plan, c, world, cut, err));
				for (size_t i = 0; i < s->count; i++)
					check_tensor(c, plan, world, cut, i);
			}
	}
}

TEST(whole_tensors_go_to_one_rank_each_by_size)
{
	SAMPLE s = ckpt_sample_full(6, 3);
	CKPT c = NULL;
	PLAN plan = NULL;
	uint64_t bytes[64], load[4] = {0}, most = 0;
	uint32_t rank_of[64];
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	for (size_t i = 0; i < s->count; i++)
		bytes[i] = sherd_ckpt_tensor(c, i)->bytes;
	assert_ok(sherd_plan_whole(rank_of, bytes, s->count, 4, err));
	assert_ok(sherd_ckpt_plan_open(&plan, c, 4, false, err));
	for (uint32_t r = 0; r < 4; r++) {
		const sherd_ckpt_copy *copies = NULL;
		size_t n = sherd_ckpt_plan_copies(&copies, plan, r);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(rank_of[copies[i].tensor], r);
	}
	for (size_t i = 0; i < s->count; i++) {
		load[rank_of[i]] += bytes[i];
		most = bytes[i] > most ? bytes[i] : most;
	}
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++)
			assert_true(load[a] <= load[b] + most);
}

TEST(bad_worlds_and_ranks_are_refused)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	CKPT c = NULL;
	PLAN plan = NULL;
	const sherd_ckpt_copy *copies = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_plan_open(&plan, c, 0, false, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_plan_open(&plan, c, UINT32_MAX, true, err));
	assert_ok(sherd_ckpt_plan_open(&plan, c, 2, true, err));
	assert_int_equal(sherd_ckpt_plan_copies(&copies, plan, 2), 0);
	sherd_ckpt_plan_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(the_copies_of_all_ranks_are_every_row_of_every_piece_once),
		CASE_IN_MEMORY(whole_tensors_go_to_one_rank_each_by_size),
		CASE_IN_MEMORY(bad_worlds_and_ranks_are_refused),
	};
	return cmocka_run_group_tests_name("ckpt_plan", tests, NULL, NULL);
}
