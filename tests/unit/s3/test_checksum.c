/* Bodies are vouched for by their CRC-32 where the server looks at it, and by their SHA-256 where it does not; over TLS
 * the first is enough. */
#include "support/s3_server.h"
#include "support/test.h"

#include "s3/call.h"

#include <sherd/s3.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PART = 5 << 20 };

TEST(the_text_of_a_checksum_is_base64_of_its_big_endian_bytes)
{
	char text[SHD_S3_CRC_TEXT];
	shd_s3_crc_text(0, text);
	assert_string_equal(text, "AAAAAA==");
	shd_s3_crc_text(0xffffffff, text);
	assert_string_equal(text, "/////w==");
	/* "123456789", the check value of CRC-32 */
	shd_s3_crc_text(sherd_crc32(0, "123456789", 9), text);
	assert_string_equal(text, "y/Q5Jg==");
}

/* Writes one object at once, and one in three parts. */
static void write_both(sherd_store *store)
{
	char *bytes = calloc(1, PART);
	sherd_writer *w = NULL;
	sherd_stat stat;
	assert_ok(sherd_store_put(store, "one", SHERD_WRITE_NEW, "some bytes", 10, err));
	assert_ok(sherd_store_write(&w, store, "parts", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE}, err));
	for (int i = 0; i < 2; i++) {
		memset(bytes, 'a' + i, PART);
		assert_ok(sherd_writer_append(w, bytes, PART, err));
	}
	assert_ok(sherd_writer_append(w, "tail", 4, err));
	assert_ok(sherd_writer_commit(w, err));
	assert_ok(sherd_store_stat(&stat, store, "parts", err));
	assert_int_equal(stat.size, 2 * PART + 4);
	free(bytes);
}

TEST(a_server_that_looks_at_checksums_gets_right_ones)
{
	s3_server *server = s3_server_start(NULL);
	sherd_store *store = s3_server_store(server, "dir", "part-size=5242880", NULL);
	write_both(store);
	assert_int_equal(s3_server_checked(server), 1 + 3 + 1); /* the object, the parts, the whole of them */
	assert_int_equal(s3_server_unsigned(server), 0);        /* anybody could change what is not encrypted */
	sherd_store_close(store);
	s3_server_stop(server);
}

TEST(a_server_that_does_not_gets_hashes_alone)
{
	static const s3_quirks quirks = {.deaf_crc = true};
	s3_server *server = s3_server_start(&quirks);
	sherd_store *store = s3_server_store(server, "dir", "part-size=5242880", NULL);
	write_both(store);
	assert_int_equal(s3_server_unsigned(server), 0);
	sherd_store_close(store);
	s3_server_stop(server);
}

/* ---- TLS, by a program that takes it off before our little server */

typedef struct relay {
	pid_t pid;
	char folder[64], endpoint[64], authority[128];
} relay;

static bool relay_start(relay *r, s3_server *server)
{
	char script[512], port[16] = "";
	int ends[2];
	(void)snprintf(r->folder, sizeof(r->folder), "/tmp/sherd-tls-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	(void)snprintf(script, sizeof(script), "%s/tests/component/tls.py", getenv("SHERD_SOURCE"));
	(void)snprintf(r->authority, sizeof(r->authority), "%s/ca.pem", r->folder);
	assert_int_equal(pipe(ends), 0);
	r->pid = fork();
	if (r->pid == 0) {
		(void)dup2(ends[1], 1);
		(void)execlp("python3", "python3", script, r->folder, s3_server_endpoint(server), (char *)NULL);
		_exit(77);
	}
	(void)close(ends[1]);
	FILE *said = fdopen(ends[0], "r");
	bool up = fgets(port, sizeof(port), said) != NULL;
	(void)fclose(said);
	(void)snprintf(r->endpoint, sizeof(r->endpoint), "endpoint=https://localhost:%d", (int)strtol(port, NULL, 10));
	return up;
}

static void relay_stop(const relay *r)
{
	static const char *const files[] = {"ca.pem",   "ca.key",   "host.pem", "host.key",
	                                    "host.csr", "host.ext", "ca.srl"};
	int status;
	(void)kill(r->pid, SIGKILL);
	(void)waitpid(r->pid, &status, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[128];
		(void)snprintf(path, sizeof(path), "%s/%s", r->folder, files[i]);
		(void)unlink(path);
	}
	(void)rmdir(r->folder);
}

TEST(a_certificate_of_ones_own_authority_is_trusted_when_it_is_named)
{
	s3_server *server = s3_server_start(NULL);
	relay r;
	char bundle[160];
	if (!relay_start(&r, server)) {
		relay_stop(&r);
		s3_server_stop(server);
		skip(); /* no openssl, or no python3 */
	}
	(void)snprintf(bundle, sizeof(bundle), "ca-bundle=%s", r.authority);
	sherd_store *store = s3_server_store(server, "dir", r.endpoint, bundle, "part-size=5242880", NULL);
	write_both(store);
	assert_int_equal(s3_server_checked(server), 5);
	assert_int_equal(s3_server_unsigned(server), 4); /* the object and its parts; the last step is signed */
	sherd_store_close(store);
	/* Without it nobody vouches for the server, and it is not asked twice. */
	sherd_stat stat;
	sherd_error e = {0};
	store = s3_server_store(server, "dir", r.endpoint, NULL);
	assert_int_equal(sherd_store_stat(&stat, store, "one", &e), SHERD_EIO);
	assert_non_null(strstr(e.message, "certificate"));
	sherd_store_close(store);
	relay_stop(&r);
	s3_server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_of_a_checksum_is_base64_of_its_big_endian_bytes),
		cmocka_unit_test(a_server_that_looks_at_checksums_gets_right_ones),
		cmocka_unit_test(a_server_that_does_not_gets_hashes_alone),
		cmocka_unit_test(a_certificate_of_ones_own_authority_is_trusted_when_it_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
