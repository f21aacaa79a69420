#include "support/corpus.h"

#include "support/source_file.h"
#include "support/test.h"

#include <string.h>

/* The files come one by one, on one thread. */
static corpus_fn *judging;
static size_t seen[3]; /* y, n, i */

static bool is_about_the_data(int rc)
{
	return rc == SHERD_ECORRUPT || rc == SHERD_EVERSION || rc == SHERD_ELIMIT || rc == SHERD_EUNSUPPORTED ||
	       rc == SHERD_EINCOMPLETE;
}

static void judge(const char *name, const uint8_t *data, size_t len)
{
	static const char kinds[] = "yni";
	sherd_error e = {0};
	const char *kind = strchr(kinds, name[0]);
	if (!kind || name[1] != '_')
		fail_msg("%s: what should become of it?", name);
	seen[kind - kinds]++;
	int rc = judging(data, len, &e);
	if (name[0] == 'y' && rc < 0)
		fail_msg("%s is refused at byte %lld: %s: %s", name, (long long)e.offset, e.reason, e.message);
	if (name[0] == 'n' && rc >= 0)
		fail_msg("%s is accepted", name);
	if (rc < 0 && (!is_about_the_data(rc) || e.code != rc || !e.reason || !e.message[0] ||
	               (e.offset != SHERD_NO_OFFSET && e.offset > len)))
		fail_msg("%s: the error (%d, byte %lld) says nothing useful", name, rc, (long long)e.offset);
}

void corpus_judge(const char *folder, corpus_fn *decode, size_t yes, size_t no, size_t either)
{
	judging = decode;
	memset(seen, 0, sizeof(seen));
	(void)source_folder_each(folder, judge);
	if (seen[0] < yes || seen[1] < no || seen[2] < either)
		fail_msg("%s has only %zu, %zu and %zu files", folder, seen[0], seen[1], seen[2]);
}
