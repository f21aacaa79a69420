/* The resident set of a stream over a set that is much larger: R3. The set is sparse and nobody writes it; its size
 * may be given in MiB, SHD_ROWS_MIB. */
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "format/rows/shard.h"

#include <sherd/guard.h>
#include <sherd/rows.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sanitizers keep shadows of what is touched: there only pages of files are counted, and fewer, as they are slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ANON false
#define LARGE_MIB 1024
#else
#define ANON true
#define LARGE_MIB 2048
#endif

/* More than any of the bounds, and five times most of them. */
#define SET_MIB 192

enum { SHARDS = 5, WIDTH = 1000 };
#define MIB (UINT64_C(1) << 20)

static char *folder;
static uint64_t rows_each;
static unsigned lend; /* workers that help; 0: no pool */

static void make_shards(uint64_t bytes)
{
	rows_each = bytes / SHARDS / (WIDTH * 4);
	folder = scratch_make();
	for (int i = 0; i < SHARDS; i++) {
		char path[4096];
		uint8_t head[SHD_ROWS_HEAD_SIZE];
		shd_rows_head_encode(rows_each, WIDTH, head);
		(void)snprintf(path, sizeof(path), "%s/%d.shard", folder, i);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
		assert_int_equal(ftruncate(fd, (off_t)(sizeof(head) + rows_each * WIDTH * 4)), 0);
		assert_int_equal(close(fd), 0);
	}
}

static int make_set(void **state)
{
	(void)state;
	const char *text = getenv("SHERD_ROWS_MIB");
	make_shards((text ? strtoull(text, NULL, 10) : SET_MIB) * MIB);
	return 0;
}

static int make_large_set(void **state)
{
	(void)state;
	const char *text = getenv("SHERD_ROWS_MIB");
	make_shards((text ? strtoull(text, NULL, 10) : LARGE_MIB) * MIB);
	return 0;
}

static int drop_set(void **state)
{
	(void)state;
	scratch_remove(folder);
	return 0;
}

static uint64_t status_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static uint64_t resident(void)
{
	char text[8192];
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n <= 0)
		return UINT64_MAX;
	text[n] = 0;
	return status_field(text, "RssFile:") + (ANON ? status_field(text, "RssAnon:") : 0);
}

/* Streams everything, looking at what is resident after every batch, while the caller has it. Reading every value
 * makes views resident too. */
static int stream_all(const sherd_rows_stream_options *o, uint64_t *most, uint64_t *rows_had)
{
	sherd_store *store = NULL;
	sherd_rows *rows = NULL;
	sherd_rows_cursor *c = NULL;
	sherd_rows_batch b;
	sherd_rows_stream_options with = *o;
	if (lend)
		TRY(sherd_pool_open(&with.pool, lend, NULL));
	TRY(sherd_store_open_local(&store, folder, NULL, NULL));
	TRY(sherd_rows_open_folder(&rows, store, "", NULL, NULL));
	TRY(sherd_rows_cursor_open(&c, rows, &with, NULL));
	uint64_t steps = 0, sum = 0;
	int rc;
	while ((rc = sherd_rows_next(&b, c, NULL)) > 0) {
		const uint8_t *data = b.data;
		size_t bytes = b.rows * (size_t)b.width * (b.dtype == SHERD_F64 ? 8 : 4);
		for (size_t i = 0; i < bytes; i += 512)
			sum += data[i];
		*rows_had += b.rows;
		if (steps++ % (bytes < MIB ? 256 : 4) == 0) {
			uint64_t now = resident();
			*most = now > *most ? now : *most;
		}
	}
	sherd_rows_cursor_close(c);
	sherd_rows_close(rows);
	sherd_store_close(store);
	sherd_pool_close(with.pool);
	return rc < 0 ? rc : sum ? SHERD_ECORRUPT : SHERD_OK;
}

/* In a process of its own, so that nothing else is counted. */
static void assert_bounded(const sherd_rows_stream_options *o, uint64_t handed)
{
	int pipes[2];
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint64_t answer[3] = {0, 0, resident()};
		int rc = stream_all(o, &answer[0], &answer[1]);
		bool sent = write(pipes[1], answer, sizeof(answer)) == sizeof(answer);
		_exit(rc == SHERD_OK && sent ? 0 : 1);
	}
	uint64_t answer[3];
	int status;
	assert_int_equal(close(pipes[1]), 0);
	assert_int_equal(read(pipes[0], answer, sizeof(answer)), sizeof(answer));
	assert_int_equal(close(pipes[0]), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	if (!o->sample && o->world < 2)
		assert_int_equal(answer[1], rows_each * SHARDS);
	uint64_t window = o->window_bytes ? o->window_bytes : 8 * MIB;
	uint64_t bound = window + handed + 24 * MIB + (ANON ? 0 : answer[2]);
	if (answer[0] > bound)
		fail_msg("%.1f MiB are resident, at most %.1f should be", (double)answer[0] / (double)MIB,
		         (double)bound / (double)MIB);
}

static void assert_all_bounded(sherd_rows_stream_options o, uint64_t batch)
{
	static const uint64_t windows[] = {0, 64 * MIB};
	for (size_t w = 0; w < COUNT_OF(windows); w++)
		for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++)
			for (int wide = 0; wide < 2; wide++) {
				o.window_bytes = windows[w];
				o.access = access;
				o.dtype = wide ? SHERD_F64 : SHERD_F32;
				o.batch_rows = batch;
				assert_bounded(&o, batch * WIDTH * (wide ? 8 : 4));
			}
}

TEST(a_stream_stays_within_its_bound)
{
	assert_all_bounded((sherd_rows_stream_options){0}, 1024);
}

TEST(so_does_one_with_large_batches)
{
	assert_all_bounded((sherd_rows_stream_options){0}, 10000);
}

TEST(so_does_one_with_small_batches)
{
	assert_all_bounded((sherd_rows_stream_options){0}, 1);
}

TEST(so_do_ranks)
{
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++)
		for (uint32_t rank = 0; rank < 2; rank++)
			for (int wide = 0; wide < 2; wide++) {
				sherd_rows_stream_options o = {.batch_rows = 40,
				                               .world = 2,
				                               .rank = rank,
				                               .access = access,
				                               .dtype = wide ? SHERD_F64 : SHERD_F32};
				assert_bounded(&o, 40 * WIDTH * 8);
			}
}

/* Makes all pages of the set present in the page cache, where automatic access finds them. */
static void warm_up(void)
{
	static char some[1 << 20];
	for (int i = 0; i < SHARDS; i++) {
		char path[4096];
		(void)snprintf(path, sizeof(path), "%s/%d.shard", folder, i);
		int fd = open(path, O_RDONLY);
		assert_true(fd >= 0);
		while (read(fd, some, sizeof(some)) > 0)
			;
		assert_int_equal(close(fd), 0);
	}
}

TEST(so_does_one_that_is_in_memory_and_whose_rows_many_convert)
{
	enum { MANY = 4 };
	warm_up();
	for (unsigned workers = 1; workers <= MANY; workers += MANY - 1)
		for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_MAP; access++) {
			sherd_rows_stream_options o = {.batch_rows = 10000, .access = access};
			lend = workers;
			assert_bounded(&o, 10000 * WIDTH * 8);
			lend = 0;
		}
}

TEST(so_do_shuffles_and_samples)
{
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++) {
		sherd_rows_stream_options o = {.batch_rows = 1024, .access = access, .shuffle = true, .seed = 5};
		assert_bounded(&o, 1024 * WIDTH * 8);
		o.shuffle_window = 5000;
		assert_bounded(&o, 1024 * WIDTH * 8);
		o.sample = true;
		o.fraction = 0.25;
		o.shuffle = false;
		assert_bounded(&o, 1024 * WIDTH * 8);
	}
}

TEST(the_size_of_the_set_does_not_matter)
{
	sherd_rows_stream_options o = {.batch_rows = 1024};
	assert_bounded(&o, 1024 * WIDTH * 8);
	o.window_bytes = 64 * MIB;
	assert_bounded(&o, 1024 * WIDTH * 8);
}

/* As in the command: what is in memory is mapped. */
int main(void)
{
	if (sherd_guard_open(NULL) < 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_stays_within_its_bound),
		cmocka_unit_test(so_does_one_with_large_batches),
		cmocka_unit_test(so_does_one_with_small_batches),
		cmocka_unit_test(so_do_ranks),
		cmocka_unit_test(so_does_one_that_is_in_memory_and_whose_rows_many_convert),
		cmocka_unit_test(so_do_shuffles_and_samples),
	};
	const struct CMUnitTest large[] = {
		cmocka_unit_test(the_size_of_the_set_does_not_matter),
	};
	return cmocka_run_group_tests_name("rows resident", tests, make_set, drop_set) +
	       cmocka_run_group_tests_name("rows resident, large", large, make_large_set, drop_set);
}
