/* Checkpoints saved, replaced and loaded while requests go wrong, SHERD_STORMS times (8): whole, or as before. */
#include "base/error.h"
#include "base/rng.h"
#include "support/ckpt_sample.h"
#include "support/s3_server.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t dice;

static unsigned roll(unsigned below)
{
	return (unsigned)(shd_splitmix64(++dice) % below);
}

static void make_faults(s3_server *server)
{
	static const s3_fault kinds[] = {S3_RESET, S3_RESET_DONE, S3_LATE, S3_500, S3_503, S3_DONE_500, S3_429};
	static const char *const methods[] = {"PUT", "GET", "HEAD", "DELETE", ""};
	static const char *const targets[] = {"", "metadata", "saving", "shard", "list-type"};
	for (unsigned i = roll(6); i > 0; i--)
		s3_server_fail(server, methods[roll(COUNT_OF(methods))], targets[roll(COUNT_OF(targets))],
		               kinds[roll(COUNT_OF(kinds))], 1 + (int)roll(4));
}

/* What is there must be whole: the new one after success, else the new one or what was there before. */
static void judge(uint64_t seed, const char *what, int rc, ckpt_content before, ckpt_content now)
{
	bool fine = rc == SHERD_OK ? now == CONTENT_NEW : now == CONTENT_NEW || now == before;
	if (!fine)
		fail_msg("SHERD_SEED=%llu: %s: %d, and %d is there", (unsigned long long)seed, what, rc, (int)now);
}

static void save_and_replace(s3_server *server, sherd_store *store, uint64_t seed)
{
	ckpt_sample *one = ckpt_sample_small(seed, 2), *two = ckpt_sample_small(seed + 1000000, 3);
	char prefix[32];
	dice = seed * 7919;
	(void)snprintf(prefix, sizeof(prefix), "run-%llu", (unsigned long long)seed);
	make_faults(server);
	int rc = ckpt_sample_save(one, store, prefix, NULL);
	s3_server_calm(server);
	judge(seed, "save", rc, CONTENT_NONE, ckpt_sample_content(store, prefix, two, one));
	(void)s3_server_deliver(server);
	judge(seed, "save, later", rc, CONTENT_NONE, ckpt_sample_content(store, prefix, two, one));
	if (ckpt_sample_content(store, prefix, two, one) == CONTENT_NEW) {
		make_faults(server);
		sherd_ckpt *ckpt = NULL;
		int opened = sherd_ckpt_open(&ckpt, store, prefix, NULL, NULL);
		sherd_ckpt_close(opened == SHERD_OK ? ckpt : NULL);
		rc = ckpt_sample_replace(two, store, prefix, NULL);
		s3_server_calm(server);
		judge(seed, "replace", rc, CONTENT_OLD, ckpt_sample_content(store, prefix, one, two));
		(void)s3_server_deliver(server);
		judge(seed, "replace, later", rc, CONTENT_OLD, ckpt_sample_content(store, prefix, one, two));
	}
	ckpt_sample_free(one);
	ckpt_sample_free(two);
}

static void storms(const s3_quirks *quirks)
{
	const char *one = getenv("SHERD_SEED"), *count = getenv("SHERD_STORMS");
	s3_server *server = s3_server_start(quirks);
	sherd_store *store = s3_server_store(server, "dir", "retries=2", NULL);
	assert_ok(sherd_store_put(store, "first", SHERD_WRITE_NEW, "", 0, err));
	for (uint64_t i = 1; !one && i <= (count ? strtoull(count, NULL, 10) : 8); i++)
		save_and_replace(server, store, i);
	if (one)
		save_and_replace(server, store, strtoull(one, NULL, 10));
	sherd_store_close(store);
	s3_server_stop(server);
}

TEST(a_checkpoint_is_whole_or_as_before)
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
		cmocka_unit_test(a_checkpoint_is_whole_or_as_before),
		cmocka_unit_test(and_with_a_server_of_other_manners),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
