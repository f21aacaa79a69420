#include "base/turns.h"

#include "support/test.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct piece {
	unsigned number, doubled;
} piece;

static _Atomic int at_work, most_at_work;

static void work(void *arg)
{
	piece *p = arg;
	int now = atomic_fetch_add(&at_work, 1) + 1, most = atomic_load(&most_at_work);
	while (now > most && !atomic_compare_exchange_weak(&most_at_work, &most, now))
		;
	p->doubled = p->number * 2;
	atomic_fetch_sub(&at_work, 1);
}

enum { MANY = 3000, PIECES = 40 };

TEST(pieces_come_back_in_order_and_worked_on)
{
	for (unsigned workers = 0; workers < 9; workers++) {
		sherd_pool *pool = NULL;
		shd_turns *t = NULL;
		piece pieces[PIECES];
		unsigned given = 0, taken = 0;
		if (workers)
			assert_ok(sherd_pool_open(&pool, workers, err));
		size_t count = shd_turns_pieces(pool);
		assert_in_range(count, 1, PIECES);
		atomic_store(&most_at_work, 0);
		assert_ok(shd_turns_open(&t, pool, work, pieces, count, sizeof(piece), err));
		const piece *got;
		do {
			piece *p;
			while (given < MANY && (p = shd_turns_next(t))) {
				*p = (piece){.number = given++};
				shd_turns_give(t);
			}
			got = shd_turns_take(t);
			if (got) {
				assert_int_equal(got->number, taken++);
				assert_int_equal(got->doubled, got->number * 2);
			}
		} while (got);
		assert_int_equal(taken, MANY);
		assert_true(atomic_load(&most_at_work) <= (int)(workers ? workers : 1));
		shd_turns_close(t);
		sherd_pool_close(pool);
	}
}

TEST(what_nobody_takes_is_left)
{
	for (unsigned workers = 1; workers < 9; workers++) {
		sherd_pool *pool = NULL;
		shd_turns *t = NULL;
		piece pieces[PIECES], *p;
		assert_ok(sherd_pool_open(&pool, workers, err));
		assert_ok(shd_turns_open(&t, pool, work, pieces, shd_turns_pieces(pool), sizeof(piece), err));
		while ((p = shd_turns_next(t))) {
			*p = (piece){.number = 1};
			shd_turns_give(t);
		}
		shd_turns_close(t);
		assert_int_equal(atomic_load(&at_work), 0);
		sherd_pool_close(pool);
	}
}

/* Somebody else has all workers, for as long as this lasts. */
static void use_turns(void *arg)
{
	sherd_pool *pool = arg;
	shd_turns *t = NULL;
	piece pieces[PIECES], *p;
	assert_ok(shd_turns_open(&t, pool, work, pieces, shd_turns_pieces(pool), sizeof(piece), err));
	for (unsigned i = 0; i < 100; i++) {
		p = shd_turns_next(t);
		*p = (piece){.number = i};
		shd_turns_give(t);
		p = shd_turns_take(t);
		assert_int_equal(p->doubled, 2 * i);
	}
	shd_turns_close(t);
}

TEST(a_pool_without_an_idle_worker_does_not_stop_it)
{
	sherd_pool *pool = NULL;
	shd_pool_later items[6];
	assert_ok(sherd_pool_open(&pool, 2, err));
	for (int i = 0; i < 6; i++) {
		items[i] = (shd_pool_later){.fn = use_turns, .arg = pool};
		shd_pool_submit(pool, &items[i]);
	}
	sherd_pool_close(pool); /* after all of them */
	assert_int_equal(atomic_load(&at_work), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_come_back_in_order_and_worked_on),
		cmocka_unit_test(what_nobody_takes_is_left),
		cmocka_unit_test(a_pool_without_an_idle_worker_does_not_stop_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
