/* bench_ckpt_plan - C5: who reads what when 128 ranks load the 1,000,000 pieces that 64 ranks saved, and how that
 * grows with twice the pieces. Opening is shown beside: it is not part of the plan. */
#include "many.h"
#include "measure.h"

enum { RANKS = 64, NEW_RANKS = 128, PIECES = 1000000 };

typedef struct sized {
	sherd_store *store;
	sherd_ckpt *ckpt;
	double opened; /* seconds */
	bench_series whole, cut;
} sized;

static void prepare(sized *s, size_t pieces)
{
	sherd_error err;
	if (sherd_store_open_memory(&s->store, &err) < 0)
		bench_fail("%s", err.message);
	bench_save_many(s->store, "many", pieces / RANKS, RANKS, true);
	double start = bench_now();
	if (sherd_ckpt_open(&s->ckpt, s->store, "many", NULL, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	s->opened = bench_now() - start;
}

static double plan(const sized *s, bool cut)
{
	sherd_error err;
	sherd_ckpt_plan *p;
	const sherd_ckpt_copy *copies;
	size_t total = 0;
	double start = bench_now();
	if (sherd_ckpt_plan_open(&p, s->ckpt, NEW_RANKS, cut, &err) < 0)
		bench_fail("%s", err.message);
	double seconds = bench_now() - start;
	for (uint32_t r = 0; r < NEW_RANKS; r++)
		total += sherd_ckpt_plan_copies(&copies, p, r);
	if (total != sherd_ckpt_count(s->ckpt) * (cut ? NEW_RANKS : RANKS))
		bench_fail("a plan of %zu copies", total);
	sherd_ckpt_plan_close(p);
	return seconds;
}

static void report(const char *what, const bench_series *once, const bench_series *twice)
{
	bench_row row = {.id = "C5", .what = what, .unit = "s", .ours = once, .goal = BENCH_AT_MOST};
	row.against = "the limit";
	row.limit = 1;
	row.target = 1;
	bench_report(&row);
	row.ours = twice;
	row.what = "the same, 2,000,000 pieces";
	row.against = "1,000,000 pieces";
	row.other = once;
	row.target = 2.2;
	bench_report(&row);
}

int main(void)
{
	static sized once, twice;
	bench_begin("ckpt_plan");
	prepare(&once, PIECES);
	prepare(&twice, 2 * PIECES);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&once.whole, plan(&once, false));
		bench_add(&twice.whole, plan(&twice, false));
		bench_add(&once.cut, plan(&once, true));
		bench_add(&twice.cut, plan(&twice, true));
	}
	report("plan 64 to 128 ranks, 1,000,000 pieces, whole", &once.whole, &twice.whole);
	report("plan 64 to 128 ranks, 1,000,000 pieces, cut", &once.cut, &twice.cut);
	bench_note("opening took %.2f s for 1,000,000 pieces (listed in the metadata), %.2f s for 2,000,000 "
	           "(listed in the shards)",
	           once.opened, twice.opened);
	bench_end();
	sherd_ckpt_close(once.ckpt);
	sherd_ckpt_close(twice.ckpt);
	sherd_store_close(once.store);
	sherd_store_close(twice.store);
	return 0;
}
