/* Checkpoints that a group of processes, threads here, saves and opens together. */
#include "support/ckpt_place.h"
#include "support/fail_store.h"
#include "support/test.h"
#include "support/threads_group.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, WIDTH = 5, MOST = THREADS_GROUP_MOST };

static const uint32_t sizes[] = {1, 2, 4, 8};

typedef struct saving {
	sherd_store *store;
	const char *prefix;
	const sherd_set_id *set_id;
	bool replace;
	uint32_t bad_rank; /* whose tensor cannot be read; MOST: nobody's */
	int rc[MOST];
	sherd_error err[MOST];
	char reason[MOST][40]; /* which goes with the thread */
	sherd_ckpt_save_result result[MOST];
} saving;

static int cannot_read(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)offset, (void)buf, (void)len;
	return shd_fail(err, SHERD_EIO, "io", "the device is gone");
}

/* Rank r holds rows [r * d / n, (r + 1) * d / n) of "w", and a scalar of its own. */
static void save_part(sherd_group *g, void *arg)
{
	saving *s = arg;
	uint64_t from = (uint64_t)ROWS * g->rank / g->size, to = (uint64_t)ROWS * (g->rank + 1) / g->size;
	float w[ROWS * WIDTH], own = (float)g->rank;
	char name[32];
	const uint64_t shape[] = {to - from, WIDTH}, whole[] = {ROWS, WIDTH}, at[] = {from, 0};
	for (uint64_t i = 0; i < (to - from) * WIDTH; i++)
		w[i] = (float)(from * WIDTH + i);
	(void)snprintf(name, sizeof(name), "own.%u", g->rank);
	sherd_ckpt_item items[] = {
		{.tensor = {.name = "w", .dtype = SHERD_F32, .ndim = 2, .shape = shape},
	         .global_shape = whole,
	         .global_offset = at,
	         .data = w},
		{.tensor = {.name = name, .dtype = SHERD_F32}, .data = &own},
	};
	if (g->rank == s->bad_rank) {
		items[1].data = NULL;
		items[1].read = cannot_read;
	}
	const sherd_ckpt_save_options options = {
		.group = g, .time_ns = 1700000000000000000 + g->rank, .set_id = s->set_id, .replace = s->replace};
	s->rc[g->rank] = sherd_ckpt_save_rank(s->store, s->prefix, g->rank, items, 2, &options, &s->result[g->rank],
	                                      &s->err[g->rank]);
	if (s->rc[g->rank] < 0)
		(void)snprintf(s->reason[g->rank], sizeof(s->reason[0]), "%s", s->err[g->rank].reason);
}

static saving save_by(sherd_store *store, const char *prefix, uint32_t size)
{
	saving s = {.store = store, .prefix = prefix, .bad_rank = MOST};
	threads_group_run(size, save_part, &s);
	return s;
}

typedef struct loading {
	sherd_store *store[MOST];
	const char *prefix;
	uint32_t saved; /* by so many */
	int rc[MOST];
	sherd_error err[MOST];
	bool right[MOST];
} loading;

/* Each its rows of "w", and the scalar of some rank that saved. */
static void load_part(sherd_group *g, void *arg)
{
	loading *l = arg;
	uint32_t r = g->rank;
	sherd_ckpt *c = NULL;
	const sherd_ckpt_options options = {.group = g};
	l->rc[r] = sherd_ckpt_open(&c, l->store[r], l->prefix, &options, &l->err[r]);
	if (l->rc[r] < 0)
		return;
	uint64_t from = (uint64_t)ROWS * r / g->size, to = (uint64_t)ROWS * (r + 1) / g->size;
	const uint64_t at[] = {from, 0}, shape[] = {to - from, WIDTH};
	float w[ROWS * WIDTH] = {0}, own = -1;
	char name[32];
	(void)snprintf(name, sizeof(name), "own.%u", r % l->saved);
	const sherd_ckpt_want wants[] = {{.tensor = sherd_ckpt_find(c, "w"), .at = at, .shape = shape, .buf = w},
	                                 {.tensor = sherd_ckpt_find(c, name), .buf = &own}};
	l->rc[r] = sherd_ckpt_load(c, wants, 2, NULL, &l->err[r]);
	l->right[r] = own == (float)(r % l->saved);
	for (uint64_t i = 0; i < (to - from) * WIDTH; i++)
		l->right[r] = l->right[r] && w[i] == (float)(from * WIDTH + i);
	sherd_ckpt_close(c);
}

TEST(saved_by_any_number_loaded_by_any_number)
{
	for (size_t n = 0; n < 4; n++) {
		char prefix[16];
		(void)snprintf(prefix, sizeof(prefix), "by%u", sizes[n]);
		saving s = save_by(STORE, prefix, sizes[n]);
		for (uint32_t r = 0; r < sizes[n]; r++) {
			assert_int_equal(s.rc[r], SHERD_OK);
			assert_true(s.result[r].committed);
		}
		for (size_t m = 0; m < 4; m++) {
			loading l = {.prefix = prefix, .saved = sizes[n]};
			for (uint32_t r = 0; r < sizes[m]; r++)
				l.store[r] = STORE;
			threads_group_run(sizes[m], load_part, &l);
			for (uint32_t r = 0; r < sizes[m]; r++) {
				assert_int_equal(l.rc[r], SHERD_OK);
				assert_true(l.right[r]);
			}
		}
	}
	assert_int_equal(object_count(STORE, "by4"), 5); /* metadata and shards: no claim is left */
}

/* All are told the same, and nothing is there. */
static void assert_failed(const saving *s, uint32_t size, int code, const char *message)
{
	for (uint32_t r = 0; r < size; r++) {
		assert_int_equal(s->rc[r], code);
		assert_int_equal(s->err[r].code, code);
		assert_string_equal(s->err[r].message, message);
	}
}

TEST(an_error_of_one_is_an_error_of_all_and_leaves_nothing)
{
	for (uint32_t bad = 0; bad < 4; bad++) {
		char message[64];
		saving s = {.store = STORE, .prefix = "c", .bad_rank = bad};
		(void)snprintf(message, sizeof(message), "rank %u: the device is gone", bad);
		threads_group_run(4, save_part, &s);
		assert_failed(&s, 4, SHERD_EIO, message);
		for (uint32_t r = 0; r < 4; r++)
			assert_string_equal(s.reason[r], "io");
		assert_keys(STORE, "");
	}
	assert_int_equal(save_by(STORE, "c", 4).rc[3], SHERD_OK);
}

TEST(what_is_there_stays_unless_it_is_replaced)
{
	assert_int_equal(save_by(STORE, "c", 2).rc[0], SHERD_OK);
	saving again = save_by(STORE, "c", 4);
	assert_failed(&again, 4, SHERD_EEXIST, "rank 0: the checkpoint exists already");
	saving bad = {.store = STORE, .prefix = "c", .bad_rank = 2, .replace = true};
	threads_group_run(4, save_part, &bad);
	assert_failed(&bad, 4, SHERD_EIO, "rank 2: the device is gone");
	assert_int_equal(object_count(STORE, "c"), 3);
	saving good = {.store = STORE, .prefix = "c", .bad_rank = MOST, .replace = true};
	threads_group_run(4, save_part, &good);
	assert_int_equal(good.rc[1], SHERD_OK);
	assert_int_equal(object_count(STORE, "c"), 5);
}

TEST(a_set_id_that_all_give_may_come_again)
{
	const sherd_set_id id = {{7}};
	saving s = {.store = STORE, .prefix = "c", .bad_rank = MOST, .set_id = &id};
	threads_group_run(3, save_part, &s);
	assert_int_equal(s.rc[2], SHERD_OK);
	assert_false(s.result[2].repeated);
	threads_group_run(3, save_part, &s);
	for (uint32_t r = 0; r < 3; r++) {
		assert_int_equal(s.rc[r], SHERD_OK);
		assert_true(s.result[r].repeated && s.result[r].committed);
	}
	assert_int_equal(object_count(STORE, "c"), 4);
}

typedef struct wrong_call {
	sherd_store *store;
	int rc[MOST];
	sherd_error err[MOST];
} wrong_call;

/* Rank 1 does not get as far as the others. */
static void call_wrongly(sherd_group *g, void *arg)
{
	wrong_call *w = arg;
	const sherd_ckpt_save_options options = {.group = g, .world = g->rank == 1 ? 9 : 0};
	w->rc[g->rank] = sherd_ckpt_save_rank(w->store, "c", g->rank, NULL, 0, &options, NULL, &w->err[g->rank]);
}

TEST(who_fails_before_the_others_meet_it_tells_them)
{
	wrong_call w = {.store = STORE};
	threads_group_run(3, call_wrongly, &w);
	for (uint32_t r = 0; r < 3; r++) {
		assert_int_equal(w.rc[r], SHERD_EINVAL);
		assert_string_equal(w.err[r].message, "rank 1: a world of 9, a group of 3");
	}
	assert_keys(STORE, "");
}

TEST(a_group_opens_every_shard_once)
{
	enum { SHARDS = 8, RANKS = 4 };
	sherd_store *stores[RANKS];
	loading l = {.prefix = "c", .saved = SHARDS};
	long first = 0, others = 0;
	assert_int_equal(save_by(STORE, "c", SHARDS).rc[0], SHERD_OK);
	for (int r = 0; r < RANKS; r++) {
		sherd_store *mine = NULL;
		assert_ok(sherd_store_open_local(&mine, FOLDER, NULL, err));
		l.store[r] = stores[r] = fail_store_over(mine);
	}
	threads_group_run(RANKS, load_part, &l);
	for (int r = 0; r < RANKS; r++) {
		assert_int_equal(l.rc[r], SHERD_OK);
		assert_true(l.right[r]);
		*(r ? &others : &first) += fail_store_opens(stores[r]);
		sherd_store_close(stores[r]);
	}
	assert_true(first <= SHARDS + 2);
	assert_true(others <= (RANKS - 1) * (SHARDS / RANKS + 2)); /* each what it reads */
}

TEST(who_cannot_open_it_is_told_by_all)
{
	loading l = {.prefix = "absent", .saved = 1};
	for (uint32_t r = 0; r < 3; r++)
		l.store[r] = STORE;
	threads_group_run(3, load_part, &l);
	for (uint32_t r = 0; r < 3; r++) {
		assert_int_equal(l.rc[r], SHERD_ENOTFOUND);
		assert_string_equal(l.err[r].message, "rank 0: no such checkpoint");
	}
}

/* A group of one, whose nth call fails. */
typedef struct lonely {
	int left, after;
} lonely;

static int lonely_call(lonely *l, sherd_error *err)
{
	if (l->left > 0 && --l->left > 0)
		return SHERD_OK;
	l->after++;
	return shd_fail(err, SHERD_EIO, "io", "the wire is cut");
}

static int lonely_gather(void *arg, const void *mine, size_t len, void *all, sherd_error *err)
{
	memcpy(all, mine, len);
	return lonely_call(arg, err);
}

static int lonely_share(void *arg, uint32_t from, void *data, size_t len, sherd_error *err)
{
	(void)from, (void)data, (void)len;
	return lonely_call(arg, err);
}

TEST(a_group_that_failed_is_asked_nothing_more)
{
	int n = 1;
	for (bool ended = false; !ended; n++) {
		saving s = {.store = STORE, .prefix = "c", .replace = true, .bad_rank = MOST};
		lonely l = {.left = n};
		sherd_group g = {.size = 1, .gather = lonely_gather, .share = lonely_share, .arg = &l};
		save_part(&g, &s);
		ended = s.rc[0] == SHERD_OK;
		if (!ended)
			assert_int_equal(s.rc[0], SHERD_EIO);
		assert_int_equal(l.after, ended ? 0 : 1);
	}
	assert_true(n > 6);
}

TEST(a_broken_rank_is_told_as_such)
{
	const sherd_set_id id = {{9}};
	const float value = 1;
	const sherd_ckpt_item item = {.tensor = {.name = "a", .dtype = SHERD_F32}, .data = &value};
	const sherd_ckpt_save_options options = {.world = 2, .set_id = &id};
	assert_ok(sherd_ckpt_save_rank(STORE, "c", 0, &item, 1, &options, NULL, err));
	object_put(STORE, "c_shard_1.shard", "no shard", 8);
	sherd_error told = {0};
	assert_int_equal(sherd_ckpt_commit(STORE, "c", NULL, &told), SHERD_EINCOMPLETE);
	assert_non_null(strstr(told.message, "the shard of rank 1 of 2 is broken ("));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(saved_by_any_number_loaded_by_any_number),
		CASE_ON_BOTH(an_error_of_one_is_an_error_of_all_and_leaves_nothing),
		CASE_ON_BOTH(what_is_there_stays_unless_it_is_replaced),
		CASE_IN_MEMORY(a_set_id_that_all_give_may_come_again),
		CASE_IN_MEMORY(who_fails_before_the_others_meet_it_tells_them),
		CASE_IN_FOLDER(a_group_opens_every_shard_once),
		CASE_IN_MEMORY(who_cannot_open_it_is_told_by_all),
		CASE_IN_MEMORY(a_group_that_failed_is_asked_nothing_more),
		CASE_IN_MEMORY(a_broken_rank_is_told_as_such),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
