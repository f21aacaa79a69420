/* tests/support/backends.h - every backend, and every fallback of the local one, for tests that run once per backend.
 */
#pragma once

#include "support/fail_sys.h"
#include "support/test.h"

#include <sherd/store.h>

typedef struct backend {
	const char *name;
	bool local, wrapped, stutter;
	bool bare;       /* no maps, locks, folders, links or queues */
	bool s3;         /* a server of our own, or that of SHERD_TEST_S3 */
	bool cached;     /* behind a cache in the folder */
	bool deaf;       /* which deletes in spite of conditions, wants ETags without quotes, and gives losers 500 */
	unsigned refuse; /* FAIL_SYS_NO_* */
} backend;

typedef struct fixture {
	const backend *backend;
	char *folder; /* of local ones */
	fail_sys sys; /* what a local store works on */
	sherd_store *store;
	struct s3_server *server; /* of s3 */
} fixture;

/* Runs the tests once per backend; returns how many failed. Each test is made by BACKEND_TEST and finds its fixture
 * in *state. */
int run_for_backends(const struct CMUnitTest *tests, size_t count);

int backend_begin(void **state);
int backend_end(void **state);
#define BACKEND_TEST(name) cmocka_unit_test_setup_teardown(name, backend_begin, backend_end)

#define STORE (((fixture *)*state)->store)

/* Does the backend promise this? Every case runs on every backend; what needs a capability says so, and a store without
 * it is asked to refuse instead. */
#define CAN(cap) ((sherd_store_caps(STORE) & (cap)) != 0)
/* The case is about nothing else. */
#define NEEDS(cap)              \
	do {                    \
		if (!CAN(cap))  \
			skip(); \
	} while (0)
